// Situations that a batch of runs must have met at least once; otherwise it proves nothing about them.

export const noCounters = {
  published: 0,
  acknowledged: 0,
  attempts: 0,
  delivered: 0,
  dead: 0,
  cancelled: 0,
  crashes: 0,
  crashesInFlight: 0,
  writtenForTheDead: 0,
  pauses: 0,
  suspensions: 0,
  zombies: 0,
  declaredGone: 0,
  rescued: 0,
  staleRefused: 0,
  refusedBefore: 0,
  outages: 0,
  ambiguous: 0,
  unknownToPublisher: 0,
  repeatedKey: 0,
  mismatchedKey: 0,
  duplicates: 0,
  lostResponses: 0,
  hangs: 0,
  retryAfter: 0,
  probes: 0,
  clockSteps: 0,
  drains: 0,
  unsubscribesInFlight: 0,
  stoppedAtGate: 0,
  editsInFlight: 0,
  goneAnswers: 0,
  redriven: 0,
  replays: 0,
  replayed: 0,
  replaysInterrupted: 0,
  fanOuts: 0,
  fanOutsInterrupted: 0,
  filteredOut: 0,
  rateLimited: 0,
  capped: 0,
  clockStepsAlone: 0,
  orderedFailures: 0,
  rescuesJudged: 0,
};

export type Counters = Record<keyof typeof noCounters, number>;

export function addCounters(one: Counters, other: Counters): Counters {
  const sum = { ...one };
  for (const name of Object.keys(noCounters)) {
    if (isCounter(name)) sum[name] += other[name];
  }
  return sum;
}

function isCounter(name: string): name is keyof Counters {
  return Object.hasOwn(noCounters, name);
}

/** The counters that are zero. */
export function neverMet(counters: Counters): string[] {
  return Object.entries(counters).flatMap(([name, count]) => (count === 0 ? [name] : []));
}
