// A frame: what a client of the live view is told at once. Frames that a slow client missed merge into
// one, which is no larger than any other.
import { deliveryId } from '../core/delivery.ts';
import { addCounts, mergeNamed, newest, type Digest } from '../core/digest.ts';
import { limits } from '../core/limits.ts';
import type { Delivery } from '../store/delivery-verbs.ts';

export interface Frame extends Omit<Digest, 'deliveries'> {
  /** What a client gives back to go on after this frame. */
  cursor: string;
  atMs: number;
  pending: number;
  /** Newest change last. */
  deliveries: readonly Delivery[];
}

type Moment = Pick<Frame, 'cursor' | 'atMs' | 'pending'>;

/** Deliveries that the retention took meanwhile are left out. */
export function frameOf(moment: Moment, digest: Digest, found: readonly Delivery[]): Frame {
  const byId = new Map(found.map((delivery) => [deliveryId(delivery), delivery]));
  const deliveries = digest.deliveries.flatMap((id) => byId.get(id) ?? []);
  return { ...moment, ...digest, deliveries };
}

export function mergeFrames(older: Frame, newer: Frame): Frame {
  const most = limits.frameDeliveriesMax;
  const deliveries = newest(older.deliveries, newer.deliveries, most, deliveryId);
  return {
    ...newer,
    ...mergeNamed(older, newer),
    counts: addCounts(older.counts, newer.counts),
    deliveries: deliveries.kept,
    more: older.more + newer.more + deliveries.left,
  };
}
