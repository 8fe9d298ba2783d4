// The health of a subscription's receivers as users see it, derived from its lanes. Pure.
import { brokenAfter } from './circuit-breaker.ts';
import { never, type Lane } from './lane.ts';

export interface Health {
  /**
   * `open`: the circuit breaker of a receiver is open; it gets one delivery at a time until one
   * succeeds.
   */
  state: 'ok' | 'failing' | 'open';
  /** Consecutive failures of the worst receiver. */
  failures: number;
  failingMs: number | undefined;
  /**
   * When a failing receiver is tried next; undefined when nothing is pending for it, or an attempt
   * is in flight.
   */
  nextAttemptMs: number | undefined;
}

export interface LaneHealth extends Pick<
  Lane,
  'state' | 'ordered' | 'gateMs' | 'failures' | 'failingMs'
> {
  /** When the first pending delivery of the lane is due. */
  dueMs: number | undefined;
}

export function healthOf(lanes: readonly LaneHealth[]): Health {
  const failing = lanes.filter(({ state, failures }) => state !== 'ended' && failures > 0);
  const failures = Math.max(0, ...failing.map((lane) => lane.failures));
  return {
    state: healthState(failures),
    failures,
    failingMs: earliest(failing.map(({ failingMs }) => failingMs)),
    nextAttemptMs: earliest(failing.map(nextAttemptMs)),
  };
}

/** By the consecutive failures of the worst receiver. */
export function healthState(failures: number): Health['state'] {
  if (failures === 0) return 'ok';
  return failures < brokenAfter ? 'failing' : 'open';
}

/** In an ordered lane `dueMs` is an order number, so only the gate is a time. */
function nextAttemptMs({ state, ordered, gateMs, dueMs }: LaneHealth): number | undefined {
  if (state !== 'active' || dueMs === undefined || gateMs === never) return undefined;
  return ordered ? gateMs : Math.max(gateMs, dueMs);
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
