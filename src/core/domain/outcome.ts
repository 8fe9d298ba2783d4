// Decides what an attempt means. Pure: takes the network result, the schedule and the clock, and
// returns one of four outcomes.
import type { AttemptError, SendResult } from './attempt.ts';
import { nextWaitMs, readRetryAfter } from './retry.ts';

export type Outcome =
  | { kind: 'delivered' }
  | { kind: 'retry'; waitMs: number }
  | { kind: 'dead'; reason: 'exhausted' }
  /**
   * The receiver wants no more callbacks: the subscription ends, in the transaction that stores the
   * outcome (store/verbs/subscriptions/end-subscription.ts). If the target has changed since the
   * attempt began, it is retried instead (`settle` in engine/deliver/attempt.ts).
   */
  | { kind: 'gone' };

/** 410 Gone ends the subscription, unless the contract names another status for that (contract/compile/callbacks.ts). */
export const goneStatus = 410;

export interface Circumstances {
  /** Attempts before this one, since the delivery last became due by hand. */
  tries: number;
  /** Waits between attempts. */
  waitsMs: readonly number[];
  /** The receiver's status that ends the subscription. */
  unsubscribeStatus: number;
  nowMs: number;
  /** Random number from 0 up to 1: the jitter of the next attempt. Drawn only after a failure. */
  randomFraction: () => number;
}

export function classify(result: SendResult, circumstances: Circumstances): Outcome {
  const { unsubscribeStatus, nowMs } = circumstances;
  const status = result.kind === 'answered' ? result.status : undefined;
  // Checked first, because a contract may unsubscribe with a 2xx (the OAI example uses 204).
  if (status === unsubscribeStatus) return { kind: 'gone' };
  if (status !== undefined && status >= 200 && status <= 299) return { kind: 'delivered' };
  const asked = result.kind === 'answered' ? readRetryAfter(result.headers, nowMs) : undefined;
  const waitMs = nextWaitMs({
    ...circumstances,
    askedMs: asked,
    randomFraction: circumstances.randomFraction(),
  });
  return waitMs === undefined ? { kind: 'dead', reason: 'exhausted' } : { kind: 'retry', waitMs };
}

/** The error name of an attempt; undefined for a success. */
export function errorOf(result: SendResult, unsubscribeStatus: number): AttemptError | undefined {
  if (result.kind === 'failed') return result.error;
  const { status } = result;
  if ((status >= 200 && status <= 299) || status === unsubscribeStatus) return undefined;
  return status >= 300 && status <= 399 ? 'redirect' : 'status';
}
