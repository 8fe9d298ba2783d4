// Lane rules. A lane is the queue of one receiver: `readyMs` says when a claim must look here next, and
// the rules keep one promise: a lane with a waiting delivery is ready some day, or is held, or (ordered)
// has its first delivery running. Pure, so that every database runs the same rules.

/** No time at all. The largest integer that SQL, JSON and JavaScript agree on. */
export const never = 9_007_199_254_740_991;

/** Consecutive failures from which a lane gets one delivery at a time. */
export const brokenAfter = 10;
const probeMs = 20_000;
const breakMs = 30_000;
const breakMaxMs = 15 * 60_000;
const burstMs = 1_000;

export interface Lane {
  no: number;
  state: 'open' | 'held' | 'ended';
  ordered: boolean;
  /** Not before: breaker, rate limit, or the running head of an ordered lane. */
  gateMs: number;
  readyMs: number;
  /** Rate limit (GCRA): time per delivery, and the theoretical arrival time. */
  intervalMs: number | undefined;
  tatMs: number;
  failures: number;
  /** Since when it fails without a success in between. */
  failingMs: number | undefined;
}

/** What a look, a wake or a settlement changes in a lane's row. */
export type LaneTimes = Pick<Lane, 'gateMs' | 'readyMs' | 'tatMs' | 'failures' | 'failingMs'>;

/** How many deliveries one look may take. `free`: slots that the node has left for the lane. */
export function room(
  lane: Lane,
  nowMs: number,
  { free, quantum }: { free: number; quantum: number },
): number {
  let most = Math.min(free, quantum);
  if (lane.ordered || lane.failures >= brokenAfter) most = Math.min(most, 1);
  if (lane.intervalMs !== undefined) {
    const saved = nowMs - Math.max(lane.tatMs, nowMs - burstMs);
    most = Math.min(most, Math.floor(saved / lane.intervalMs));
  }
  return Math.max(most, 0);
}

/** The lane after a look that took `took` deliveries; `nextMs` is when the first one left is due. */
export function look(
  lane: Lane,
  nowMs: number,
  { took, nextMs }: { took: number; nextMs: number | undefined },
): LaneTimes {
  const { failures, failingMs, intervalMs } = lane;
  const after = { failures, failingMs, tatMs: lane.tatMs, gateMs: lane.gateMs };
  if (lane.ordered && took > 0) return { ...after, gateMs: never, readyMs: never };
  if (intervalMs !== undefined) {
    after.tatMs = Math.max(lane.tatMs, nowMs - burstMs) + took * intervalMs;
    after.gateMs = Math.ceil(after.tatMs + intervalMs);
  }
  if (failures >= brokenAfter && took > 0) after.gateMs = Math.max(after.gateMs, nowMs + probeMs);
  if (nextMs === undefined) return { ...after, readyMs: never };
  return { ...after, readyMs: Math.max(nextMs, nowMs, after.gateMs) };
}

/** The lane after a delivery of it ended or goes back; undefined when nothing changes. */
export function settled(
  lane: Lane,
  nowMs: number,
  outcome:
    | { kind: 'delivered' | 'cancelled' | 'released' }
    | { kind: 'failed'; dueMs: number | undefined },
): LaneTimes | undefined {
  const { kind } = outcome;
  const isHealthy = lane.failures === 0 && !lane.ordered;
  if (kind !== 'failed' && isHealthy && lane.gateMs <= nowMs && kind !== 'released') {
    return undefined;
  }
  const isFailure = kind === 'failed';
  const failures = isFailure ? lane.failures + 1 : kind === 'delivered' ? 0 : lane.failures;
  const failingMs = failures === 0 ? undefined : (lane.failingMs ?? nowMs);
  const gateMs = gateAfter(lane, nowMs, outcome, failures);
  const wishMs = isFailure && outcome.dueMs !== undefined ? outcome.dueMs : nowMs;
  return {
    failures,
    failingMs,
    gateMs,
    tatMs: lane.tatMs,
    readyMs: wake({ ...lane, gateMs }, wishMs),
  };
}

/** When the lane must be looked at, given a delivery that is due at `dueMs`. */
export function wake(lane: Pick<Lane, 'state' | 'gateMs' | 'readyMs'>, dueMs: number): number {
  if (lane.state !== 'open') return never;
  return Math.max(lane.gateMs, Math.min(lane.readyMs, dueMs));
}

function gateAfter(
  lane: Lane,
  nowMs: number,
  outcome: Parameters<typeof settled>[2],
  failures: number,
): number {
  const limited = lane.intervalMs === undefined ? 0 : Math.ceil(lane.tatMs + lane.intervalMs);
  if (lane.ordered) {
    // The delivery keeps its place; the lane waits for it.
    const dueMs = outcome.kind === 'failed' ? outcome.dueMs : undefined;
    return Math.max(dueMs ?? 0, limited);
  }
  if (failures < brokenAfter) return limited;
  if (outcome.kind !== 'failed') return lane.gateMs;
  const doublings = Math.min(failures - brokenAfter, 10);
  return Math.max(nowMs + Math.min(breakMs * 2 ** doublings, breakMaxMs), limited);
}
