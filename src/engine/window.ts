// The window: the deliveries that this node has under way, and how many more it may take. A lane's cap
// adapts to its receiver: more while it succeeds, half when it fails. The fuller the window, the less a
// stranger gets, so that many dead receivers cannot fill it at once. Counts only; no time, no I/O.
import { limits } from '../core/limits.ts';
import type { Offer } from '../store/delivery-verbs.ts';

export interface Window {
  /** Room for fresh deliveries: the whole rest of the window. */
  offer(): Offer;
  /** Room for claimed ones: a part of the window stays free, so that fresh events never wait. */
  claimOffer(): Offer;
  claimRoom(): number;
  enter(lane: number): void;
  /** Whether the lane was full before, so that it may have more waiting. */
  leave(lane: number, result: 'success' | 'failure' | 'neither'): { wasFull: boolean };
  /**
   * Whether the lane has room although the last offer is used up: a slot became free while the store
   * was at work, so for the store the lane is full, and more of it may be waiting.
   */
  hasUntoldRoom(lane: number): boolean;
  size(): number;
}

interface Slots {
  underWay: number;
  cap: number;
  /** Its last delivery failed. */
  isFailing: boolean;
}

export function createWindow(nextLease: () => number): Window {
  const lanes = new Map<number, Slots>();
  /** What is left of the last offer, by lane; and what it gave to lanes it did not know. */
  let told = new Map<number, number>();
  let strangersRoom: number = limits.laneCapStart;
  let size = 0;

  const offer = (room: number): Offer => {
    const free = new Map<number, number>();
    for (const [lane, slots] of lanes) {
      free.set(lane, Math.max(slots.cap - slots.underWay, 0));
    }
    told = new Map(free);
    const share = (limits.windowMax - size) >> 4;
    strangersRoom = Math.max(Math.min(limits.laneCapStart, share), 1);
    return { lease: nextLease(), room: Math.max(room, 0), free, laneRoom: strangersRoom };
  };

  return {
    offer: () => offer(limits.windowMax - size),
    claimOffer: () => offer(limits.windowClaimedMax - size),
    claimRoom: () => limits.windowClaimedMax - size,
    enter: (lane) => {
      const slots = lanes.get(lane) ?? { underWay: 0, cap: strangersRoom, isFailing: false };
      slots.underWay += 1;
      size += 1;
      told.set(lane, (told.get(lane) ?? strangersRoom) - 1);
      lanes.set(lane, slots);
    },
    leave: (lane, result) => {
      const slots = lanes.get(lane);
      if (slots === undefined) throw new Error(`Cannot leave lane ${lane}: nothing is under way`);
      const wasFull = slots.underWay >= slots.cap;
      slots.underWay -= 1;
      size -= 1;
      if (result === 'success') slots.cap = Math.min(slots.cap + 1, limits.laneCapMax);
      if (result === 'failure') slots.cap = Math.max(slots.cap >> 1, 1);
      if (result !== 'neither') slots.isFailing = result === 'failure';
      if (slots.underWay === 0) forget(lanes, lane, slots);
      return { wasFull };
    },
    hasUntoldRoom: (lane) => {
      const slots = lanes.get(lane);
      return slots !== undefined && told.get(lane) === 0 && slots.underWay < slots.cap;
    },
    size: () => size,
  };
}

/** An idle lane is a stranger again. One that failed is remembered for a while, with its small cap. */
function forget(lanes: Map<number, Slots>, lane: number, slots: Slots): void {
  lanes.delete(lane);
  if (!slots.isFailing) return;
  lanes.set(lane, slots);
  if (lanes.size <= limits.lanesRememberedMax) return;
  const idle = lanes.entries().find(([, { underWay }]) => underWay === 0);
  if (idle !== undefined) lanes.delete(idle[0]);
}
