// The plan of a seed: numbers of nodes, receivers and events, and the rate of each fault. As in swarm testing, each plan
// turns some faults off, so that each fault is also tested without the others.
import { type Chance, seededChance } from './chance.ts';

/** Limits that a plan may lower. */
export type Resized =
  | 'targetsAtOnceMax'
  | 'fanOutStepMin'
  | 'fanOutStepMax'
  | 'windowMax'
  | 'windowClaimedMax'
  | 'lookRowsMax'
  | 'claimLanesMax'
  | 'retentionRowsMax'
  | 'confirmWithinMs';

export interface Plan {
  seed: number;
  /** A single node may use its database alone, as on SQLite; several share one, as on PostgreSQL. */
  nodes: number;
  isShared: boolean;
  pollMs: number;
  receivers: number;
  subscriptions: number;
  events: number;
  /** How long faults are injected. */
  faultsMs: number;
  waitsMs: readonly number[];
  timeoutMs: number;
  orderedShare: number;
  keyedShare: number;
  /** The share of publishes with several events. */
  batchShare: number;
  /** Shares of subscriptions that expire, or have a filter, a concurrency limit or a rate limit. */
  passingShare: number;
  filteredShare: number;
  cappedShare: number;
  limitedShare: number;
  /** The share of notifications about new work that reach other nodes. */
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
  /** Lower limits of the product, so that small numbers reach them. */
  limits: Partial<Record<Resized, number>>;
  /** Shares of store calls. */
  store: { failsBefore: number; failsAfter: number; stalls: number };
  /** Shares of requests. */
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
  /** No faults except failure responses of receivers: there may be no duplicates. */
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
  // Some plans have as many subscriptions as the product considers many.
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
    // If a single node's clock is set, the time of expiry changes.
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

/** The share of large plans. Each computes for about 5 s, so they take a quarter of the total time. */
const largeShare = 1 / 250;

function drawLimits(chance: Chance, isCalm: boolean): Plan['limits'] {
  const maybe = (share: number, drawn: Plan['limits']): Plan['limits'] =>
    chance.isLucky(share) ? drawn : {};
  // With a small window, attempts are late, so a calm plan must not lower it.
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
