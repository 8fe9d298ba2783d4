// Facts about what a transaction does, recorded while it runs. At its end they become figures in
// the same transaction; a rollback discards them.
import {
  bucketOf,
  type CountName,
  noStatistics,
  type Statistics,
} from '../../core/telemetry/statistics.ts';
import type { Settlement } from '../port/delivery-verbs.ts';
import type { EndState } from '../sql/end-states.ts';

export interface Fact {
  appNo: number;
  /** Lane of the delivery; an event has none. */
  lane: number | undefined;
  what: CountName;
  times: number;
  /** Duration of the attempt, if one was made. */
  tookMs: number | undefined;
}

export interface Owner {
  appNo: number;
  lane: number;
}

/** Something that happened to one delivery without an attempt. */
export function factOf(what: CountName, { appNo, lane }: Owner): Fact {
  return { appNo, lane, what, times: 1, tookMs: undefined };
}

export function publishedFact(appNo: number, events: number): Fact {
  return { appNo, lane: undefined, what: 'published', times: events, tookMs: undefined };
}

/**
 * `state`: how the delivery ended; undefined when it becomes pending again. A released one was not
 * attempted, and is not counted.
 */
export function noteSettled(
  facts: Fact[],
  { appNo, lane }: Owner,
  { settlement, state }: { settlement: Settlement; state: EndState | undefined },
): void {
  const { outcome, attempt } = settlement;
  const what = state ?? (outcome.kind === 'retry' ? 'retried' : undefined);
  if (what === undefined) return;
  facts.push({ appNo, lane, what, times: 1, tookMs: attempt?.tookMs });
}

/** Discards the facts of an item that throws, because it is rolled back. */
export function discardOnFailure<T>(facts: Fact[], item: () => T): T {
  const before = facts.length;
  try {
    return item();
  } catch (error) {
    facts.length = before;
    throw error;
  }
}

/** Figures by app, in the order of app numbers. */
export function statisticsByApp(facts: readonly Fact[]): [appNo: number, figures: Statistics][] {
  const found = new Map<number, Statistics>();
  for (const fact of facts) count(statisticsIn(found, fact.appNo), fact);
  return [...found].sort(([a], [b]) => a - b);
}

/** The figures under a key, created when missing. */
export function statisticsIn(found: Map<number, Statistics>, key: number): Statistics {
  const known = found.get(key);
  if (known !== undefined) return known;
  const made = noStatistics();
  found.set(key, made);
  return made;
}

export function count({ counts, took }: Statistics, { what, times, tookMs }: Fact): void {
  counts[what] += times;
  if (tookMs === undefined) return;
  const bucket = bucketOf(tookMs);
  took[bucket] = (took[bucket] ?? 0) + 1;
}
