// A frame: what a client of the live view is told at once. Frames that a slow client missed merge into
// one, which is no larger than any other.
import { deliveryId } from '../core/delivery.ts';
import { addCounts, newest, type Digest } from '../core/digest.ts';
import { limits } from '../core/limits.ts';
import type { Replay } from '../core/replay.ts';
import type { Delivery } from '../store/delivery-verbs.ts';

export interface Frame extends Omit<Digest, 'deliveries' | 'replays'> {
  /** What a client gives back to go on after this frame. */
  cursor: string;
  atMs: number;
  pending: number;
  /** Newest change last. */
  deliveries: readonly Delivery[];
  replays: readonly Replay[];
}

type Moment = Pick<Frame, 'cursor' | 'atMs' | 'pending'>;

/** What a digest names, as it is now. */
export type Named = Pick<Frame, 'deliveries' | 'replays'>;

/** What the retention took meanwhile is left out. */
export function frameOf(moment: Moment, digest: Digest, named: Named): Frame {
  const byId = new Map(named.deliveries.map((delivery) => [deliveryId(delivery), delivery]));
  const deliveries = digest.deliveries.flatMap((id) => byId.get(id) ?? []);
  return { ...moment, ...digest, deliveries, replays: named.replays };
}

/** Nobody counts the subscriptions and replays that are too many: whoever shows them must look again. */
export function mergeFrames(older: Frame, newer: Frame): Frame {
  const { frameDeliveriesMax, frameSubscriptionsMax, frameReplaysMax } = limits;
  const deliveries = newest(older.deliveries, newer.deliveries, frameDeliveriesMax, deliveryId);
  const subscriptions = newest(older.subscriptions, newer.subscriptions, frameSubscriptionsMax);
  const replays = newest(older.replays, newer.replays, frameReplaysMax, ({ id }) => id);
  return {
    ...newer,
    counts: addCounts(older.counts, newer.counts),
    deliveries: deliveries.kept,
    more: older.more + newer.more + deliveries.left,
    subscriptions: subscriptions.kept,
    replays: replays.kept,
    isReset: older.isReset || newer.isReset || subscriptions.left > 0 || replays.left > 0,
  };
}
