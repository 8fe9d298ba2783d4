// Lane rules. A lane is the queue of one receiver: `readyMs` says when a claim must look here next, and
// the rules keep one promise: a lane with a waiting delivery is ready some day, or is held, or (ordered)
// has its first delivery running. Pure, so that every database runs the same rules.
import { limits } from './limits.ts';

/** No time at all. The largest integer that SQL, JSON and JavaScript agree on. */
export const never = 9_007_199_254_740_991;

/** Consecutive failures from which a lane gets one delivery at a time. */
export const brokenAfter = 10;
const probeMs = 20_000;
/** Twice the longest attempt: what began so long after the first failure is no part of one bad moment. */
const newsMs = 120_000;
const breakMs = 30_000;
const breakMaxMs = 15 * 60_000;
const burstMs = 1_000;
/** Times of today are kept to a quarter of a microsecond; what is that close is meant to be equal. */
const slackMs = 0.01;

export interface Lane {
  no: number;
  appNo: number;
  state: 'open' | 'held' | 'ended';
  ordered: boolean;
  /** Not before: breaker, rate limit, or the running head of an ordered lane. */
  gateMs: number;
  readyMs: number;
  /** Rate limit (GCRA): time per delivery, and the theoretical arrival time. */
  intervalMs: number | undefined;
  tatMs: number;
  /** Deliveries under way at a time on one node, if the subscription says so. */
  concurrency: number | undefined;
  failures: number;
  /** Since when it fails without a success in between. */
  failingMs: number | undefined;
  /** Of the subscription that it belongs to. */
  version: number;
}

/** What a look, a wake or a settlement changes in a lane's row. */
export type LaneTimes = Pick<Lane, 'gateMs' | 'readyMs' | 'tatMs' | 'failures' | 'failingMs'>;

/** What became of a delivery, as its lane sees it. */
export type LaneOutcome =
  | { kind: 'delivered' | 'cancelled' }
  | { kind: 'released'; dueMs: number }
  /** `dueMs` is undefined when it is dead. */
  | { kind: 'failed'; dueMs: number | undefined; startedMs: number };

/**
 * Whether a fresh delivery may go straight to the wire. A lane that is not ready has nothing due, so
 * nobody is overtaken: without that, fresh events would starve the lane's own backlog.
 */
export function takesFresh(lane: Lane, nowMs: number): boolean {
  if (lane.state !== 'open' || lane.ordered || lane.intervalMs !== undefined) return false;
  return lane.failures < brokenAfter && lane.gateMs <= nowMs && lane.readyMs > nowMs;
}

/** How many deliveries one look may take. `free`: slots that the node has left for the lane. */
export function room(
  lane: Lane,
  nowMs: number,
  { free, quantum }: { free: number; quantum: number },
): number {
  let most = Math.min(free, quantum);
  if (lane.ordered || lane.failures >= brokenAfter) most = Math.min(most, 1);
  if (lane.intervalMs !== undefined) {
    const savedMs = nowMs - savedFromMs(lane, nowMs);
    most = Math.min(most, Math.floor((savedMs + slackMs) / lane.intervalMs));
  }
  return Math.max(most, 0);
}

/**
 * The lane after a look that took `took` deliveries; `nextMs` is when the first one left is due, in an
 * ordered lane any time: the first one left is the next, whatever its number.
 */
export function look(
  lane: Lane,
  nowMs: number,
  { took, nextMs }: { took: number; nextMs: number | undefined },
): LaneTimes {
  const { failures, failingMs, intervalMs } = lane;
  const after = { failures, failingMs, tatMs: lane.tatMs, gateMs: lane.gateMs };
  if (intervalMs !== undefined) {
    after.tatMs = savedFromMs(lane, nowMs) + took * intervalMs;
    after.gateMs = limitedUntilMs({ intervalMs, tatMs: after.tatMs });
  }
  if (lane.ordered && took > 0) return { ...after, gateMs: never, readyMs: never };
  if (failures >= brokenAfter && took > 0) after.gateMs = Math.max(after.gateMs, nowMs + probeMs);
  if (nextMs === undefined) return { ...after, readyMs: never };
  const dueMs = lane.ordered ? nowMs : nextMs;
  return { ...after, readyMs: Math.max(dueMs, nowMs, after.gateMs) };
}

/** What is known of a lane that is quiet, where several nodes write at once. */
export interface Quiet {
  /** Since when looks have left nothing that was due; undefined after anybody else wrote to it. */
  sinceMs: number | undefined;
  /** Whoever said so had committed before the transaction of this look began. */
  isOlder: boolean;
  /** A second look has said so too, and left its mark. */
  isMarked: boolean;
  /** Every transaction that was under way at the mark has ended. */
  isSure: boolean;
}

/** What a look does to the marks: takes them away, makes the first or second one, leaves them. */
export type QuietStep = 'none' | 'start' | 'mark' | 'keep';

/**
 * A look in a database where several nodes write at once. A delivery that is not committed yet cannot be
 * seen, and whoever adds it found the lane ready and wrote nothing; so a lane that looks empty is not
 * put to rest at once. It lingers: it is looked at again and again, less and less often, until two looks
 * have found it quiet and all that was under way then has ended. Found by trial: put to rest at the
 * first empty look, 91 of 1,088 lanes were left with a delivery that nobody would ever see. The second
 * look marks the lane with its transaction's number, and whoever added something without a word must
 * have an older one; so that transaction must have begun after the first look was committed.
 */
export function linger(
  times: LaneTimes,
  nowMs: number,
  { took, nextMs, quiet, lingerMs }: Lingering,
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

export interface Lingering {
  took: number;
  nextMs: number | undefined;
  quiet: Quiet;
  lingerMs: { least: number; most: number };
}

/** The lane after a delivery of it ended or goes back; undefined when nothing changes. */
export function settled(lane: Lane, nowMs: number, outcome: LaneOutcome): LaneTimes | undefined {
  if (lane.state === 'ended') return undefined;
  const { failures, failingMs } = failuresAfter(lane, nowMs, outcome);
  const gateMs = gateAfter(lane, { nowMs, outcome, failures });
  const readyMs = wake({ ...lane, gateMs }, wishAfter(lane, { nowMs, outcome, gateMs }));
  const isSame =
    failures === lane.failures &&
    failingMs === lane.failingMs &&
    gateMs === lane.gateMs &&
    readyMs === lane.readyMs;
  return isSame ? undefined : { failures, failingMs, gateMs, readyMs, tatMs: lane.tatMs };
}

/**
 * Whether it has failed for so long that its subscription should be disabled, unless another lane of it
 * works. Only a broken one: two failures with five quiet days in between are not five days of failure.
 */
export function isOverdue(
  { state, failures, failingMs }: Pick<Lane, 'state' | 'failures' | 'failingMs'>,
  nowMs: number,
): boolean {
  if (state !== 'open' || failures < brokenAfter || failingMs === undefined) return false;
  return nowMs - failingMs >= limits.disableAfterMs;
}

/**
 * The lane after its first waiting delivery expired; undefined when nothing changes. Only an ordered lane
 * waits for that one, perhaps for hours, and must not do so any longer. A breaker keeps its time.
 */
export function headExpired(lane: Lane, nowMs: number): LaneTimes | undefined {
  const isRunning = lane.gateMs === never;
  if (!lane.ordered || isRunning || lane.state === 'ended') return undefined;
  const { failures, failingMs, tatMs } = lane;
  const isBroken = failures >= brokenAfter;
  const brokenMs = isBroken ? Math.min(lane.gateMs, nowMs + breakFor(failures)) : 0;
  const gateMs = Math.max(limitedUntilMs(lane), brokenMs);
  return { failures, failingMs, tatMs, gateMs, readyMs: wake({ ...lane, gateMs }, nowMs) };
}

/** When the lane must be looked at, given a delivery that is due at `dueMs`. */
export function wake(lane: Pick<Lane, 'state' | 'gateMs' | 'readyMs'>, dueMs: number): number {
  if (lane.state !== 'open') return never;
  return Math.max(lane.gateMs, Math.min(lane.readyMs, dueMs));
}

/**
 * From when on unused time counts: a second of it, or enough for one delivery. Of a slow lane a look comes
 * up to a millisecond after the next one may go. That is not unused time, or it would add up: at 0.7 a
 * second to a second in an hour.
 */
function savedFromMs({ tatMs, intervalMs = 0 }: Lane, nowMs: number): number {
  const fromMs = nowMs - Math.max(burstMs, intervalMs);
  const isInTime = intervalMs >= burstMs && fromMs - tatMs < 1;
  return isInTime ? tatMs : Math.max(tatMs, fromMs);
}

function failuresAfter(
  lane: Lane,
  nowMs: number,
  outcome: LaneOutcome,
): Pick<Lane, 'failures' | 'failingMs'> {
  const { failures, failingMs } = lane;
  if (outcome.kind === 'delivered') return { failures: 0, failingMs: undefined };
  if (outcome.kind !== 'failed' || isOldNews(lane, outcome)) return { failures, failingMs };
  return { failures: failures + 1, failingMs: failingMs ?? nowMs };
}

/**
 * A hundred attempts that were under way when the lane broke say nothing new: only the probe counts, or
 * one bad second would close a fast lane for the longest time. The probe started after its look, which
 * set the gate to `probeMs` later, or to what the rate allows, rounded up; any other attempt started before
 * the gate was set, to more than that. At a rate so slow that this is not sure, one at most is under way.
 * Attempts that take longer than `probeMs` are overtaken by the next probe. So what began when the lane had
 * failed for minutes counts in any case: that is more than a bad second.
 */
function isOldNews(lane: Lane, { startedMs }: { startedMs: number }): boolean {
  if (lane.ordered || lane.failures < brokenAfter) return false;
  if (startedMs >= (lane.failingMs ?? Infinity) + newsMs) return false;
  return startedMs < lane.gateMs - Math.max(probeMs, lane.intervalMs ?? 0) - 1;
}

interface After {
  nowMs: number;
  outcome: LaneOutcome;
}

function gateAfter(lane: Lane, { nowMs, outcome, failures }: After & { failures: number }): number {
  const limitedMs = limitedUntilMs(lane);
  const hasFailed = failures > lane.failures;
  const isBroken = failures >= brokenAfter;
  const brokenMs = isBroken && hasFailed ? nowMs + breakFor(failures) : 0;
  if (lane.ordered) {
    // The delivery keeps its place; the lane waits for it.
    const dueMs = 'dueMs' in outcome ? outcome.dueMs : undefined;
    return Math.max(dueMs ?? 0, limitedMs, brokenMs);
  }
  return isBroken && !hasFailed ? lane.gateMs : Math.max(limitedMs, brokenMs);
}

/** When the rate allows the next one. */
export function limitedUntilMs({ intervalMs, tatMs }: Pick<Lane, 'intervalMs' | 'tatMs'>): number {
  return intervalMs === undefined ? 0 : Math.ceil(tatMs + intervalMs - slackMs);
}

function breakFor(failures: number): number {
  return Math.min(breakMs * 2 ** Math.min(failures - brokenAfter, 10), breakMaxMs);
}

/** When the lane would like to be looked at; its gate may say later. */
function wishAfter(lane: Lane, { nowMs, outcome, gateMs }: After & { gateMs: number }): number {
  if (lane.ordered) return nowMs;
  if ('dueMs' in outcome && outcome.dueMs !== undefined) return outcome.dueMs;
  // Nothing new waits here. What waits already may come sooner when the gate has moved.
  return lane.readyMs < never && gateMs < lane.gateMs ? nowMs : lane.readyMs;
}
