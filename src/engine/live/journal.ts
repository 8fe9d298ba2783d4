// The journal: changes on this node in watched apps since it was last read. For each app it keeps
// counts and a bounded number of the latest names; it keeps nothing of other apps.
import { deliveryId, type DeliveryName } from '../../core/domain/delivery.ts';
import {
  emptyDigest,
  noCounts,
  type Counts,
  type Digest,
} from '../../core/domain/change-digest.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Settlement } from '../../store/port/delivery-verbs.ts';
import type { Changes } from './changes.ts';

export interface Journal {
  changes: Changes;
  /** Starts recording changes of the app; earlier ones are unknown. */
  begin(appNo: number): void;
  end(appNo: number): void;
  isNoting(appNo: number): boolean;
  apps(): readonly number[];
  /** Whether there are changes to take. */
  isNoted(): boolean;
  /** Takes the changes since the last call, of at most `most` apps. */
  take(most: number): { appNo: number; digest: Digest }[];
  /** `act` is called when there are changes to take after there were none. */
  whenNoted(act: () => void): void;
}

/** Sets hold names in the order of their last change. */
interface Notes {
  counts: Counts;
  deliveries: Set<string>;
  more: number;
  subscriptions: Set<string>;
  replays: Set<string>;
  isReset: boolean;
}

/** Recording must cost next to nothing: see docs/performance.md. */
export function createJournal(): Journal {
  const notes = new Map<number, Notes>();
  const noted = new Set<number>();
  let onNoted: (() => void) | undefined;

  const of = (appNo: number): Notes | undefined => {
    const found = notes.get(appNo);
    if (found === undefined || noted.has(appNo)) return found;
    noted.add(appNo);
    if (noted.size === 1) onNoted?.();
    return found;
  };

  return {
    changes: changesIn(of, () => notes.keys()),
    begin: (appNo) => {
      if (notes.has(appNo)) return;
      notes.set(appNo, emptyNotes());
      const begun = of(appNo);
      if (begun !== undefined) begun.isReset = true;
    },
    end: (appNo) => {
      notes.delete(appNo);
      noted.delete(appNo);
    },
    isNoting: (appNo) => notes.has(appNo),
    apps: () => [...notes.keys()],
    isNoted: () => noted.size > 0,
    take: (most) =>
      [...noted].slice(0, most).map((appNo) => {
        const digest = digestOf(notes.get(appNo) ?? emptyNotes());
        notes.set(appNo, emptyNotes());
        noted.delete(appNo);
        return { appNo, digest };
      }),
    whenNoted: (act) => {
      onNoted = act;
    },
  };
}

function changesIn(
  of: (appNo: number) => Notes | undefined,
  apps: () => Iterable<number>,
): Changes {
  return {
    published: (appNo, events) => {
      const it = of(appNo);
      if (it === undefined) return;
      it.counts.published += events.length;
      for (const { id: event, deliveries = 0 } of events) {
        const shown = Math.min(deliveries, limits.frameDeliveriesMax);
        it.more += deliveries - shown;
        for (let n = deliveries - shown; n < deliveries; n += 1) noteDelivery(it, { event, n });
      }
    },
    moved: (appNo, name) => {
      const it = of(appNo);
      if (it !== undefined) noteDelivery(it, name);
    },
    settled: (appNo, name, kind) => {
      const it = of(appNo);
      if (it === undefined) return;
      const counted = countedAs(kind);
      if (counted !== undefined) it.counts[counted] += 1;
      noteDelivery(it, name);
    },
    subscription: (appNo, id) => {
      const it = of(appNo);
      if (it !== undefined)
        noteNamed(it, { names: it.subscriptions, id }, limits.frameSubscriptionsMax);
    },
    replay: (appNo, id) => {
      const it = of(appNo);
      if (it !== undefined) noteNamed(it, { names: it.replays, id }, limits.frameReplaysMax);
    },
    missed: () => {
      for (const appNo of apps()) {
        const it = of(appNo);
        if (it !== undefined) it.isReset = true;
      }
    },
  };
}

function countedAs(kind: Settlement['outcome']['kind']): keyof Counts | undefined {
  switch (kind) {
    case 'delivered':
    case 'dead':
    case 'cancelled':
      return kind;
    case 'gone':
      return 'cancelled';
    case 'retry':
      return 'retried';
    case 'released':
      return undefined;
  }
}

function noteDelivery(it: Notes, name: DeliveryName): void {
  if (note(it.deliveries, deliveryId(name), limits.frameDeliveriesMax)) it.more += 1;
}

function noteNamed(
  it: Notes,
  { names, id }: { names: Set<string>; id: string },
  most: number,
): void {
  if (note(names, id, most)) it.isReset = true;
}

/** Moves a name to the end; true if the oldest one had to be dropped. */
function note(names: Set<string>, name: string, most: number): boolean {
  names.delete(name);
  names.add(name);
  if (names.size <= most) return false;
  const [oldest = ''] = names;
  names.delete(oldest);
  return true;
}

function emptyNotes(): Notes {
  return {
    counts: { ...noCounts },
    deliveries: new Set(),
    more: 0,
    subscriptions: new Set(),
    replays: new Set(),
    isReset: false,
  };
}

function digestOf(it: Notes): Digest {
  return {
    ...emptyDigest,
    counts: it.counts,
    deliveries: [...it.deliveries],
    more: it.more,
    subscriptions: [...it.subscriptions],
    replays: [...it.replays],
    isReset: it.isReset,
  };
}
