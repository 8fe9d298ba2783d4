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
  const publishes = createPublishLimit();
  let bytesUnderWay = 0;
  let lookedMs = world.monotonicMs();

  const look = (nowMs: number): void => {
    if (nowMs - lookedMs < limits.admissionLookMs) return;
    lookedMs = nowMs;
    publishes.decide(nowMs);
    for (const one of arriving) {
      if (nowMs - one.sinceMs < limits.arrivalMs) break;
      arriving.delete(one);
      one.state = 'late';
      underWay[one.room] -= 1;
    }
  };

  const begin = (one: Entered): void => {
    if (one.state !== 'arriving' && one.state !== 'late') return;
    if (one.state === 'late') underWay[one.room] += 1;
    arriving.delete(one);
    one.state = 'working';
    one.sinceMs = world.monotonicMs();
    if (one.room === 'publish') publishes.began(one);
  };

  const finish = (one: Entered): void => {
    if (one.state === 'over') return;
    if (one.state !== 'late') underWay[one.room] -= 1;
    if (one.state === 'working') publishes.ended(one, world.monotonicMs());
    arriving.delete(one);
    bytesUnderWay -= one.bytes;
    one.state = 'over';
  };

  return {
    enter: (kind, bytes) => {
      const nowMs = world.monotonicMs();
      look(nowMs);
      const room = kind === 'end' ? 'change' : kind;
      const most = kind === 'publish' ? publishes.limit() : mostOf[kind];
      const isLarge = bytes > limits.smallBodyBytes;
      if (underWay[room] >= most || (isLarge && bytesUnderWay + bytes > limits.bytesUnderWayMax)) {
        refused[kind] += 1;
        if (kind === 'publish') publishes.turnedAway();
        return undefined;
      }
      underWay[room] += 1;
      bytesUnderWay += bytes;
      const one: Entered = { room, bytes, state: 'arriving', sinceMs: nowMs };
      arriving.add(one);
      return { begin: () => begin(one), finish: () => finish(one) };
    },
    figures: () => ({
      publishLimit: publishes.limit(),
      underWay: { ...underWay },
      bytes: bytesUnderWay,
      refused: { ...refused },
    }),
  };
}

const mostOf = {
  change: limits.changesUnderWayMax,
  end: limits.endsUnderWayMax,
  read: limits.readsUnderWayMax,
} as const;

interface PublishLimit {
  limit(): number;
  began(one: Entered): void;
  ended(one: Entered, nowMs: number): void;
  turnedAway(): void;
  /** From what was seen since the last time. */
  decide(nowMs: number): void;
}

function createPublishLimit(): PublishLimit {
  // In the order in which they began.
  const working = new Set<Entered>();
  let limit: number = limits.publishesUnderWayStart;
  let seen = { longestMs: 0, refused: 0 };
  const took = (sinceMs: number, nowMs: number): void => {
    seen.longestMs = Math.max(seen.longestMs, nowMs - sinceMs);
  };
  return {
    limit: () => limit,
    began: (one) => void working.add(one),
    ended: (one, nowMs) => {
      if (working.delete(one)) took(one.sinceMs, nowMs);
    },
    turnedAway: () => {
      seen.refused += 1;
    },
    decide: (nowMs) => {
      const [oldest] = working;
      if (oldest !== undefined) took(oldest.sinceMs, nowMs);
      limit = nextLimit(limit, seen);
      seen = { longestMs: 0, refused: 0 };
    },
  };
}
