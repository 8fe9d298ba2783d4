// Decides whether and when a call is retried. Pure.
import type { Operation } from './contract/operations.ts';
import { clientLimits } from './limits.ts';

export interface Failed {
  /** Undefined: no response arrived. */
  refusal: { status: number; code: string; retryAfterMs: number | undefined } | undefined;
  repeat: Operation['repeat'];
  /** Attempts so far, including this one. */
  tries: number;
  retries: number;
  /** At least 0, below 1. */
  random: number;
}

/** Delay before the next attempt; undefined if there must be none. */
export function nextTryMs({ refusal, repeat, tries, retries, random }: Failed): number | undefined {
  if (tries > retries) return undefined;
  if (refusal === undefined) return repeat === 'once' ? undefined : growing(tries, random);
  if (!mayPass(refusal) || (repeat === 'once' && !wasNotDone(refusal))) return undefined;
  const { retryAfterMs } = refusal;
  if (retryAfterMs === undefined) return growing(tries, random);
  if (retryAfterMs > clientLimits.retryAfterMsMax) return undefined;
  // Clients that were rejected together should not return together.
  return retryAfterMs + random * clientLimits.waitMs;
}

/** Errors that may go away soon. A used-up quota does not. */
export function mayPass({ status, code }: { status: number; code: string }): boolean {
  return status === 429
    ? code !== 'quota_exceeded'
    : status === 502 || status === 503 || status === 504;
}

/** The service states that it did nothing, so even a call that must not run twice can be repeated. */
function wasNotDone({ status, code }: { status: number; code: string }): boolean {
  return status === 429 || code === 'overloaded';
}

function growing(tries: number, random: number): number {
  const { waitMs, waitMsMax } = clientLimits;
  const full = Math.min(waitMsMax, waitMs * 2 ** (tries - 1));
  return (full / 2) * (1 + random);
}

/** `Retry-After` in seconds or as a date. Undefined if it cannot be parsed. */
export function readRetryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const untilMs = /^[A-Z][a-z]{2}, .* GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(untilMs) ? undefined : Math.max(0, untilMs - nowMs);
}
