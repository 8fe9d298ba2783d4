// One frame of GET /stream. The contract describes it in prose only, so its type is written here.
import type { Delivery, Replay } from '../../src/client/contract/delivery.ts';
import type { StatsCounts } from '../../src/client/contract/service.ts';

export type Counts = Pick<
  StatsCounts,
  'published' | 'delivered' | 'retried' | 'dead' | 'cancelled'
>;

/** What changed since the previous frame. */
export type Frame = {
  readonly at: string;
  readonly counts: Counts;
  readonly pending: number;
  readonly deliveries: readonly Delivery[];
  /** Number of changed deliveries that did not fit into the frame. */
  readonly more: number;
  readonly subscriptions: readonly string[];
  readonly replays: readonly Replay[];
  /** Changes may have been missed: reload the lists. */
  readonly isReset: boolean;
};
