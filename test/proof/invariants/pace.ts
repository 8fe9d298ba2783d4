// Rate limits and concurrency limits of subscriptions.
import type { Flaw, History, LogRow, Send } from './history.ts';

/** Clocks have whole milliseconds, and a check may come up to one millisecond late. */
const slackMs = 2;
/** The longest time to connect. */
const connectMs = 3_100;

/**
 * `rateLimit`: no span of time may have more attempts than allowed, over all nodes, by the clock of the database.
 * Unused rate accumulates for a second, or for one attempt. Claims are checked; in a calm run also the requests
 * themselves, which only a slow connection can delay.
 */
export function judgeRate(history: History): Flaw[] {
  const flaws: string[] = [];
  const sends = Map.groupBy(history.sends, ({ subscription }) => subscription);
  for (const { id, ratePerSecond, claims } of limitedOf(history)) {
    const given = betweenSteps(claims, history).flatMap((some) =>
      tooMany(some, { ratePerSecond, spare: slackMs }),
    );
    flaws.push(...given.map((what) => `${id} gave out ${what}`));
    const started = (sends.get(id) ?? []).flatMap(({ startedMs }) => startedMs ?? []);
    if (started.length > claims.length) {
      flaws.push(`${id} got ${started.length} requests, but only ${claims.length} were claimed`);
    }
    if (!history.isCalm) continue;
    const wire = { ratePerSecond, spare: connectMs };
    flaws.push(...tooMany(started, wire).map((what) => `${id} got ${what}`));
  }
  return flaws.map((what) => ({ invariant: 'rate', what }));
}

/**
 * Splits the claims where the database's clock was set. Those on both sides do not compare: a step back also moves the
 * time of the next claim back, and the clock may have passed the earlier claims again since.
 */
function betweenSteps(claims: readonly LogRow[], { clockSteps }: History): number[][] {
  const parts = Map.groupBy(claims, ({ atMs }) => clockSteps.filter((ms) => ms < atMs).length);
  return [...parts.values()].map((part) => part.map(({ a }) => a));
}

function tooMany(
  times: readonly number[],
  { ratePerSecond, spare }: { ratePerSecond: number; spare: number },
): string[] {
  const burst = Math.max(ratePerSecond, 1);
  for (const [from, fromMs] of times.entries()) {
    for (let to = from + 1; to < times.length; to += 1) {
      const spanMs = Math.max((times[to] ?? 0) - fromMs, 0);
      const count = to - from + 1;
      if (count <= burst + (ratePerSecond * (spanMs + spare)) / 1_000 + tiny) continue;
      return [`${count} within ${Math.round(spanMs)} ms, at ${ratePerSecond} a second`];
    }
  }
  return [];
}

const tiny = 1e-6;

/** Counts claims that the rate limit delayed: they came as soon as it allowed them. */
export function countLimited(history: History): number {
  const last = new Map<string, number>();
  let count = 0;
  for (const { id, ratePerSecond, claims } of limitedOf(history)) {
    const intervalMs = 1_000 / ratePerSecond;
    for (const { a: atMs } of claims) {
      const gapMs = atMs - (last.get(id) ?? -Infinity);
      if (gapMs >= intervalMs - 1 && gapMs <= intervalMs * 1.2 + 20) count += 1;
      last.set(id, atMs);
    }
  }
  return count;
}

interface Limited {
  id: string;
  ratePerSecond: number;
  /** When its deliveries were claimed: in `a`, by the clock of the database. */
  claims: readonly LogRow[];
}

function limitedOf({ deliveries, log, subscriptions }: History): Limited[] {
  const rowOf = new Map(deliveries.map((row) => [row.id, row]));
  const claims = Map.groupBy(
    log.filter(({ what }) => what === 'claimed'),
    ({ event, n }) => rowOf.get(`dlv_${event}_${n}`)?.subscription ?? '',
  );
  return subscriptions.flatMap(({ id, ratePerSecond }) =>
    ratePerSecond === undefined ? [] : [{ id, ratePerSecond, claims: claims.get(id) ?? [] }],
  );
}

/** `concurrency`: limits the deliveries in flight on one node. */
export function judgeConcurrency(history: History): Flaw[] {
  return crowdsOf(history).flatMap(({ lane, count, concurrency }) =>
    count <= concurrency
      ? []
      : [{ invariant: 'concurrency', what: `${lane}: ${count} at a time, not ${concurrency}` }],
  );
}

/** Counts the lanes that reached their limit. */
export function countCapped(history: History): number {
  return crowdsOf(history).filter(({ count, concurrency }) => count === concurrency).length;
}

interface Crowd {
  lane: string;
  /** The most deliveries in flight at a time. */
  count: number;
  concurrency: number;
}

function crowdsOf({ sends, subscriptions }: History): Crowd[] {
  const caps = new Map(subscriptions.map(({ id, concurrency }) => [id, concurrency]));
  const started = sends.filter(
    (one) => one.startedMs !== undefined && caps.get(one.subscription) !== undefined,
  );
  const lanes = Map.groupBy(started, (one) => `${one.subscription} on node ${one.incarnation}`);
  return [...lanes].map(([lane, list]) => {
    const besides = list.map(
      (one, at) =>
        list.slice(0, at).filter((other) => isInFlight(other, one.startedMs ?? 0)).length,
    );
    const concurrency = caps.get(list[0]?.subscription ?? '') ?? Infinity;
    return { lane, count: Math.max(...besides) + 1, concurrency };
  });
}

function isInFlight({ seenMs }: Send, atMs: number): boolean {
  return (seenMs ?? Infinity) > atMs;
}
