// A frame is one message to a client of the live view. Frames that a slow client missed merge into
// one, which is no larger than any other.
import { deliveryId } from '../../core/domain/delivery.ts';
import {
  addCounts,
  mergeNamed,
  newest,
  type Digest,
  type NamedChanges,
} from '../../core/domain/change-digest.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Replay } from '../../core/domain/replay.ts';
import type { Delivery } from '../../store/port/delivery-verbs.ts';

export interface Frame extends Omit<Digest, 'deliveries' | 'replays'> {
  /** Sent back by the client to resume after this frame. */
  cursor: string;
  atMs: number;
  pending: number;
  /** Ordered by last change, newest last. */
  deliveries: readonly Delivery[];
  replays: readonly Replay[];
}

/** The current state of what a digest names. */
export type ChangedObjects = Pick<Frame, 'deliveries' | 'replays'>;

type Moment = Pick<Frame, 'cursor' | 'atMs' | 'pending'>;

/** Deliveries that retention has deleted since are left out. */
export function frameOf(moment: Moment, digest: Digest, found: ChangedObjects): Frame {
  const byId = new Map(found.deliveries.map((delivery) => [deliveryId(delivery), delivery]));
  const deliveries = digest.deliveries.flatMap((id) => byId.get(id) ?? []);
  return { ...moment, ...digest, deliveries, replays: found.replays };
}

export function mergeFrames(older: Frame, newer: Frame): Frame {
  const most = limits.frameDeliveriesMax;
  const deliveries = newest(older.deliveries, newer.deliveries, most, deliveryId);
  const named = mergeNamed(namesIn(older), namesIn(newer));
  const replays = new Map([...older.replays, ...newer.replays].map((one) => [one.id, one]));
  return {
    ...newer,
    ...named,
    counts: addCounts(older.counts, newer.counts),
    deliveries: deliveries.kept,
    more: older.more + newer.more + deliveries.left,
    replays: named.replays.flatMap((id) => replays.get(id) ?? []),
  };
}

function namesIn(frame: Frame): NamedChanges {
  return { ...frame, replays: frame.replays.map(({ id }) => id) };
}
