// The part of the Store port behind the live view: changes, reported by every node, and which apps
// are watched.
import type { DeliveryName } from '../../core/domain/delivery.ts';
import type { Delivery } from './delivery-verbs.ts';

export interface FeedRow {
  node: number;
  /** Increases with every row of the node, in the order of writing. */
  seq: number;
  digest: string;
}

export interface FeedEdits {
  /** Idempotent: the caller repeats it when the reply was lost. */
  appendFeed: {
    input: {
      node: number;
      rows: readonly { appNo: number; seq: number; digest: string }[];
    };
    output: { kind: 'appended' };
  };
  /** Marks apps as watched through a node until `untilMs`. */
  watch: {
    input: { node: number; apps: readonly number[]; untilMs: number };
    output: { kind: 'watched' };
  };
  /** Deletes older rows, at most `limit` of each kind; `deleted`: of the kind that had more. */
  forgetFeed: { input: { beforeMs: number; limit: number }; output: { deleted: number } };
}

export interface FeedReads {
  /**
   * The newest number of each node, and the rows after the given ones: at most `limit` of each
   * node, oldest first. A node that is not given starts at its first row.
   */
  feed: {
    input: { appNo: number; after: ReadonlyMap<number, number> | undefined; limit: number };
    output: { heads: ReadonlyMap<number, number>; rows: readonly FeedRow[] };
  };
  /** Apps that are watched through any node at this time. */
  watched: { input: { nowMs: number }; output: readonly number[] };
  /** The named deliveries that exist in the app. */
  deliveriesNamed: {
    input: { appNo: number; names: readonly DeliveryName[] };
    output: readonly Delivery[];
  };
}
