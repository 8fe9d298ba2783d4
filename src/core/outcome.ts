// What an attempt means. Pure: the result of the network, the schedule and the clock go in, one of
// four outcomes comes out.
import type { AttemptError, SendResult } from './attempt.ts';
import { nextDueMs, readRetryAfter } from './retry.ts';

export type Outcome =
  | { kind: 'delivered' }
  | { kind: 'retry'; dueMs: number }
  | { kind: 'dead'; reason: 'exhausted' }
  /** The receiver wants no more: the subscription ends. */
  | { kind: 'gone' };

export interface Circumstances {
  /** Attempts that were made before this one, since it last became due by hand. */
  tries: number;
  /** Waits between attempts. */
  waitsMs: readonly number[];
  /** The receiver's status that ends the subscription. */
  unsubscribeStatus: number;
  nowMs: number;
  /** From 0 up to 1: where in the jitter the next attempt falls. Drawn only after a failure. */
  chance: () => number;
}

export function classify(result: SendResult, circumstances: Circumstances): Outcome {
  const { unsubscribeStatus, nowMs } = circumstances;
  const status = result.kind === 'answered' ? result.status : undefined;
  // A contract may unsubscribe by a 2xx (the OAI example uses 204), so this is asked first.
  if (status === unsubscribeStatus) return { kind: 'gone' };
  if (status !== undefined && status >= 200 && status <= 299) return { kind: 'delivered' };
  const asked = result.kind === 'answered' ? readRetryAfter(result.headers, nowMs) : undefined;
  const dueMs = nextDueMs({ ...circumstances, askedMs: asked, chance: circumstances.chance() });
  return dueMs === undefined ? { kind: 'dead', reason: 'exhausted' } : { kind: 'retry', dueMs };
}

/** The error's name of an attempt, or undefined when it was a success. */
export function errorOf(result: SendResult, unsubscribeStatus: number): AttemptError | undefined {
  if (result.kind === 'failed') return result.error;
  const { status } = result;
  if ((status >= 200 && status <= 299) || status === unsubscribeStatus) return undefined;
  return status >= 300 && status <= 399 ? 'redirect' : 'status';
}
