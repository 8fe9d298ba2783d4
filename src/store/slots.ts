// What is left of a node's offer while a batch uses it up: deliveries in all, and for each lane.
import type { Born, Offer } from './delivery-verbs.ts';

export interface Slots {
  readonly lease: number;
  /** Deliveries that the node takes yet, and those it takes of one lane. */
  room(): number;
  free(lane: number): number;
  take(lane: number): void;
  /** Full lanes wait for whoever frees a slot; `fullMax` is how many there can be. */
  isFull(lane: number): boolean;
  fullMax(): number;
  /** Free slots by lane; any other lane has `laneRoom`. */
  left(): ReadonlyMap<number, number>;
  readonly laneRoom: number;
}

export function slotsOf({ lease, room, free, laneRoom }: Offer): Slots {
  const left = new Map(free);
  let roomLeft = room;
  const inLane = (lane: number): number => left.get(lane) ?? laneRoom;
  return {
    lease,
    room: () => roomLeft,
    free: (lane) => Math.min(inLane(lane), roomLeft),
    take: (lane) => {
      left.set(lane, inLane(lane) - 1);
      roomLeft -= 1;
    },
    isFull: (lane) => inLane(lane) <= 0,
    fullMax: () => left.size,
    left: () => left,
    laneRoom,
  };
}

/** For a batch without an offer: nothing can be taken, and no lane is known to be full. */
export const noSlots: Slots = {
  lease: 0,
  room: () => 0,
  free: () => 0,
  take: () => {},
  isFull: () => false,
  fullMax: () => 0,
  left: () => new Map(),
  laneRoom: 1,
};

/** Slots for fresh deliveries, and those that took one. */
export interface Births {
  slots: Slots;
  born: Born[];
}

export function birthsFor(offer: Offer | undefined): Births {
  return { slots: offer === undefined ? noSlots : slotsOf(offer), born: [] };
}
