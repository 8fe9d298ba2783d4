// Tracks what is left of a node's offer while a batch uses it: deliveries in total, per app and per
// lane. How much an app may take is decided in core/load/share-formula.ts, from the attempts that
// engine/deliver/attempts-by-app.ts counts.
import { claimableSlots, type AppSlots } from '../../core/load/share-formula.ts';
import type { Lane } from '../../core/domain/lane.ts';
import type { AppRoom, FreshDelivery, Offer } from '../port/delivery-verbs.ts';

type LaneName = Pick<Lane, 'no' | 'appNo'>;

/** A lane whose subscription may limit it further than the node. */
type Capped = LaneName & Pick<Lane, 'concurrency'>;

export interface OfferSlots {
  readonly lease: number;
  /** Deliveries that the node can still take in total, and of one lane. */
  room(): number;
  free(lane: Capped): number;
  take(lane: LaneName): void;
  /** Deliveries that the node can still take of an app. */
  ofApp(appNo: number): AppSlots;
  /**
   * Full lanes wait until a slot is released. `fullMax` is an upper bound of their number, apart
   * from full apps.
   */
  isFull(lane: Capped): boolean;
  fullMax(): number;
  hasFullApp(): boolean;
  fullApps(): FullApps;
  /**
   * By lane: free slots, and deliveries in flight. Any other lane has `laneRoom` and none in
   * flight.
   */
  left(): ReadonlyMap<number, readonly [free: number, inFlight: number]>;
  readonly laneRoom: number;
  /** For a fan-out: see Offer. */
  readonly stepMax: number;
}

/** Apps of which a claim takes nothing more, and those of which it takes proven lanes only. */
export interface FullApps {
  whole: readonly number[];
  unproven: readonly number[];
  /** All proven lanes that this node knows, including those of apps with room. */
  proven: readonly number[];
}

const noFullApps: FullApps = { whole: [], unproven: [], proven: [] };

export function slotsOf(offer: Offer): OfferSlots {
  const { lease, room, free, inFlight, stepMax = Infinity } = offer;
  const left = new Map<number, readonly [number, number]>();
  for (const [lane, slots] of free) left.set(lane, [slots, inFlight.get(lane) ?? 0]);
  let roomLeft = room;
  const apps = appsOf(offer);
  const of = ({ no, appNo }: LaneName): readonly [number, number] =>
    left.get(no) ?? [apps.laneRoom(appNo), 0];
  const inLane = (lane: Capped): number => {
    const [slots, running] = of(lane);
    const { concurrency = Infinity } = lane;
    return Math.min(slots, concurrency - running);
  };
  const isProven = ({ no }: LaneName): boolean => free.has(no) && offer.unproven?.has(no) !== true;
  const inApp = (lane: LaneName, { room: whole, unproven }: AppSlots): number =>
    isProven(lane) ? whole : Math.min(whole, unproven);
  return {
    lease,
    room: () => roomLeft,
    free: (lane) => Math.min(inLane(lane), roomLeft, inApp(lane, apps.left(lane.appNo))),
    take: (lane) => {
      const [slots, running] = of(lane);
      left.set(lane.no, [slots - 1, running + 1]);
      roomLeft -= 1;
      apps.take(lane.appNo, isProven(lane));
    },
    ofApp: (appNo) => apps.left(appNo),
    // An app without deliveries on this node is never full: no released slot would trigger a claim
    // for it.
    isFull: (lane) =>
      inLane(lane) <= 0 ||
      (apps.isKnown(lane.appNo) && inApp(lane, claimableSlots(apps.left(lane.appNo))) <= 0),
    fullMax: () => left.size,
    hasFullApp: () => apps.hasFull(),
    fullApps: () => {
      const { whole, unproven } = apps.full();
      if (whole.length + unproven.length === 0) return noFullApps;
      const proven = [...free.keys()].filter((no) => offer.unproven?.has(no) !== true);
      return { whole, unproven, proven };
    },
    left: () => left,
    laneRoom: offer.laneRoom,
    stepMax,
  };
}

interface AppsLeft {
  laneRoom(appNo: number): number;
  left(appNo: number): AppSlots;
  isKnown(appNo: number): boolean;
  take(appNo: number, isProven: boolean): void;
  full(): Pick<FullApps, 'whole' | 'unproven'>;
  hasFull(): boolean;
}

const unlimited: AppSlots = { room: Infinity, unproven: Infinity };

function appsOf({ apps, appRoom = unlimited, laneRoom }: Offer): AppsLeft {
  const left = new Map<number, AppRoom>();
  for (const [appNo, room] of apps ?? []) left.set(appNo, { ...room });
  return {
    laneRoom: (appNo) => left.get(appNo)?.laneRoom ?? laneRoom,
    left: (appNo) => left.get(appNo) ?? appRoom,
    isKnown: (appNo) => left.has(appNo),
    take: (appNo, isProven) => {
      const app = left.get(appNo) ?? { ...appRoom, laneRoom };
      app.room -= 1;
      if (!isProven) app.unproven -= 1;
      left.set(appNo, app);
    },
    full: () => {
      const whole: number[] = [];
      const unproven: number[] = [];
      for (const [appNo, app] of left) {
        const { room, unproven: ofUnproven } = claimableSlots(app);
        if (room <= 0) whole.push(appNo);
        else if (ofUnproven <= 0) unproven.push(appNo);
      }
      return { whole, unproven };
    },
    hasFull: () => left.values().some((app) => claimableSlots(app).unproven <= 0),
  };
}

/** For a batch without an offer: nothing can be taken, and no lane is known to be full. */
export const noSlots: OfferSlots = {
  lease: 0,
  room: () => 0,
  free: () => 0,
  take: () => {},
  ofApp: () => ({ room: 0, unproven: 0 }),
  isFull: () => false,
  fullMax: () => 0,
  hasFullApp: () => false,
  fullApps: () => noFullApps,
  left: () => new Map(),
  laneRoom: 1,
  stepMax: Infinity,
};

/** The lane of a delivery. */
export function laneOf({ lane, appNo }: Pick<FreshDelivery, 'lane' | 'appNo'>): LaneName {
  return { no: lane, appNo };
}

/** Slots for fresh deliveries, and the deliveries that took one. */
export interface InsertLeases {
  slots: OfferSlots;
  fresh: FreshDelivery[];
}

export function insertLeasesFor(offer: Offer | undefined): InsertLeases {
  return { slots: offer === undefined ? noSlots : slotsOf(offer), fresh: [] };
}
