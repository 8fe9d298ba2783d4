// Who is let in while there is more to do than can be done: decided on the head of a request, before its
// key is looked up and its body is read. Publishes, other changes and reads have room of their own, so
// that a flood of one kind leaves the others answerable. It knows numbers and times, never who calls.
import { nextLimit } from '../core/admission.ts';
import { limits } from '../core/limits.ts';
import type { World } from '../core/world.ts';

/** `end`: what ends something. It is let in for longer, because it makes less to do. */
export type LoadKind = 'publish' | 'change' | 'end' | 'read';

export interface Ticket {
  /** The whole request is there, and its work begins. */
  begin(): void;
  /** Answered, or given up. More than once does no harm. */
  finish(): void;
}

export interface AdmissionFigures {
  /** How many publishes may be under way at present. */
  publishLimit: number;
  underWay: Readonly<Record<Room, number>>;
  /** Bodies that are under way or on their way. */
  bytes: number;
  /** Since the start. */
  refused: Readonly<Record<LoadKind, number>>;
}

export interface Admission {
  /** Undefined: there is no room for it now. */
  enter(kind: LoadKind, bytes: number): Ticket | undefined;
  figures(): AdmissionFigures;
}

type Room = 'publish' | 'change' | 'read';

interface Entered {
  room: Room;
  bytes: number;
  /** Late: its body comes so slowly that it does not count as work. */
  state: 'arriving' | 'late' | 'working' | 'over';
  sinceMs: number;
}

export function createAdmission(world: Pick<World, 'monotonicMs'>): Admission {
  const underWay = { publish: 0, change: 0, read: 0 };
  const refused = { publish: 0, change: 0, end: 0, read: 0 };
  // In the order of their times, so that the oldest is the first.
  const arriving = new Set<Entered>();
  const publishing = new Set<Entered>();
  let publishLimit: number = limits.publishesUnderWayStart;
  let bytesUnderWay = 0;
  let lookedMs = world.monotonicMs();
  let seen = { longestMs: 0, refused: 0 };

  const mostOf = (kind: LoadKind): number => {
    if (kind === 'publish') return publishLimit;
    if (kind === 'read') return limits.readsUnderWayMax;
    return kind === 'end' ? limits.endsUnderWayMax : limits.changesUnderWayMax;
  };

  const look = (nowMs: number): void => {
    if (nowMs - lookedMs < limits.admissionLookMs) return;
    lookedMs = nowMs;
    for (const one of arriving) {
      if (nowMs - one.sinceMs < limits.arrivalMs) break;
      arriving.delete(one);
      one.state = 'late';
      underWay[one.room] -= 1;
    }
    const [oldest] = publishing;
    const oldestMs = oldest === undefined ? 0 : nowMs - oldest.sinceMs;
    publishLimit = nextLimit(publishLimit, {
      ...seen,
      longestMs: Math.max(seen.longestMs, oldestMs),
    });
    seen = { longestMs: 0, refused: 0 };
  };

  const begin = (one: Entered): void => {
    if (one.state !== 'arriving' && one.state !== 'late') return;
    if (one.state === 'late') underWay[one.room] += 1;
    arriving.delete(one);
    one.state = 'working';
    one.sinceMs = world.monotonicMs();
    if (one.room === 'publish') publishing.add(one);
  };

  const finish = (one: Entered): void => {
    if (one.state === 'over') return;
    if (one.state !== 'late') underWay[one.room] -= 1;
    if (publishing.delete(one)) {
      seen.longestMs = Math.max(seen.longestMs, world.monotonicMs() - one.sinceMs);
    }
    arriving.delete(one);
    bytesUnderWay -= one.bytes;
    one.state = 'over';
  };

  return {
    enter: (kind, bytes) => {
      const nowMs = world.monotonicMs();
      look(nowMs);
      const room = kind === 'end' ? 'change' : kind;
      const isTooMuch =
        bytes > limits.smallBodyBytes && bytesUnderWay + bytes > limits.bytesUnderWayMax;
      if (underWay[room] >= mostOf(kind) || isTooMuch) {
        refused[kind] += 1;
        if (kind === 'publish') seen.refused += 1;
        return undefined;
      }
      underWay[room] += 1;
      bytesUnderWay += bytes;
      const one: Entered = { room, bytes, state: 'arriving', sinceMs: nowMs };
      arriving.add(one);
      return { begin: () => begin(one), finish: () => finish(one) };
    },
    figures: () => ({
      publishLimit,
      underWay: { ...underWay },
      bytes: bytesUnderWay,
      refused: { ...refused },
    }),
  };
}
