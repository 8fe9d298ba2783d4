// What is left of a node's offer while a batch uses it up: deliveries in all, and for each lane.
import type { Lane } from '../core/lane.ts';
import type { Born, Offer } from './delivery-verbs.ts';

/** Of a lane: its subscription may want fewer at a time than the node would take. */
type Capped = Pick<Lane, 'no' | 'concurrency'>;

export interface Slots {
  readonly lease: number;
  /** Deliveries that the node takes yet, and those it takes of one lane. */
  room(): number;
  free(lane: Capped): number;
  take(lane: number): void;
  /** Full lanes wait for whoever frees a slot; `fullMax` is how many there can be. */
  isFull(lane: Capped): boolean;
  fullMax(): number;
  /** By lane: free slots, and deliveries under way. Any other lane has `laneRoom` and none. */
  left(): ReadonlyMap<number, readonly [free: number, underWay: number]>;
  readonly laneRoom: number;
  /** Of a fan-out: see Offer. */
  readonly stepMax: number;
}

export function slotsOf(offer: Offer): Slots {
  const { lease, room, free, underWay, laneRoom, stepMax = Infinity } = offer;
  const left = new Map<number, readonly [number, number]>();
  for (const [lane, slots] of free) left.set(lane, [slots, underWay.get(lane) ?? 0]);
  let roomLeft = room;
  const of = (lane: number): readonly [number, number] => left.get(lane) ?? [laneRoom, 0];
  const inLane = ({ no, concurrency = Infinity }: Capped): number => {
    const [slots, running] = of(no);
    return Math.min(slots, concurrency - running);
  };
  return {
    lease,
    room: () => roomLeft,
    free: (lane) => Math.min(inLane(lane), roomLeft),
    take: (lane) => {
      const [slots, running] = of(lane);
      left.set(lane, [slots - 1, running + 1]);
      roomLeft -= 1;
    },
    isFull: (lane) => inLane(lane) <= 0,
    fullMax: () => left.size,
    left: () => left,
    laneRoom,
    stepMax,
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
  stepMax: Infinity,
};

/** Slots for fresh deliveries, and those that took one. */
export interface Births {
  slots: Slots;
  born: Born[];
}

export function birthsFor(offer: Offer | undefined): Births {
  return { slots: offer === undefined ? noSlots : slotsOf(offer), born: [] };
}
