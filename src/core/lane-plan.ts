// Which lanes a subscription has, and what a change of its controls does to them. A lane is ordered or
// not for all its life, because in an ordered one `due_ms` is an order number; everything else may change
// under what waits in it. Pure, like the rules of lanes.
import type { Controls } from './controls.ts';
import type { Lane, LaneTimes } from './lane.ts';
import { brokenAfter, limitedUntilMs, never } from './lane.ts';

export type LaneControls = Pick<Controls, 'ordered' | 'ratePerSecond' | 'concurrency'>;

/** A lane that is there, or the `index`th of those to be made. */
export type Place = { kind: 'there'; no: number } | { kind: 'new'; index: number };

/** Time per delivery; undefined: no limit. */
export function intervalOf({ ratePerSecond }: LaneControls): number | undefined {
  return ratePerSecond === undefined ? undefined : 1_000 / ratePerSecond;
}

/**
 * For each callback, of which the present lane is given if it has one, the lane of its new deliveries. An
 * ordered or rate-limited subscription has one for all of them, any other one for each. Lanes that were
 * left before are used again, so there are never more than one for each callback and an ordered one.
 */
export function planLanes(
  lanes: readonly Pick<Lane, 'no' | 'ordered'>[],
  callbacks: readonly (number | undefined)[],
  { ordered, ratePerSecond }: LaneControls,
): Place[] {
  const fit = lanes.filter((lane) => lane.ordered === ordered).map(({ no }) => no);
  if (ordered || ratePerSecond !== undefined) {
    const [first] = fit;
    const shared: Place =
      first === undefined ? { kind: 'new', index: 0 } : { kind: 'there', no: first };
    return callbacks.map(() => shared);
  }
  // Whoever comes first in a lane of several keeps it; so everybody comes back to his own.
  const kept = new Set(callbacks.filter((no) => no !== undefined && fit.includes(no)));
  const others = fit.filter((no) => !kept.has(no));
  let made = 0;
  return callbacks.map((no): Place => {
    if (no !== undefined && kept.delete(no)) return { kind: 'there', no };
    const other = others.shift();
    if (other !== undefined) return { kind: 'there', no: other };
    made += 1;
    return { kind: 'new', index: made - 1 };
  });
}

/**
 * A lane under another rate limit, from now on: what waits in it does not wait for the old one. A breaker
 * keeps its time. So does the retry that the first of an ordered lane waits for, unless the old limit was
 * slower than that: then it may come sooner.
 */
export function relimit(lane: Lane, nowMs: number, intervalMs: number | undefined): LaneTimes {
  const { tatMs, failures, failingMs, readyMs } = lane;
  const same = { tatMs, failures, failingMs, gateMs: lane.gateMs, readyMs };
  const isRunning = lane.gateMs === never;
  if (isRunning || intervalMs === lane.intervalMs) return same;
  const limitedMs = limitedUntilMs({ intervalMs, tatMs });
  const isForLimit = failures < brokenAfter && lane.gateMs <= limitedUntilMs(lane);
  return openAt(lane, nowMs, { ...same, gateMs: isForLimit ? limitedMs : later(lane, limitedMs) });
}

/**
 * A lane that callbacks come to which were elsewhere before. Whoever failed here long ago says nothing of
 * them, so its breaker begins anew. `tatMs`: what has been used up of the rate elsewhere.
 */
export function enterAnew(lane: Lane, nowMs: number, tatMs: number): LaneTimes {
  const isBroken = lane.failures >= brokenAfter;
  const limited = { intervalMs: lane.intervalMs, tatMs: Math.max(lane.tatMs, tatMs) };
  const limitedMs = limitedUntilMs(limited);
  const isRunning = lane.gateMs === never;
  const gateMs = isBroken && !isRunning ? limitedMs : later(lane, limitedMs);
  const fresh = { failures: 0, failingMs: undefined, tatMs: limited.tatMs };
  return openAt(lane, nowMs, { ...fresh, gateMs, readyMs: lane.readyMs });
}

function later({ gateMs }: Lane, limitedMs: number): number {
  return Math.max(gateMs, limitedMs);
}

/** Nothing waits in a lane that is never ready, or whoever opens it will say so. */
function openAt(lane: Lane, nowMs: number, times: LaneTimes): LaneTimes {
  const { readyMs, gateMs } = times;
  if (readyMs === never) return times;
  const soonMs = gateMs < lane.gateMs ? nowMs : readyMs;
  return { ...times, readyMs: Math.max(gateMs, Math.min(readyMs, soonMs)) };
}
