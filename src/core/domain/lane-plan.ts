// Which lanes a subscription has, and what a change of its controls does to them. A lane is created
// ordered or unordered and stays so, because in an ordered one `due_ms` is an order number.
// Anything else may change while deliveries are pending in it. Pure, like the rules in lane.ts.
import type { Controls } from './controls.ts';
import type { Lane, LaneTimes } from './lane.ts';
import { brokenAfter } from './circuit-breaker.ts';
import { never } from './lane.ts';
import { limitedUntilMs } from './rate-limit.ts';

export type LaneControls = Pick<Controls, 'ordered' | 'ratePerSecond' | 'concurrency'>;

/** An existing lane, or the `index`th of those to be created. */
export type LaneChoice = { kind: 'existing'; no: number } | { kind: 'new'; index: number };

/**
 * Chooses the lane for new deliveries of each callback; `callbacks` has the present lane of each,
 * if it has one. An ordered or rate-limited subscription has one lane for all callbacks, any other
 * one lane for each. Abandoned lanes are reused, so there are never more than one per callback and
 * an ordered one.
 */
export function planLanes(
  lanes: readonly Pick<Lane, 'no' | 'ordered'>[],
  callbacks: readonly (number | undefined)[],
  { ordered, ratePerSecond }: LaneControls,
): LaneChoice[] {
  const fit = lanes.filter((lane) => lane.ordered === ordered).map(({ no }) => no);
  if (ordered || ratePerSecond !== undefined) {
    const [first] = fit;
    const shared: LaneChoice =
      first === undefined ? { kind: 'new', index: 0 } : { kind: 'existing', no: first };
    return callbacks.map(() => shared);
  }
  // The first callback of a shared lane keeps it, so every callback gets its own lane back.
  const kept = new Set(callbacks.filter((no) => no !== undefined && fit.includes(no)));
  const others = fit.filter((no) => !kept.has(no));
  let made = 0;
  return callbacks.map((no): LaneChoice => {
    if (no !== undefined && kept.delete(no)) return { kind: 'existing', no };
    const other = others.shift();
    if (other !== undefined) return { kind: 'existing', no: other };
    made += 1;
    return { kind: 'new', index: made - 1 };
  });
}

/**
 * Puts a lane under another rate limit from now on: pending deliveries do not wait for the old one.
 * A breaker keeps its time. So does the retry that the head of an ordered lane waits for, unless
 * the old limit would have delayed it beyond that: then it may come sooner.
 */
export function laneAfterRateChange(
  lane: Lane,
  nowMs: number,
  intervalMs: number | undefined,
): LaneTimes {
  const { tatMs, failures, failingMs, readyMs } = lane;
  const same = { tatMs, failures, failingMs, gateMs: lane.gateMs, readyMs };
  const isRunning = lane.gateMs === never;
  if (isRunning || intervalMs === lane.intervalMs) return same;
  const limitedMs = limitedUntilMs({ intervalMs, tatMs });
  const isForLimit = failures < brokenAfter && lane.gateMs <= limitedUntilMs(lane);
  return withReadyMs(lane, nowMs, {
    ...same,
    gateMs: isForLimit ? limitedMs : laterGateMs(lane, limitedMs),
  });
}

/**
 * The times of a lane that callbacks from other lanes move to. Earlier failures say nothing about
 * them, so the breaker is reset. `tatMs`: the part of the rate that was used in the other lanes.
 */
export function laneAfterMoveIn(lane: Lane, nowMs: number, tatMs: number): LaneTimes {
  const isBroken = lane.failures >= brokenAfter;
  const limited = { intervalMs: lane.intervalMs, tatMs: Math.max(lane.tatMs, tatMs) };
  const limitedMs = limitedUntilMs(limited);
  const isRunning = lane.gateMs === never;
  const gateMs = isBroken && !isRunning ? limitedMs : laterGateMs(lane, limitedMs);
  const fresh = { failures: 0, failingMs: undefined, tatMs: limited.tatMs };
  return withReadyMs(lane, nowMs, { ...fresh, gateMs, readyMs: lane.readyMs });
}

function laterGateMs({ gateMs }: Lane, limitedMs: number): number {
  return Math.max(gateMs, limitedMs);
}

/** A lane that is never ready has nothing pending, or is held and will be woken when it is active again. */
function withReadyMs(lane: Lane, nowMs: number, times: LaneTimes): LaneTimes {
  const { readyMs, gateMs } = times;
  if (readyMs === never) return times;
  const readyNowMs = gateMs < lane.gateMs ? nowMs : readyMs;
  return { ...times, readyMs: Math.max(gateMs, Math.min(readyMs, readyNowMs)) };
}
