// Decides when a delivery is retried. The operator sets the schedule; a receiver may ask for more
// time, within bounds, but never for less. The default schedule is `retry` in config/settings.ts; a
// subscription may have its own (controls.ts).
import type { Header } from './attempt.ts';

const jitter = 0.2;
const askedMaxMs = 24 * 60 * 60 * 1000;

export interface RetryInput {
  /** Attempts before the one that just failed. */
  tries: number;
  waitsMs: readonly number[];
  nowMs: number;
  /** The time that the receiver asked for with Retry-After. */
  askedMs: number | undefined;
  /** Random number from 0 up to 1, for the jitter. */
  randomFraction: number;
}

/** The time of the next attempt; undefined when the schedule is exhausted. */
export function nextDueMs(input: RetryInput): number | undefined {
  const { tries, waitsMs, nowMs, askedMs, randomFraction: chance } = input;
  const waitMs = waitsMs[tries];
  if (waitMs === undefined) return undefined;
  const jittered = nowMs + waitMs * (1 - jitter + 2 * jitter * chance);
  const asked = Math.min(askedMs ?? 0, nowMs + askedMaxMs);
  return Math.round(Math.max(jittered, asked));
}

/** Parses Retry-After: seconds from now, or a date. Anything else is ignored. */
export function readRetryAfter(headers: readonly Header[], nowMs: number): number | undefined {
  const text = headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1].trim();
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return nowMs + Number(text) * 1000;
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return undefined;
  // The oldest date format has no zone and means GMT; Date.parse would read it as local time.
  const dateMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(dateMs) ? undefined : dateMs;
}
