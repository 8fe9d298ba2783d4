// Who is let in while there is more to do than can be done: decided on the head of a request, before its
// key is looked up and its body is read. Publishes, other changes and reads have room of their own, so
// that a flood of one kind leaves the others answerable. It knows numbers and times, never who calls.
import { nextLimit } from '../core/admission.ts';
import { limits } from '../core/limits.ts';
import type { World } from '../core/world.ts';
import { LinkedList, type Link } from '../egress/linked-list.ts';
import { createUnread, type LargeAnswer, type Unread } from './unread.ts';

/** `end`: what ends something. It is let in for longer, because it makes less to do. */
export type LoadKind = 'publish' | 'change' | 'end' | 'read';

export interface Ticket {
  /** Who calls is known. False: it is a read, and its app has as many under way as its share. */
  ownedBy(appNo: number): boolean;
  /** Who calls is known, and so many bytes of a body are read now. False: there is no room for them. */
  expect(bytes: number): boolean;
  /** The whole request is there, and its work begins. False: it came late, and there is no room now. */
  begin(): boolean;
  /** The work is done, and an answer waits to be read. */
  answer(answer: LargeAnswer): void;
  /** Answered and read, or given up. More than once does no harm. */
  finish(): void;
}

export interface AdmissionFigures {
  /** How many publishes may be under way at present. */
  publishLimit: number;
  underWay: Readonly<Record<Room, number>>;
  /** Large bodies that are under way or on their way, and those that come slowly. */
  bytes: number;
  lateBytes: number;
  /** Large answers that wait to be read. */
  unreadBytes: number;
  /** Since the start. */
  refused: Readonly<Record<LoadKind, number>>;
}

export interface Admission {
  /** Undefined: there is no room for it now. */
  enter(kind: LoadKind, bytes: number): Ticket | undefined;
  figures(): AdmissionFigures;
}

type Room = 'publish' | 'change' | 'read';

interface Entered extends Link<Entered> {
  kind: LoadKind;
  /** Of its body, if it is large and is being read. */
  bytes: number;
  /** Late: its body comes so slowly that it does not count as work. */
  state: 'arriving' | 'late' | 'working' | 'over';
  sinceMs: number;
  /** Its answer waits no longer. */
  taken: () => void;
  /** Gives back its part of the app's share. */
  leaveShare: () => void;
}

interface House {
  world: Pick<World, 'monotonicMs'>;
  underWay: Record<Room, number>;
  refused: Record<LoadKind, number>;
  /** In the order of their times, so that the oldest is the first. */
  arriving: LinkedList<Entered>;
  publishes: PublishLimit;
  /** Reads under way, by app. */
  readsOf: Map<number, number>;
  unread: Unread;
  bytes: number;
  lateBytes: number;
  lookedMs: number;
}

export function createAdmission(world: Pick<World, 'monotonicMs'>): Admission {
  const house: House = {
    world,
    underWay: { publish: 0, change: 0, read: 0 },
    refused: { publish: 0, change: 0, end: 0, read: 0 },
    arriving: new LinkedList(),
    publishes: createPublishLimit(),
    readsOf: new Map(),
    unread: createUnread(world),
    bytes: 0,
    lateBytes: 0,
    lookedMs: world.monotonicMs(),
  };
  return {
    enter: (kind, bytes) => enter(house, kind, bytes),
    figures: () => {
      // Nobody may have come since, and then nobody has looked.
      look(house, world.monotonicMs());
      return {
        publishLimit: house.publishes.limit(),
        underWay: { ...house.underWay },
        bytes: house.bytes,
        lateBytes: house.lateBytes,
        unreadBytes: house.unread.bytes(),
        refused: { ...house.refused },
      };
    },
  };
}

function enter(house: House, kind: LoadKind, bytes: number): Ticket | undefined {
  const nowMs = house.world.monotonicMs();
  look(house, nowMs);
  const isUnread = kind === 'read' && !house.unread.hasRoom();
  if (isUnread || !hasRoom(house, kind) || !hasBytes(house, largeOf(bytes))) {
    house.refused[kind] += 1;
    return undefined;
  }
  house.underWay[roomOf(kind)] += 1;
  const one: Entered = {
    kind,
    bytes: 0,
    state: 'arriving',
    sinceMs: nowMs,
    taken: nothingWaits,
    leaveShare: nothingWaits,
    before: undefined,
    after: undefined,
  };
  house.arriving.add(one);
  return {
    ownedBy: (appNo) => takeShare(house, one, appNo),
    expect: (body) => expect(house, one, largeOf(body)),
    begin: () => begin(house, one),
    answer: (answer) => {
      // Nobody is there any more.
      if (one.state === 'over') return;
      finish(house, one);
      if (largeOf(answer.bytes) > 0) one.taken = house.unread.add(answer);
    },
    finish: () => {
      finish(house, one);
      one.taken();
    },
  };
}

function nothingWaits(): void {}

/**
 * An app may have as many reads under way as there are places left: alone it gets half of all, and each further app
 * that is busy makes the share smaller. So there is always room for an app that has none.
 */
function takeShare(house: House, one: Entered, appNo: number): boolean {
  if (one.kind !== 'read' || one.state === 'over') return true;
  const { readsOf, underWay } = house;
  const own = readsOf.get(appNo) ?? 0;
  // This one has its place already.
  if (own > limits.readsUnderWayMax - underWay.read) {
    house.refused.read += 1;
    return false;
  }
  readsOf.set(appNo, own + 1);
  one.leaveShare = () => {
    one.leaveShare = nothingWaits;
    const left = (readsOf.get(appNo) ?? 1) - 1;
    if (left === 0) readsOf.delete(appNo);
    else readsOf.set(appNo, left);
  };
  return true;
}

/** What was announced is counted only now: before, nobody knew who sends it, or whether it is read. */
function expect(house: House, one: Entered, bytes: number): boolean {
  if (one.state !== 'arriving' && one.state !== 'late') return true;
  const isLate = one.state === 'late';
  if (isLate ? !hasLateBytes(house, bytes) : !hasBytes(house, bytes)) {
    house.refused[one.kind] += 1;
    return false;
  }
  one.bytes = bytes;
  if (isLate) house.lateBytes += bytes;
  else house.bytes += bytes;
  return true;
}

function begin(house: House, one: Entered): boolean {
  if (one.state === 'late' && !comeBack(house, one)) return false;
  if (one.state !== 'arriving') return true;
  house.arriving.remove(one);
  one.state = 'working';
  one.sinceMs = house.world.monotonicMs();
  if (one.kind === 'publish') house.publishes.began(one);
  return true;
}

/** Its place was given away. Many who hold back one byte would else all be in at once. */
function comeBack(house: House, one: Entered): boolean {
  if (!hasRoom(house, one.kind) || !hasBytes(house, one.bytes)) {
    house.refused[one.kind] += 1;
    return false;
  }
  house.lateBytes -= one.bytes;
  house.bytes += one.bytes;
  house.underWay[roomOf(one.kind)] += 1;
  one.state = 'arriving';
  return true;
}

function finish(house: House, one: Entered): void {
  if (one.state === 'over') return;
  one.leaveShare();
  if (one.state === 'late') {
    house.lateBytes -= one.bytes;
  } else {
    house.bytes -= one.bytes;
    house.underWay[roomOf(one.kind)] -= 1;
  }
  if (one.state === 'working') house.publishes.ended(one, house.world.monotonicMs());
  house.arriving.remove(one);
  one.state = 'over';
}

function look(house: House, nowMs: number): void {
  const passedMs = nowMs - house.lookedMs;
  if (passedMs < limits.admissionLookMs) return;
  house.lookedMs = nowMs;
  house.publishes.decide(nowMs, passedMs);
  let next = house.arriving.first;
  while (next !== undefined && nowMs - next.sinceMs >= limits.arrivalMs) {
    const one = next;
    next = one.after;
    // What it has sent stays in memory: of that, too, there is only so much.
    if (!hasLateBytes(house, one.bytes)) continue;
    house.arriving.remove(one);
    one.state = 'late';
    house.underWay[roomOf(one.kind)] -= 1;
    house.bytes -= one.bytes;
    house.lateBytes += one.bytes;
  }
}

function roomOf(kind: LoadKind): Room {
  return kind === 'end' ? 'change' : kind;
}

function hasRoom({ underWay, publishes }: House, kind: LoadKind): boolean {
  const most = kind === 'publish' ? publishes.limit() : mostOf[kind];
  const isFull = underWay[roomOf(kind)] >= most;
  if (isFull && kind === 'publish') publishes.turnedAway();
  return !isFull;
}

function largeOf(bytes: number): number {
  return bytes > limits.smallBodyBytes ? bytes : 0;
}

function hasBytes(house: House, bytes: number): boolean {
  return bytes === 0 || house.bytes + bytes <= limits.bytesUnderWayMax;
}

function hasLateBytes(house: House, bytes: number): boolean {
  return bytes === 0 || house.lateBytes + bytes <= limits.lateBytesMax;
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
  decide(nowMs: number, passedMs: number): void;
}

function createPublishLimit(): PublishLimit {
  // In the order in which they began.
  const working = new LinkedList<Entered>();
  let limit: number = limits.publishesUnderWayStart;
  let seen = { longestMs: 0, refused: 0 };
  const took = (sinceMs: number, nowMs: number): void => {
    seen.longestMs = Math.max(seen.longestMs, nowMs - sinceMs);
  };
  return {
    limit: () => limit,
    began: (one) => working.add(one),
    ended: (one, nowMs) => {
      if (working.remove(one)) took(one.sinceMs, nowMs);
    },
    turnedAway: () => {
      seen.refused += 1;
    },
    decide: (nowMs, passedMs) => {
      const { first: oldest } = working;
      if (oldest !== undefined) took(oldest.sinceMs, nowMs);
      limit = nextLimit(limit, { ...seen, passedMs });
      seen = { longestMs: 0, refused: 0 };
    },
  };
}
