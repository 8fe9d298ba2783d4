// The circuit breaker of a lane: after several failures in a row, a lane gets one delivery at a time,
// the probe, at growing intervals. A success closes it. Pure: lane.ts applies it, and
// store/verbs/subscriptions/failing-receivers.ts disables what has failed for days.
import { limits } from '../limits/limits.ts';

/** The part of a lane that the breaker knows. */
interface Breaker {
  /** Of the lane, not of the breaker: that is open after `brokenAfter` failures. */
  state: 'active' | 'held' | 'ended';
  ordered: boolean;
  /** No attempt before this time. */
  gateMs: number;
  /** Rate limit: time per delivery. */
  intervalMs: number | undefined;
  /** Consecutive failures. */
  failures: number;
  /** Time of the first failure since the last success. */
  failingMs: number | undefined;
}

/** Consecutive failures after which the breaker opens: the lane gets one delivery at a time. */
export const brokenAfter = 10;
/** Time between two probes of a broken lane. */
export const probeMs = 20_000;
/**
 * Twice the longest attempt: an attempt that began this long after the first failure is not part of
 * one bad moment.
 */
const staleMs = 120_000;
const breakLeastMs = 30_000;
const breakMostMs = 15 * 60_000;

/** The failures of a lane after one of its deliveries ended or was released. */
export function failuresAfter(
  lane: Breaker,
  nowMs: number,
  outcome: { kind: 'failed'; startedMs: number } | { kind: 'delivered' | 'cancelled' | 'released' },
): Pick<Breaker, 'failures' | 'failingMs'> {
  const { failures, failingMs } = lane;
  if (outcome.kind === 'delivered') return { failures: 0, failingMs: undefined };
  if (outcome.kind !== 'failed' || isStale(lane, outcome)) return { failures, failingMs };
  return { failures: failures + 1, failingMs: failingMs ?? nowMs };
}

/**
 * Whether a failure of a broken lane does not count. Only the failure of the probe counts: of an
 * attempt that began after the claim that let it through. That claim set the gate to `probeMs`
 * later, or to the time that the rate allows, rounded up. Attempts that were in flight when the
 * lane broke began earlier. If they counted, one bad second would block a fast lane for the longest
 * time.
 *
 * An attempt that takes longer than `probeMs` is overtaken by the next probe, which moves the gate.
 * So an attempt that began `staleMs` after the first failure always counts.
 */
function isStale(lane: Breaker, { startedMs }: { startedMs: number }): boolean {
  if (lane.ordered || lane.failures < brokenAfter) return false;
  if (startedMs >= (lane.failingMs ?? Infinity) + staleMs) return false;
  return startedMs < lane.gateMs - Math.max(probeMs, lane.intervalMs ?? 0) - 1;
}

/** How long the breaker stays open after so many consecutive failures. */
export function breakMs(failures: number): number {
  return Math.min(breakLeastMs * 2 ** Math.min(failures - brokenAfter, 10), breakMostMs);
}

/**
 * Whether the lane has failed for so long that its subscription should be disabled, unless another
 * of its lanes works. Only a broken lane counts: two failures that are five days apart
 * are not five days of failure.
 */
export function isOverdue(
  { state, failures, failingMs }: Pick<Breaker, 'state' | 'failures' | 'failingMs'>,
  nowMs: number,
): boolean {
  if (state !== 'active' || failures < brokenAfter || failingMs === undefined) return false;
  return nowMs - failingMs >= limits.disableAfterMs;
}
