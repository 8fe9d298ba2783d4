// The window: the attempts that this node has in flight, and how many more it may start in all, per
// app (attempts-by-app.ts) and per lane. The cap of a lane adapts to its receiver: it grows by one with
// each success and is halved by a failure. A new lane gets less the fewer slots its app has left,
// so that many dead receivers cannot fill them at once; one that has shown its throughput gets up
// to twice as much. A subscription may set a lower cap. Times are arguments, never read from a
// clock.
import { claimableMax } from '../../core/load/share-formula.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Leased } from '../../core/domain/delivery.ts';
import type { AppRoom, Offer, Settlement } from '../../store/port/delivery-verbs.ts';
import { AppShares, type InFlight } from './attempts-by-app.ts';

export interface Window {
  /** Room for fresh deliveries: all that is left of the window. */
  offer(nowMs: number): Offer;
  /**
   * Room for claimed deliveries: a part of the window stays free, so that fresh ones never wait.
   */
  claimOffer(nowMs: number): Offer;
  claimRoom(): number;
  /** `concurrency` is the cap of the subscription; undefined: only the adaptive one. */
  enter(leased: Pick<Leased, 'lane' | 'appNo' | 'concurrency'>, nowMs: number): InFlight;
  /**
   * Sets a cap that was learned later. `mayBeFull`: the store may count the lane as full since the
   * last offer.
   */
  limit(lane: number, concurrency: number | undefined): { mayBeFull: boolean };
  /** `wasFull`: its lane or an app was full and has room now, so more of it may be pending. */
  leave(attempt: InFlight, result: AttemptResult): { wasFull: boolean };
  /**
   * Whether one of these lanes, or an app, has room although the last offer is used up: a slot
   * became free while the store was working, so the store counts it as full, and more may be
   * pending.
   */
  hasUnofferedRoom(lanes: readonly number[]): boolean;
  size(): number;
}

/** What an attempt says about its receiver. */
export type AttemptResult = 'success' | 'failure' | 'neither';

export function resultOf({ outcome }: Settlement): AttemptResult {
  switch (outcome.kind) {
    case 'delivered':
      return 'success';
    case 'retry':
    case 'dead':
      return 'failure';
    case 'gone':
    case 'cancelled':
    case 'released':
      return 'neither';
  }
}

interface Slots {
  appNo: number;
  inFlight: number;
  cap: number;
  /** The upper limit of `cap`. */
  most: number;
  /** The last delivery of the lane failed. */
  isFailing: boolean;
  /** The last attempt was answered in time, by the app's share. */
  isProven: boolean;
}

export function createWindow(nextLease: () => number): Window {
  const lanes = new Map<number, Slots>();
  const idleLanes = createIdleLanes(lanes);
  const shares = new AppShares();
  /** What is left of the last offer by lane, and what it granted to unlisted apps' new lanes. */
  let offered = new Map<number, OfferedSlots>();
  let last: ReturnType<AppShares['offer']> = { apps: new Map(), appRoom: initialRoom };

  const freeRoom = (): number => limits.windowMax - shares.size();
  const claimRoom = (): number => claimableMax(0, freeRoom());
  const newLaneRoom = (appNo: number): number => (last.apps.get(appNo) ?? last.appRoom).laneRoom;

  const offer = (nowMs: number, to: 'fresh' | 'claimed'): Offer => {
    for (const lane of shares.findHanging(nowMs)) markUnproven(lanes.get(lane));
    last = shares.offer(to);
    offered = offerLanes(lanes, freeRoom() >> 4);
    offerProven(shares, offered);
    const room = to === 'fresh' ? freeRoom() : claimRoom();
    const { apps, appRoom } = last;
    const { laneRoom } = appRoom;
    return { lease: nextLease(), room, ...lanesOf(offered, last), apps, appRoom, laneRoom };
  };

  return {
    offer: (nowMs) => offer(nowMs, 'fresh'),
    claimOffer: (nowMs) => offer(nowMs, 'claimed'),
    claimRoom,
    enter: ({ lane, appNo, concurrency }, nowMs) => {
      const unlisted = { appNo, free: newLaneRoom(appNo), inFlight: 0, isProven: false };
      const known = offered.get(lane) ?? unlisted;
      const attempt = shares.enter({ appNo, lane, nowMs, wasProven: known.isProven });
      const slots = lanes.get(lane) ?? newSlots(appNo, known.free);
      setCapLimit(slots, concurrency);
      // An idle lane's grant becomes its cap, so that many failing lanes cannot use up the rest.
      if (known.inFlight === 0) slots.cap = Math.min(slots.cap, Math.max(known.free, 1));
      slots.inFlight += 1;
      slots.isProven = !attempt.isAtRisk;
      offered.set(lane, { ...known, free: known.free - 1, inFlight: known.inFlight + 1 });
      lanes.set(lane, slots);
      idleLanes.rise(lane);
      return attempt;
    },
    limit: (lane, concurrency) => {
      const slots = lanes.get(lane);
      if (slots !== undefined) setCapLimit(slots, concurrency);
      return { mayBeFull: (offered.get(lane)?.inFlight ?? 0) >= (concurrency ?? Infinity) };
    },
    leave: (attempt, result) => {
      const { lane, share } = attempt;
      const slots = lanes.get(lane);
      if (slots === undefined) throw new Error(`Cannot leave lane ${lane}: nothing is in flight`);
      const { hasRoomAgain } = shares.leave(attempt, result);
      const wasFull = slots.inFlight >= slots.cap;
      slots.inFlight -= 1;
      if (result === 'success') slots.cap = Math.min(slots.cap + 1, slots.most);
      if (result === 'failure') slots.cap = Math.max(slots.cap >> 1, 1);
      if (result !== 'neither') slots.isFailing = result === 'failure';
      slots.isProven = share.proven.has(lane);
      if (slots.inFlight === 0) idleLanes.rest(lane, slots, newLaneRoom(share.appNo));
      return { wasFull: wasFull || hasRoomAgain };
    },
    hasUnofferedRoom: (some) =>
      shares.hasRoomAgain() || some.some((lane) => isUnoffered(lanes.get(lane), offered.get(lane))),
    size: () => shares.size(),
  };
}

const initialRoom: AppRoom = { room: 0, unproven: 0, laneRoom: limits.laneCapStart };

/** A lane as the store counts it since the last offer. */
interface OfferedSlots {
  appNo: number;
  free: number;
  inFlight: number;
  isProven: boolean;
}

function isUnoffered(slots: Slots | undefined, last: OfferedSlots | undefined): boolean {
  if (slots === undefined || last === undefined) return false;
  const isUsedUp = last.free <= 0 || last.inFlight >= slots.most;
  return isUsedUp && slots.inFlight < slots.cap;
}

function markUnproven(slots: Slots | undefined): void {
  if (slots !== undefined) slots.isProven = false;
}

/** For known lanes. `share`: an idle lane may take twice this part of the free slots. */
function offerLanes(lanes: ReadonlyMap<number, Slots>, share: number): Map<number, OfferedSlots> {
  const offered = new Map<number, OfferedSlots>();
  for (const [lane, { appNo, inFlight, cap, isProven }] of lanes) {
    const idleRoom = inFlight === 0 ? Math.max(2 * share, 1) : Infinity;
    offered.set(lane, {
      appNo,
      free: Math.max(Math.min(cap - inFlight, idleRoom), 0),
      inFlight,
      isProven,
    });
  }
  return offered;
}

/**
 * Offers do not list idle lanes, so the store takes them as unproven. If an app has no room for
 * unproven lanes, its proven ones are listed: an app with many dead receivers still delivers to
 * those that answer.
 */
function offerProven(shares: AppShares, offered: Map<number, OfferedSlots>): void {
  for (const { appNo, proven, offered: room } of shares.active()) {
    if (room.unproven > 0) continue;
    const free = Math.max(Math.min(limits.laneCapStart, room.room >> 4), 1);
    for (const lane of proven.keys()) {
      if (!offered.has(lane)) offered.set(lane, { appNo, free, inFlight: 0, isProven: true });
    }
  }
}

/**
 * Lanes that are not listed count as unproven, too. So those of an app that may take nothing for unproven lanes are left
 * out: an app whose receivers hang would otherwise make each statement longer by a hundred lanes.
 */
function lanesOf(
  offered: ReadonlyMap<number, OfferedSlots>,
  { apps, appRoom }: ReturnType<AppShares['offer']>,
): Pick<Offer, 'free' | 'inFlight' | 'unproven'> {
  const free = new Map<number, number>();
  const inFlight = new Map<number, number>();
  const unproven = new Set<number>();
  for (const [lane, one] of offered) {
    if (!one.isProven && (apps.get(one.appNo) ?? appRoom).unproven <= 0) continue;
    free.set(lane, one.free);
    if (one.inFlight > 0) inFlight.set(lane, one.inFlight);
    if (!one.isProven) unproven.add(lane);
  }
  return { free, inFlight, unproven };
}

function newSlots(appNo: number, cap: number): Slots {
  return { appNo, inFlight: 0, cap, most: limits.laneCapMax, isFailing: false, isProven: false };
}

function setCapLimit(slots: Slots, concurrency: number = limits.laneCapMax): void {
  slots.most = Math.min(concurrency, limits.laneCapMax);
  slots.cap = Math.min(slots.cap, slots.most);
}

/**
 * An idle lane is forgotten and counts as new again, except for a while two kinds: one that failed
 * keeps its small cap, and one that has shown a throughput well above that of a new lane keeps its
 * larger one. Without the latter, most events to a few busy receivers would have to be claimed
 * (docs/performance.md), above all while another app holds much of the window and new lanes get
 * one to four slots.
 */
function createIdleLanes(lanes: Map<number, Slots>): {
  rest(lane: number, slots: Slots, newLaneRoom: number): void;
  rise(lane: number): void;
} {
  /** Lanes that did well, longest idle first. */
  const trusted = new Set<number>();
  const drop = (lane: number): void => {
    lanes.delete(lane);
    trusted.delete(lane);
  };
  return {
    rest: (lane, slots, newLaneRoom) => {
      drop(lane);
      if (!slots.isFailing && slots.cap < newLaneRoom * limits.laneTrustedTimes) return;
      lanes.set(lane, slots);
      if (!slots.isFailing) {
        slots.cap = Math.min(slots.cap, limits.laneCapKept);
        trusted.add(lane);
        const [longest] = trusted;
        if (trusted.size > limits.lanesTrustedMax && longest !== undefined) drop(longest);
      }
      if (lanes.size <= limits.lanesRememberedMax) return;
      const idle = lanes.entries().find(([, { inFlight }]) => inFlight === 0);
      if (idle !== undefined) drop(idle[0]);
    },
    rise: (lane) => void trusted.delete(lane),
  };
}
