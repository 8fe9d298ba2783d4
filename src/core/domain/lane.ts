// The rules of lanes. A lane is the queue of one receiver, and `readyMs` says when a claim must
// look at it next. The rules keep one promise: a lane with a pending delivery is ready at some
// time, or is held, or (if ordered) has its head in flight. Pure, so that both databases apply the
// same rules. The breaker of a lane is in circuit-breaker.ts, its rate limit in rate-limit.ts.
import { breakMs, brokenAfter, failuresAfter, probeMs } from './circuit-breaker.ts';
import { limitedUntilMs, roomWithinRate, tatAfter, type RateLimited } from './rate-limit.ts';

/** No time at all: the largest integer that SQL, JSON and JavaScript agree on. */
export const never = 9_007_199_254_740_991;

export interface Lane extends RateLimited {
  no: number;
  appNo: number;
  state: 'active' | 'held' | 'ended';
  ordered: boolean;
  /** No attempt before this time: breaker, rate limit, or the running head of an ordered lane. */
  gateMs: number;
  readyMs: number;
  /** Deliveries in flight at a time on one node, if the subscription limits them. */
  concurrency: number | undefined;
  failures: number;
  /** Time of the first failure since the last success. */
  failingMs: number | undefined;
  /** Version of the subscription that the lane belongs to. */
  version: number;
}

/** What a look, a wake or a settlement changes in a lane's row. */
export type LaneTimes = Pick<Lane, 'gateMs' | 'readyMs' | 'tatMs' | 'failures' | 'failingMs'>;

/** The outcome of a delivery, as far as its lane is concerned. */
export type LaneOutcome =
  | { kind: 'delivered' | 'cancelled' }
  | { kind: 'released'; dueMs: number }
  /** `dueMs` is undefined when the delivery is dead. */
  | { kind: 'failed'; dueMs: number | undefined; startedMs: number };

/**
 * Whether a fresh delivery may skip the claim and go straight to the wire. A lane that is not ready
 * has nothing due, so the fresh one overtakes no other. Without this check, fresh events would
 * starve the lane's own backlog.
 */
export function acceptsFresh(lane: Lane, nowMs: number): boolean {
  if (lane.state !== 'active' || lane.ordered || lane.intervalMs !== undefined) return false;
  return lane.failures < brokenAfter && lane.gateMs <= nowMs && lane.readyMs > nowMs;
}

/**
 * How many deliveries a claim may take when it looks at the lane. `free`: slots that the node has
 * left for it.
 */
export function claimRoom(
  lane: Lane,
  nowMs: number,
  { free, quantum }: { free: number; quantum: number },
): number {
  let most = Math.min(free, quantum);
  if (lane.ordered || lane.failures >= brokenAfter) most = Math.min(most, 1);
  return Math.max(Math.min(most, roomWithinRate(lane, nowMs)), 0);
}

/**
 * The lane after a look that took `took` deliveries. `nextMs` is when the first remaining one is
 * due. In an ordered lane any value will do: the first remaining one is next, whatever its number.
 */
export function laneAfterClaim(
  lane: Lane,
  nowMs: number,
  { took, nextMs }: { took: number; nextMs: number | undefined },
): LaneTimes {
  const { failures, failingMs, intervalMs } = lane;
  const after = { failures, failingMs, tatMs: tatAfter(lane, nowMs, took), gateMs: lane.gateMs };
  if (intervalMs !== undefined) after.gateMs = limitedUntilMs({ intervalMs, tatMs: after.tatMs });
  if (lane.ordered && took > 0) return { ...after, gateMs: never, readyMs: never };
  if (failures >= brokenAfter && took > 0) after.gateMs = Math.max(after.gateMs, nowMs + probeMs);
  if (nextMs === undefined) return { ...after, readyMs: never };
  const dueMs = lane.ordered ? nowMs : nextMs;
  return { ...after, readyMs: Math.max(dueMs, nowMs, after.gateMs) };
}

/** What is known about an idle lane in a database that several nodes write to. */
export interface Quiet {
  /** Since when looks have left nothing due; undefined after any other write to the lane. */
  sinceMs: number | undefined;
  /** The look that set `sinceMs` had committed before the transaction of this look began. */
  isOlder: boolean;
  /** A second look found nothing due either, and left its mark. */
  isMarked: boolean;
  /** Every transaction that was open at the mark has ended. */
  isSure: boolean;
}

/** What a look does to the marks: remove them, set the first or the second one, or leave them. */
export type QuietStep = 'none' | 'start' | 'mark' | 'keep';

/**
 * When to look again at a lane that looks empty, in a database that several nodes write to. The
 * look cannot see uncommitted deliveries, and a transaction that adds one to a ready lane writes
 * nothing to the lane. So the lane becomes idle in three steps:
 *
 * 1. A look finds nothing due. The lane stays ready, and is looked at again, less and less often.
 * 2. A second look finds nothing due. Its transaction began after the first look committed, so a
 *    transaction that added a delivery silently has a lower number. It marks the lane with its own.
 * 3. A look after the end of every transaction that was open at the mark finds nothing due: idle.
 *
 * A lane that becomes idle after the first empty look strands deliveries: docs/performance.md has
 * the experiment.
 */
export function postponeIdle(
  times: LaneTimes,
  nowMs: number,
  { took, nextMs, quiet, lingerMs }: PostponeIdle,
): { readyMs: number; quiet: QuietStep } {
  const { readyMs, gateMs } = times;
  const isDue = nextMs !== undefined && nextMs <= nowMs;
  if (isDue || gateMs === never) return { readyMs, quiet: 'none' };
  if (took === 0 && quiet.isSure) return { readyMs, quiet: 'none' };
  const sinceMs = quiet.sinceMs ?? nowMs;
  const waitMs = Math.max(lingerMs.least, Math.min(nowMs - sinceMs, lingerMs.most));
  const againMs = Math.max(nowMs + waitMs, gateMs);
  const isMarking = quiet.isOlder && !quiet.isMarked;
  const step = quiet.sinceMs === undefined ? 'start' : isMarking ? 'mark' : 'keep';
  return { readyMs: Math.min(readyMs, againMs), quiet: step };
}

export interface PostponeIdle {
  took: number;
  nextMs: number | undefined;
  quiet: Quiet;
  lingerMs: { least: number; most: number };
}

/** The lane after one of its deliveries ended or was released; undefined when nothing changes. */
export function laneAfterSettlement(
  lane: Lane,
  nowMs: number,
  outcome: LaneOutcome,
): LaneTimes | undefined {
  if (lane.state === 'ended') return undefined;
  const { failures, failingMs } = failuresAfter(lane, nowMs, outcome);
  const gateMs = gateAfter(lane, { nowMs, outcome, failures });
  const readyMs = wokenReadyMs(
    { ...lane, gateMs },
    desiredReadyMs(lane, { nowMs, outcome, gateMs }),
  );
  const isSame =
    failures === lane.failures &&
    failingMs === lane.failingMs &&
    gateMs === lane.gateMs &&
    readyMs === lane.readyMs;
  return isSame ? undefined : { failures, failingMs, gateMs, readyMs, tatMs: lane.tatMs };
}

/**
 * The lane after its first pending delivery expired; undefined when nothing changes. An ordered
 * lane may be waiting hours for that delivery and must stop. A breaker keeps its time.
 */
export function laneAfterHeadExpired(lane: Lane, nowMs: number): LaneTimes | undefined {
  const isRunning = lane.gateMs === never;
  if (!lane.ordered || isRunning || lane.state === 'ended') return undefined;
  const { failures, failingMs, tatMs } = lane;
  const isBroken = failures >= brokenAfter;
  const brokenMs = isBroken ? Math.min(lane.gateMs, nowMs + breakMs(failures)) : 0;
  const gateMs = Math.max(limitedUntilMs(lane), brokenMs);
  return { failures, failingMs, tatMs, gateMs, readyMs: wokenReadyMs({ ...lane, gateMs }, nowMs) };
}

/** When a claim must look at the lane, given a delivery that is due at `dueMs`. */
export function wokenReadyMs(
  lane: Pick<Lane, 'state' | 'gateMs' | 'readyMs'>,
  dueMs: number,
): number {
  if (lane.state !== 'active') return never;
  return Math.max(lane.gateMs, Math.min(lane.readyMs, dueMs));
}

interface SettledLane {
  nowMs: number;
  outcome: LaneOutcome;
}

function gateAfter(
  lane: Lane,
  { nowMs, outcome, failures }: SettledLane & { failures: number },
): number {
  const limitedMs = limitedUntilMs(lane);
  const hasFailed = failures > lane.failures;
  const isBroken = failures >= brokenAfter;
  const brokenMs = isBroken && hasFailed ? nowMs + breakMs(failures) : 0;
  if (lane.ordered) {
    // The delivery keeps its place, and the lane waits for it.
    const dueMs = 'dueMs' in outcome ? outcome.dueMs : undefined;
    return Math.max(dueMs ?? 0, limitedMs, brokenMs);
  }
  return isBroken && !hasFailed ? lane.gateMs : Math.max(limitedMs, brokenMs);
}

/** When the lane should be looked at; its gate may delay that. */
function desiredReadyMs(
  lane: Lane,
  { nowMs, outcome, gateMs }: SettledLane & { gateMs: number },
): number {
  if (lane.ordered) return nowMs;
  if ('dueMs' in outcome && outcome.dueMs !== undefined) return outcome.dueMs;
  // Nothing was added. Pending deliveries may be sent sooner if the gate moved.
  return lane.readyMs < never && gateMs < lane.gateMs ? nowMs : lane.readyMs;
}
