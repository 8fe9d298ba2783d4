// Decides which requests are admitted under overload, by the head of a request alone, before its key is looked up and
// its body is read. Publishes, other changes and reads have limits of their own, so that a burst of one kind does not
// block the others. No app may take so much of one kind that nothing is left for the next app: the same rule as for the
// dispatch window (core/load/share-formula.ts).
import { changeRange, publishRange } from '../../core/load/request-limit.ts';
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';
import { LinkedList, type Link } from '../../core/base/linked-list.ts';
import { BatchTurns, ChangeTurns, type TurnAnswer } from './turns.ts';
import { AppLimits, createLimit, type AdaptiveLimit } from './adaptive-limit.ts';
import {
  createResponseBacklog,
  type LargeAnswer,
  type ResponseBacklog,
} from './response-backlog.ts';

/** `end`: an unsubscribe or delete. Admitted up to a higher limit, because it reduces the load. */
export type LoadKind = 'publish' | 'change' | 'end' | 'read';

export interface Ticket {
  /**
   * The key was checked. False: the app already has its share of requests of this kind in progress.
   */
  ownedBy(appNo: number): boolean;
  /** A body of this size is about to be read. False: there is no room for it. */
  expect(bytes: number): boolean;
  /**
   * The request has been read and its work begins. False: it arrived late, and its place is taken.
   */
  begin(): boolean;
  /** Calls back when the work may begin. Only changes and large publishes may have to wait. Never after `finish`. */
  turn(answer: (verdict: TurnAnswer) => void): void;
  /** The work is done, and the answer waits for the client to read it. */
  answer(answer: LargeAnswer): void;
  /** Answered and read, or aborted. Idempotent. */
  finish(): void;
}

export interface AdmissionStatistics {
  /** The current limits: of publishes in progress, the lowest of any app, and of other changes. */
  publishLimit: number;
  changeLimit: number;
  inFlight: Readonly<Record<Room, number>>;
  /** Changes in progress that wait for their turn beside publishes. */
  changesWaiting: number;
  /** Large bodies in progress or being received, and those that arrive slowly. */
  bytes: number;
  lateBytes: number;
  /** Large answers that clients have not read yet. */
  unreadBytes: number;
  /** Since the start. */
  refused: Readonly<Record<LoadKind, number>>;
}

export interface Admission {
  /** Undefined: no room. `appNo`: the app of earlier requests on this connection, if any. */
  enter(kind: LoadKind, bytes: number, appNo?: number): Ticket | undefined;
  /** Resolves when a refusal may be answered. Undefined: now. */
  refusalTurn(): Promise<void> | undefined;
  /** The store took this long for a change, or the change timed out after that. */
  changed(tookMs: number): void;
  statistics(): AdmissionStatistics;
}

type Room = 'publish' | 'change' | 'read';

interface Entered extends Link<Entered> {
  kind: LoadKind;
  appNo: number | undefined;
  /** What it takes of the places of its app. */
  places: number;
  /** Size of its body, if that is large and being read. */
  bytes: number;
  /** Late: the body arrives so slowly that the request no longer counts as work in progress. */
  state: 'arriving' | 'late' | 'working' | 'over';
  sinceMs: number;
  /** Releases the bytes of the unread answer. */
  taken: () => void;
  /** Gives up its turn, if it waits for one. */
  leave: () => void;
}

interface AdmissionState {
  world: Pick<World, 'monotonicMs'>;
  turns: ChangeTurns;
  batchTurns: BatchTurns;
  inFlight: Record<Room, number>;
  /** Places per app, counted once the key was checked. */
  ofApps: Record<Room, Map<number, number>>;
  /** Publishes whose app is not known yet, and the places of all others. */
  unknown: number;
  places: number;
  refused: Record<LoadKind, number>;
  /** Oldest first. */
  arriving: LinkedList<Entered>;
  publishes: AppLimits;
  changes: AdaptiveLimit;
  unread: ResponseBacklog;
  bytes: number;
  lateBytes: number;
  refreshedMs: number;
}

export function createAdmission(world: Pick<World, 'monotonicMs' | 'sleep'>): Admission {
  const state: AdmissionState = {
    world,
    turns: new ChangeTurns(world),
    batchTurns: new BatchTurns(),
    inFlight: { publish: 0, change: 0, read: 0 },
    ofApps: { publish: new Map(), change: new Map(), read: new Map() },
    unknown: 0,
    places: 0,
    refused: { publish: 0, change: 0, end: 0, read: 0 },
    arriving: new LinkedList(),
    publishes: new AppLimits(publishRange),
    changes: createLimit(limits.changesInFlightStart, changeRange),
    unread: createResponseBacklog(world),
    bytes: 0,
    lateBytes: 0,
    refreshedMs: world.monotonicMs(),
  };
  const refusals = new RefusalPace(world);
  return {
    enter: (kind, bytes, appNo) =>
      enter(state, { kind, appNo: kind === 'publish' ? appNo : undefined }, bytes),
    refusalTurn: () => refusals.wait(),
    changed: (tookMs) => state.changes.took(tookMs),
    statistics: () => {
      // `refresh` otherwise runs only when a request enters, and none may have entered lately.
      refresh(state, world.monotonicMs());
      return {
        publishLimit: state.publishes.lowest(),
        changeLimit: state.changes.limit(),
        inFlight: { ...state.inFlight },
        changesWaiting: state.turns.waiting,
        bytes: state.bytes,
        lateBytes: state.lateBytes,
        unreadBytes: state.unread.bytes(),
        refused: { ...state.refused },
      };
    },
  };
}

function enter(
  state: AdmissionState,
  asking: Pick<Entered, 'kind' | 'appNo'>,
  bytes: number,
): Ticket | undefined {
  const { kind } = asking;
  const nowMs = state.world.monotonicMs();
  refresh(state, nowMs);
  const isUnread = kind === 'read' && !state.unread.hasRoom();
  if (isUnread || !hasRoom(state, asking) || !hasBytes(state, largeOf(bytes))) {
    state.refused[kind] += 1;
    return undefined;
  }
  const one: Entered = {
    ...asking,
    places: kind === 'publish' && largeOf(bytes) > 0 ? limits.publishPlacesOfLarge : 1,
    bytes: 0,
    state: 'arriving',
    sinceMs: nowMs,
    taken: nothingWaits,
    leave: nothingWaits,
    before: undefined,
    after: undefined,
  };
  count(state, one, 1);
  state.arriving.add(one);
  return {
    ownedBy: (appNo) => ownedBy(state, one, appNo),
    expect: (body) => expect(state, one, largeOf(body)),
    begin: () => begin(state, one),
    turn: (answer) => turn(state, one, answer),
    answer: (answer) => {
      // The client has disconnected.
      if (one.state === 'over') return;
      finish(state, one);
      if (largeOf(answer.bytes) > 0) one.taken = state.unread.add(answer);
    },
    finish: () => {
      finish(state, one);
      one.taken();
    },
  };
}

function nothingWaits(): void {}

/**
 * Counts the request for its app from now on. False if the app has no room for it: then it counts no more, or many that
 * are about to be refused would leave no room for other apps.
 */
function ownedBy(state: AdmissionState, one: Entered, appNo: number): boolean {
  if (appNo === one.appNo || one.state === 'over') return true;
  const isCounted = one.state !== 'late';
  if (isCounted) count(state, one, -1);
  one.appNo = appNo;
  if (!isCounted) return true;
  if (hasRoom(state, one)) {
    count(state, one, 1);
    return true;
  }
  state.refused[one.kind] += 1;
  state.arriving.remove(one);
  one.state = 'over';
  return false;
}

function count(state: AdmissionState, { kind, appNo, places }: Entered, by: 1 | -1): void {
  const { inFlight, ofApps } = state;
  const room = roomOf(kind);
  inFlight[room] += by;
  if (appNo === undefined) {
    if (room === 'publish') state.unknown += by;
    return;
  }
  if (room === 'publish') state.places += by * places;
  const now = (ofApps[room].get(appNo) ?? 0) + by * places;
  if (now === 0) ofApps[room].delete(appNo);
  else ofApps[room].set(appNo, now);
}

/**
 * The bytes are counted only here: before, neither the sender nor whether the body will be read is
 * known.
 */
function expect(state: AdmissionState, one: Entered, bytes: number): boolean {
  if (one.state !== 'arriving' && one.state !== 'late') return true;
  const isLate = one.state === 'late';
  if (isLate ? !hasLateBytes(state, bytes) : !hasBytes(state, bytes)) {
    state.refused[one.kind] += 1;
    return false;
  }
  one.bytes = bytes;
  if (isLate) state.lateBytes += bytes;
  else state.bytes += bytes;
  return true;
}

function begin(state: AdmissionState, one: Entered): boolean {
  if (one.state === 'late' && !comeBack(state, one)) return false;
  if (one.state !== 'arriving') return true;
  state.arriving.remove(one);
  one.state = 'working';
  one.sinceMs = state.world.monotonicMs();
  if (one.kind === 'publish') {
    state.publishes.of(one.appNo).began(one);
    state.turns.publishBegan();
  }
  return true;
}

function turn(state: AdmissionState, one: Entered, answer: (verdict: TurnAnswer) => void): void {
  if (one.state === 'over') return;
  if (roomOf(one.kind) !== 'change') {
    if (one.places > 1) one.leave = state.batchTurns.wait(one.appNo, () => answer('begin'));
    else answer('begin');
    return;
  }
  one.leave = state.turns.wait(one.appNo, (verdict) => {
    if (verdict === 'late') state.refused[one.kind] += 1;
    answer(verdict);
  });
}

/**
 * The place of a late request was given away. Without this check, many clients that each hold back
 * one byte could all enter at once.
 */
function comeBack(state: AdmissionState, one: Entered): boolean {
  if (!hasRoom(state, one) || !hasBytes(state, one.bytes)) {
    state.refused[one.kind] += 1;
    return false;
  }
  state.lateBytes -= one.bytes;
  state.bytes += one.bytes;
  count(state, one, 1);
  one.state = 'arriving';
  return true;
}

function finish(state: AdmissionState, one: Entered): void {
  if (one.state === 'over') return;
  if (one.state === 'late') {
    state.lateBytes -= one.bytes;
  } else {
    state.bytes -= one.bytes;
    count(state, one, -1);
  }
  if (one.state === 'working' && one.kind === 'publish') {
    state.publishes.of(one.appNo).ended(one, state.world.monotonicMs());
    state.turns.publishEnded();
  }
  one.leave();
  state.arriving.remove(one);
  one.state = 'over';
}

function refresh(state: AdmissionState, nowMs: number): void {
  const passedMs = nowMs - state.refreshedMs;
  if (passedMs < limits.admissionLookMs) return;
  state.refreshedMs = nowMs;
  state.publishes.decide(nowMs, passedMs);
  state.changes.decide(nowMs, passedMs);
  let next = state.arriving.first;
  while (next !== undefined && nowMs - next.sinceMs >= limits.arrivalMs) {
    const one = next;
    next = one.after;
    // The bytes received so far stay in memory, so late requests have a limit of bytes of their
    // own.
    if (!hasLateBytes(state, one.bytes)) continue;
    state.arriving.remove(one);
    one.state = 'late';
    count(state, one, -1);
    state.bytes -= one.bytes;
    state.lateBytes += one.bytes;
  }
}

function roomOf(kind: LoadKind): Room {
  return kind === 'end' ? 'change' : kind;
}

/**
 * An app may have as many requests in progress as a multiple of the free places. A single busy app
 * gets most of them, every further busy app shrinks the shares, and an idle app always finds a
 * place. Publishes have more rules.
 */
function hasRoom(state: AdmissionState, { kind, appNo }: Pick<Entered, 'kind' | 'appNo'>): boolean {
  if (kind === 'publish') return hasPublishRoom(state, appNo);
  const { inFlight, ofApps } = state;
  const room = kind === 'read' ? 'read' : 'change';
  const free = mostOf(state, kind) - inFlight[room];
  const ofApp = appNo === undefined ? 0 : (ofApps[room].get(appNo) ?? 0);
  if (free > 0 && ofApp < shareTimesOf[room] * free) return true;
  if (room === 'change') state.changes.turnedAway();
  return false;
}

/**
 * Each app has a limit of its own, which falls while its publishes take long. Beside others it may
 * have an equal part of all places even if none is free. Until the key of a new connection was
 * checked, its publish takes no place from those of apps.
 */
function hasPublishRoom(state: AdmissionState, appNo: number | undefined): boolean {
  const { ofApps, publishes, places } = state;
  if (appNo === undefined) return state.unknown < limits.publishesUnknownMax;
  const apps = ofApps.publish;
  const ofApp = apps.get(appNo) ?? 0;
  const most = limits.publishesInFlightMax;
  const others = apps.size - (apps.has(appNo) ? 1 : 0);
  const isInShare = ofApp < limits.appShareTimes * (most - places);
  const part = Math.max(Math.floor(most / (others + 1)), 1);
  const isInPart = others > 0 && ofApp < part && places < 2 * most;
  if (ofApp < publishes.limit(appNo) && (isInShare || isInPart)) return true;
  publishes.of(appNo).turnedAway();
  return false;
}

function largeOf(bytes: number): number {
  return bytes > limits.smallBodyBytes ? bytes : 0;
}

function hasBytes(state: AdmissionState, bytes: number): boolean {
  return bytes === 0 || state.bytes + bytes <= limits.bytesInFlightMax;
}

function hasLateBytes(state: AdmissionState, bytes: number): boolean {
  return bytes === 0 || state.lateBytes + bytes <= limits.lateBytesMax;
}

function mostOf({ changes }: AdmissionState, kind: Exclude<LoadKind, 'publish'>): number {
  switch (kind) {
    case 'change':
      return changes.limit();
    case 'end':
      return Math.ceil(changes.limit() * limits.endsRoomTimes);
    case 'read':
      return limits.readsInFlightMax;
  }
}

const shareTimesOf = {
  change: limits.appShareTimes,
  read: 1, // A read can take long: no app gets more than half.
} as const;

const { refusalsAtOnceMax, refusalEveryMs, refusalDelayMaxMs } = limits;

/**
 * Delays refusals once there are many, so that clients that try again as soon as they are refused do not fill the main
 * thread with refusals. Only the answer waits: whether a request is admitted has been decided before.
 */
export class RefusalPace {
  readonly #world: Pick<World, 'monotonicMs' | 'sleep'>;
  /** When the next refusal may be sent. */
  #nextMs = -Infinity;

  constructor(world: Pick<World, 'monotonicMs' | 'sleep'>) {
    this.#world = world;
  }

  /** Resolves when the refusal may be sent. Undefined: now. */
  wait(): Promise<void> | undefined {
    const nowMs = this.#world.monotonicMs();
    // Time without refusals lets as many be sent at once, up to a limit.
    const earliestMs = nowMs - (refusalsAtOnceMax - 1) * refusalEveryMs;
    const dueMs = Math.min(Math.max(this.#nextMs, earliestMs), nowMs + refusalDelayMaxMs);
    this.#nextMs = dueMs + refusalEveryMs;
    return dueMs > nowMs ? this.#world.sleep(dueMs - nowMs) : undefined;
  }
}
