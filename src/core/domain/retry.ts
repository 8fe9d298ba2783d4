// Decides how long a delivery waits for its next attempt. The operator sets the schedule; a receiver may ask for more
// time, within bounds, but never for less. The default schedule is `retry` in config/settings.ts; a
// subscription may have its own (controls.ts).
import type { Header } from './attempt.ts';

const jitter = 0.2;
const askedMaxMs = 24 * 60 * 60 * 1000;

export interface RetryInput {
  /** Attempts before the one that just failed. */
  tries: number;
  waitsMs: readonly number[];
  /** The wait that the receiver asked for with Retry-After. */
  askedMs: number | undefined;
  /** Random number from 0 up to 1, for the jitter. */
  randomFraction: number;
}

/** The wait before the next attempt; undefined when the schedule is exhausted. */
export function nextWaitMs(input: RetryInput): number | undefined {
  const { tries, waitsMs, askedMs = 0, randomFraction: chance } = input;
  const waitMs = waitsMs[tries];
  if (waitMs === undefined) return undefined;
  const jittered = waitMs * (1 - jitter + 2 * jitter * chance);
  return Math.round(Math.max(jittered, Math.min(askedMs, askedMaxMs)));
}

/** Parses Retry-After: seconds, or a date. Returns the wait from now on. Anything else is ignored. */
export function readRetryAfter(headers: readonly Header[], nowMs: number): number | undefined {
  const text = headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1].trim();
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return undefined;
  // The oldest date format has no zone and means GMT; Date.parse would read it as local time.
  const dateMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(dateMs) ? undefined : dateMs - nowMs;
}
