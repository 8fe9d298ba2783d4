// The window: the deliveries that this node has under way, and how many more it may take. A lane's cap
// adapts to its receiver: more while it succeeds, half when it fails. The fuller the window, the less a
// stranger gets, so that many dead receivers cannot fill it at once; one that has shown what it takes gets twice
// as much. A subscription may set a cap of its own, above which none rises. Counts only; no time, no I/O.
import { limits } from '../core/limits.ts';
import type { Offer, Settlement } from '../store/delivery-verbs.ts';

export interface Window {
  /** Room for fresh deliveries: the whole rest of the window. */
  offer(): Offer;
  /** Room for claimed ones: a part of the window stays free, so that fresh events never wait. */
  claimOffer(): Offer;
  claimRoom(): number;
  /** `concurrency`: what the subscription allows; undefined: as much as its receiver takes well. */
  enter(lane: number, concurrency?: number): void;
  /** The same, heard of later. Whether the store may call the lane full for that, since the last offer. */
  limit(lane: number, concurrency: number | undefined): { mayBeFull: boolean };
  /** Whether the lane was full before, so that it may have more waiting. */
  leave(lane: number, result: Result): { wasFull: boolean };
  /**
   * Whether the lane has room although the last offer is used up: a slot became free while the store
   * was at work, so for the store the lane is full, and more of it may be waiting.
   */
  hasUntoldRoom(lane: number): boolean;
  size(): number;
}

/** What an attempt says about its receiver. */
export type Result = 'success' | 'failure' | 'neither';

export function resultOf({ outcome }: Settlement): Result {
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
  underWay: number;
  cap: number;
  /** Above which the cap never rises. */
  most: number;
  /** Its last delivery failed. */
  isFailing: boolean;
}

export function createWindow(nextLease: () => number): Window {
  const lanes = new Map<number, Slots>();
  const resting = createResting(lanes);
  /** What is left of the last offer, by lane; and what it gave to lanes it did not know. */
  let told = new Map<number, Told>();
  let strangersRoom: number = limits.laneCapStart;
  let size = 0;

  const offer = (room: number): Offer => {
    const free = new Map<number, number>();
    const underWay = new Map<number, number>();
    told = new Map();
    const share = (limits.windowMax - size) >> 4;
    for (const [lane, slots] of lanes) {
      const idleRoom = slots.underWay === 0 ? Math.max(2 * share, 1) : Infinity;
      const freeSlots = Math.max(Math.min(slots.cap - slots.underWay, idleRoom), 0);
      free.set(lane, freeSlots);
      if (slots.underWay > 0) underWay.set(lane, slots.underWay);
      told.set(lane, { free: freeSlots, underWay: slots.underWay });
    }
    strangersRoom = Math.max(Math.min(limits.laneCapStart, share), 1);
    const laneRoom = strangersRoom;
    return { lease: nextLease(), room: Math.max(room, 0), free, underWay, laneRoom };
  };

  return {
    offer: () => offer(limits.windowMax - size),
    claimOffer: () => offer(limits.windowClaimedMax - size),
    claimRoom: () => limits.windowClaimedMax - size,
    enter: (lane, concurrency) => {
      const slots = lanes.get(lane) ?? newSlots(strangersRoom);
      setMost(slots, concurrency);
      const { free, underWay } = told.get(lane) ?? { free: strangersRoom, underWay: 0 };
      // What an idle one was given is its cap from now on: many that fail at once must not get the rest, too.
      if (underWay === 0) slots.cap = Math.min(slots.cap, Math.max(free, 1));
      slots.underWay += 1;
      size += 1;
      told.set(lane, { free: free - 1, underWay: underWay + 1 });
      lanes.set(lane, slots);
      resting.rise(lane);
    },
    limit: (lane, concurrency) => {
      const slots = lanes.get(lane);
      if (slots !== undefined) setMost(slots, concurrency);
      return { mayBeFull: (told.get(lane)?.underWay ?? 0) >= (concurrency ?? Infinity) };
    },
    leave: (lane, result) => {
      const slots = lanes.get(lane);
      if (slots === undefined) throw new Error(`Cannot leave lane ${lane}: nothing is under way`);
      const wasFull = slots.underWay >= slots.cap;
      slots.underWay -= 1;
      size -= 1;
      if (result === 'success') slots.cap = Math.min(slots.cap + 1, slots.most);
      if (result === 'failure') slots.cap = Math.max(slots.cap >> 1, 1);
      if (result !== 'neither') slots.isFailing = result === 'failure';
      if (slots.underWay === 0) resting.rest(lane, slots);
      return { wasFull };
    },
    hasUntoldRoom: (lane) => {
      const slots = lanes.get(lane);
      const last = told.get(lane);
      if (slots === undefined || last === undefined) return false;
      const isUsedUp = last.free <= 0 || last.underWay >= slots.most;
      return isUsedUp && slots.underWay < slots.cap;
    },
    size: () => size,
  };
}

/** Of a lane, as the store counts on since the last offer. */
interface Told {
  free: number;
  underWay: number;
}

function newSlots(cap: number): Slots {
  return { underWay: 0, cap, most: limits.laneCapMax, isFailing: false };
}

function setMost(slots: Slots, concurrency: number = limits.laneCapMax): void {
  slots.most = Math.min(concurrency, limits.laneCapMax);
  slots.cap = Math.min(slots.cap, slots.most);
}

/**
 * An idle lane is a stranger again, but for a while two kinds are remembered: one that failed, with its small
 * cap, and one that has shown how much it takes. Without the latter, of 40,000 events one by one to ten
 * receivers 59 % were not born with a lease, and had to be claimed.
 */
function createResting(lanes: Map<number, Slots>): {
  rest(lane: number, slots: Slots): void;
  rise(lane: number): void;
} {
  /** Those that did well, the longest idle one first. */
  const trusted = new Set<number>();
  const drop = (lane: number): void => {
    lanes.delete(lane);
    trusted.delete(lane);
  };
  return {
    rest: (lane, slots) => {
      drop(lane);
      if (!slots.isFailing && slots.cap < limits.laneCapTrusted) return;
      lanes.set(lane, slots);
      if (!slots.isFailing) {
        slots.cap = Math.min(slots.cap, limits.laneCapKept);
        trusted.add(lane);
        const [longest] = trusted;
        if (trusted.size > limits.lanesTrustedMax && longest !== undefined) drop(longest);
      }
      if (lanes.size <= limits.lanesRememberedMax) return;
      const idle = lanes.entries().find(([, { underWay }]) => underWay === 0);
      if (idle !== undefined) drop(idle[0]);
    },
    rise: (lane) => void trusted.delete(lane),
  };
}
