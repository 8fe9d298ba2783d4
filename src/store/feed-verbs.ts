// The part of the Store port behind the live view: what changed, told by every node, and who watches.
import type { DeliveryName } from '../core/delivery.ts';
import type { Delivery } from './delivery-verbs.ts';

export interface FeedRow {
  node: number;
  /** Rises with every row of the node, in the order in which they were written. */
  seq: number;
  digest: string;
}

export interface FeedEdits {
  /** Repeating it changes nothing: its answer may have been lost. */
  appendFeed: {
    input: {
      node: number;
      rows: readonly { appNo: number; seq: number; digest: string }[];
    };
    output: { kind: 'appended' };
  };
  /** Apps are watched through a node until then. */
  watch: {
    input: { node: number; apps: readonly number[]; untilMs: number };
    output: { kind: 'watched' };
  };
  /** Deletes what is older, at most `limit` rows of each kind; `deleted`: of the kind that had more. */
  forgetFeed: { input: { beforeMs: number; limit: number }; output: { deleted: number } };
}

export interface FeedReads {
  /**
   * The newest number of each node, and the rows after those that are given: of each node at most
   * `limit`, the oldest first. A node that is not given begins at its first row.
   */
  feed: {
    input: { appNo: number; after: ReadonlyMap<number, number> | undefined; limit: number };
    output: { heads: ReadonlyMap<number, number>; rows: readonly FeedRow[] };
  };
  /** Apps that are watched through any node at this time. */
  watched: { input: { nowMs: number }; output: readonly number[] };
  /** Those of the app that are there. */
  deliveriesNamed: {
    input: { appNo: number; names: readonly DeliveryName[] };
    output: readonly Delivery[];
  };
}
