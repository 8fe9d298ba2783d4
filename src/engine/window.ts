// The window: the deliveries that this node has under way, and how many more it may take. A lane's cap
// adapts to its receiver: more while it succeeds, half when it fails. Counts only; no time, no I/O.
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
}

export function createWindow(nextLease: () => number): Window {
  const lanes = new Map<number, Slots>();
  /** What is left of the last offer, by lane. */
  let told = new Map<number, number>();
  let size = 0;

  const offer = (room: number): Offer => {
    const free = new Map<number, number>();
    for (const [lane, slots] of lanes) {
      free.set(lane, Math.max(slots.cap - slots.underWay, 0));
    }
    told = new Map(free);
    return { lease: nextLease(), room: Math.max(room, 0), free, laneRoom: limits.laneCapStart };
  };

  return {
    offer: () => offer(limits.windowMax - size),
    claimOffer: () => offer(limits.windowClaimedMax - size),
    claimRoom: () => limits.windowClaimedMax - size,
    enter: (lane) => {
      const slots = lanes.get(lane) ?? { underWay: 0, cap: limits.laneCapStart };
      slots.underWay += 1;
      size += 1;
      told.set(lane, (told.get(lane) ?? limits.laneCapStart) - 1);
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
      // An idle lane is forgotten: its next delivery starts with the cap of a stranger.
      if (slots.underWay === 0) lanes.delete(lane);
      return { wasFull };
    },
    hasUntoldRoom: (lane) => {
      const slots = lanes.get(lane);
      return slots !== undefined && told.get(lane) === 0 && slots.underWay < slots.cap;
    },
    size: () => size,
  };
}
