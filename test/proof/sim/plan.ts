// What a seed is about: how many nodes, receivers and events, and which faults at what rate. Drawn as a
// swarm: of the faults some are off, so that each is also met without the others.
import { type Chance, seededChance } from './chance.ts';

/** What may be small without anything being wrong. */
export type Resized =
  | 'targetsAtOnceMax'
  | 'fanOutStepMin'
  | 'fanOutStepMax'
  | 'windowMax'
  | 'windowClaimedMax'
  | 'lookRowsMax'
  | 'claimLanesMax'
  | 'retentionRowsMax';

export interface Plan {
  seed: number;
  /** One node is alone on its database, as SQLite has it; several share one, as with PostgreSQL. */
  nodes: number;
  isShared: boolean;
  pollMs: number;
  receivers: number;
  subscriptions: number;
  events: number;
  /** How long faults happen; then all is healed. */
  faultsMs: number;
  waitsMs: readonly number[];
  timeoutMs: number;
  orderedShare: number;
  keyedShare: number;
  /** Of publishes: several events at once. */
  batchShare: number;
  /** Of subscriptions: those that end by themselves, that have a filter, a cap, a rate. */
  passingShare: number;
  filteredShare: number;
  cappedShare: number;
  limitedShare: number;
  /** How often a word of new work reaches the other nodes. */
  toldShare: number;
  /** Per minute, over all nodes; 0: never. */
  perMinute: {
    crash: number;
    pause: number;
    restart: number;
    outage: number;
    clockStep: number;
    receiverDies: number;
    unsubscribe: number;
    subscribe: number;
    edit: number;
    redrive: number;
    replay: number;
  };
  /** Limits of the product that this run has in other sizes, so that little is much. */
  limits: Partial<Record<Resized, number>>;
  /** Of store calls. */
  store: { failsBefore: number; failsAfter: number; stalls: number };
  /** Of requests. */
  network: {
    refused: number;
    lost: number;
    hangs: number;
    slow: number;
    slowConnects: number;
    failing: number;
    asksForTime: number;
    gone: number;
  };
  /** No fault at all but answers of receivers that are no success: then nothing may come twice. */
  isCalm: boolean;
}

export function drawPlan(seed: number): Plan {
  const chance = seededChance(seed ^ 0x5eed);
  const nodes = chance.isLucky(0.3) ? 1 : chance.whole(2, 5);
  const isShared = nodes > 1 || chance.isLucky(0.2);
  const isCalm = chance.isLucky(0.1);
  const some = (probability: number, most: number): number =>
    chance.isLucky(probability) ? chance.between(most / 10, most) : 0;
  const fault = (probability: number, most: number): number => {
    const drawn = some(probability, most);
    return isCalm ? 0 : drawn;
  };
  // Now and then with as many as the product calls many.
  const isLarge = chance.isLucky(largeShare);
  const isAlone = !isShared;
  const clockStep = fault(0.4, 6);
  return {
    seed,
    nodes,
    isShared,
    pollMs: isShared ? chance.pick([250, 1_000, 1_000, 2_500, 2_500]) : 10_000,
    receivers: chance.whole(1, 5),
    subscriptions: isLarge ? chance.whole(260, 520) : chance.whole(1, 6),
    events: isLarge ? chance.whole(2, 4) : chance.whole(10, 60),
    faultsMs: chance.pick([20_000, 40_000, 60_000, 100_000]),
    waitsMs: drawWaits(chance),
    timeoutMs: chance.pick([1_000, 5_000, 15_000]),
    orderedShare: chance.pick([0, 0.3, 1]),
    keyedShare: chance.pick([0, 0.7, 1]),
    batchShare: chance.pick([0, 0.2, 0.4]),
    // Whose clock is set ends at another time.
    passingShare: isAlone && clockStep > 0 ? 0 : chance.pick([0, 0, 0.3]),
    filteredShare: chance.pick([0, 0.3, 0.6]),
    cappedShare: chance.pick([0, 0.3]),
    limitedShare: chance.pick([0, 0, 0.4]),
    toldShare: chance.pick([0, 0.5, 1]),
    perMinute: {
      crash: fault(0.6, 6),
      pause: fault(0.5, 5),
      restart: fault(0.5, 4),
      outage: fault(0.4, 4),
      clockStep,
      receiverDies: fault(0.5, 4),
      unsubscribe: some(0.6, 5),
      subscribe: some(0.5, 4),
      edit: some(0.5, 8),
      redrive: some(0.5, 6),
      replay: some(0.6, 6),
    },
    limits: isLarge ? {} : drawLimits(chance, isCalm),
    store: {
      failsBefore: fault(0.5, 0.08),
      failsAfter: isShared ? fault(0.5, 0.08) : 0,
      stalls: fault(0.3, 0.02),
    },
    network: {
      refused: some(0.4, 0.3),
      lost: fault(0.5, 0.3),
      hangs: fault(0.4, 0.2),
      slow: some(0.4, 0.5),
      slowConnects: some(0.6, 0.8),
      failing: some(0.7, 0.5),
      asksForTime: some(0.5, 0.3),
      gone: some(0.2, 0.03),
    },
    isCalm,
  };
}

/** Of seeds: at about 5 s of computing each, which is a quarter of all. */
const largeShare = 1 / 250;

function drawLimits(chance: Chance, isCalm: boolean): Plan['limits'] {
  const maybe = (share: number, drawn: Plan['limits']): Plan['limits'] =>
    chance.isLucky(share) ? drawn : {};
  // Without room nobody can be in time.
  const room = isCalm ? 0 : 0.2;
  const windowMax = chance.whole(2, 12);
  return {
    ...maybe(0.5, {
      targetsAtOnceMax: chance.whole(0, 3),
      fanOutStepMin: 1,
      fanOutStepMax: chance.whole(1, 3),
    }),
    ...maybe(room, { windowMax, windowClaimedMax: Math.ceil(windowMax * 0.75) }),
    ...maybe(room, { lookRowsMax: chance.whole(1, 3), claimLanesMax: chance.whole(1, 3) }),
    ...maybe(0.2, { retentionRowsMax: chance.whole(1, 5) }),
  };
}

function drawWaits(chance: Chance): number[] {
  const count = chance.whole(1, 5);
  return Array.from({ length: count }, () => chance.pick([500, 1_000, 3_000, 8_000, 15_000]));
}
