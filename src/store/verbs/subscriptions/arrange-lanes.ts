// Adapts the lanes of a subscription to its controls, in the transaction that changes them. Pending
// deliveries stay where they are, however many there are: only rows of lanes, callbacks and
// patterns change.
import { strict as assert } from 'node:assert';
import type { Lane, LaneTimes } from '../../../core/domain/lane.ts';
import type { LaneChoice, LaneControls } from '../../../core/domain/lane-plan.ts';
import { laneAfterMoveIn, laneAfterRateChange, planLanes } from '../../../core/domain/lane-plan.ts';
import { intervalOf } from '../../../core/domain/rate-limit.ts';
import type { Row } from '../../sql/row.ts';
import { integer, maybe } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, only } from '../../sql/statement.ts';
import { laneColumns, toLane } from '../shared/lanes.ts';

export const arrangeLanesSql = {
  lanes: `select ${laneColumns} from lane where subscription = ?1 order by no`,
  add: `
    insert into lane
      (app, subscription, state, version, ordered, interval_ms, concurrency, tat_ms)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) returning no`,
  arrange: `
    update lane set interval_ms = ?2, concurrency = ?3, gate_ms = ?4, ready_ms = ?5, tat_ms = ?6,
      failures = ?7, failing_ms = ?8, quiet_ms = null, quiet_xid = null
    where no = ?1`,
  callbacks: 'select no, position, lane from callback where subscription = ?1 order by position',
  move: 'update callback set lane = ?2 where no = ?1',
  // Includes ended patterns: a large fan-out that began before still finds the callback through
  // them.
  movePatterns: 'update pattern set lane = ?2 where callback = ?1',
} as const;

export interface LaneOwner {
  appNo: number;
  subscription: number;
  /** Held: its new lanes stay held until the subscription becomes active. */
  state: 'active' | 'held';
  version: number;
  controls: LaneControls;
}

/**
 * Rearranges an existing subscription: moves its callbacks, and returns their lanes by position.
 * `joining`: positions of the callbacks that get a target now.
 */
export function* rearrangeLanes(
  owner: LaneOwner,
  joining: ReadonlySet<number>,
  nowMs: number,
): Script<Map<number, number>> {
  const rows = yield* all(arrangeLanesSql.callbacks, owner.subscription);
  const callbacks = rows
    .map((row) => ({
      no: integer(row, 'no'),
      position: integer(row, 'position'),
      lane: laneOf(row),
    }))
    .filter(({ position, lane }) => lane !== undefined || joining.has(position));
  const present = callbacks.map(({ lane }) => lane);
  const lanes = yield* arrangeLanes(owner, present, nowMs);
  const found = new Map<number, number>();
  for (const [i, { no, position, lane: before }] of callbacks.entries()) {
    const lane = lanes[i];
    assert(lane !== undefined);
    found.set(position, lane);
    if (before === undefined || before === lane) continue;
    yield* all(arrangeLanesSql.move, no, lane);
    yield* all(arrangeLanesSql.movePatterns, no, lane);
  }
  return found;
}

/**
 * Returns the lane for new deliveries of each callback. `callbacks`: the present lane of each
 * callback that has a target, in order, if it has one yet. Abandoned lanes drain in their old
 * order. The rate limit and the concurrency apply to all lanes from now on; each draining lane has
 * its own share until it is empty. On PostgreSQL the caller has locked the lanes.
 */
function* arrangeLanes(
  owner: LaneOwner,
  callbacks: readonly (number | undefined)[],
  nowMs: number,
): Script<number[]> {
  const { subscription, controls } = owner;
  const rows = yield* all(arrangeLanesSql.lanes, subscription);
  const lanes = rows.map(toLane);
  const plan = planLanes(lanes, callbacks, controls);
  const tatMs = Math.max(0, ...lanes.map((lane) => lane.tatMs));
  const used = new Set(plan.flatMap((choice) => (choice.kind === 'existing' ? choice.no : [])));
  for (const lane of lanes) {
    const isEntered = used.has(lane.no) && !callbacks.includes(lane.no);
    yield* arrange(lane, controls, (limited) =>
      isEntered
        ? laneAfterMoveIn(limited, nowMs, tatMs)
        : laneAfterRateChange(lane, nowMs, limited.intervalMs),
    );
  }
  return yield* addLanes(owner, plan, tatMs);
}

/** Of a new subscription: the lane of each active callback. */
export function* createLanes(owner: LaneOwner, active: readonly unknown[]): Script<number[]> {
  const none = active.map(() => undefined);
  return yield* addLanes(owner, planLanes([], none, owner.controls), 0);
}

function* addLanes(owner: LaneOwner, plan: readonly LaneChoice[], tatMs: number): Script<number[]> {
  const added: number[] = [];
  for (const choice of plan) {
    if (choice.kind === 'existing' || choice.index < added.length) continue;
    added.push(yield* addLane(owner, tatMs));
  }
  return plan.map((choice) => {
    const no = choice.kind === 'existing' ? choice.no : added[choice.index];
    assert(no !== undefined);
    return no;
  });
}

/**
 * Resets the failures of callbacks that have new receivers. `renewed`: their positions. Draining
 * lanes may hold deliveries for them, so only lanes of other callbacks alone keep their breaker.
 */
export function* moveIntoLanes(
  { subscription, controls }: LaneOwner,
  renewed: ReadonlySet<number>,
  nowMs: number,
): Script<void> {
  const callbacks = yield* all(arrangeLanesSql.callbacks, subscription);
  const isRenewed = (row: Row): boolean => renewed.has(integer(row, 'position'));
  const theirs = new Set(callbacks.filter(isRenewed).map(laneOf));
  const others = new Set(callbacks.map(laneOf)).difference(theirs);
  for (const row of yield* all(arrangeLanesSql.lanes, subscription)) {
    const lane = toLane(row);
    if (others.has(lane.no)) continue;
    yield* arrange(lane, controls, (limited) => laneAfterMoveIn(limited, nowMs, lane.tatMs));
  }
}

function laneOf(row: Row): number | undefined {
  return maybe(integer, row, 'lane');
}

/** Writes only changes, so an idle lane stays idle. */
function* arrange(
  lane: Lane,
  controls: LaneControls,
  timesOf: (limited: Lane) => LaneTimes,
): Script<void> {
  const { concurrency } = controls;
  const intervalMs = intervalOf(controls);
  const after = { ...lane, intervalMs, concurrency, ...timesOf({ ...lane, intervalMs }) };
  const { gateMs, readyMs, tatMs, failures, failingMs = null } = after;
  const isSame =
    intervalMs === lane.intervalMs &&
    concurrency === lane.concurrency &&
    gateMs === lane.gateMs &&
    readyMs === lane.readyMs &&
    tatMs === lane.tatMs &&
    failures === lane.failures &&
    after.failingMs === lane.failingMs;
  if (isSame) return;
  const limit = [intervalMs ?? null, concurrency ?? null] as const;
  const times = [gateMs, readyMs, tatMs, failures, failingMs] as const;
  yield* all(arrangeLanesSql.arrange, lane.no, ...limit, ...times);
}

/** The codes in the column `lane.state`; 2 is ended. */
export const laneState = { active: 0, held: 1 } as const;

function* addLane(of: LaneOwner, tatMs: number): Script<number> {
  const { appNo, subscription, state, version, controls } = of;
  const owner = [appNo, subscription, laneState[state], version] as const;
  const limit = [intervalOf(controls) ?? null, controls.concurrency ?? null] as const;
  const ordered = controls.ordered ? 1 : 0;
  return integer(yield* only(arrangeLanesSql.add, ...owner, ordered, ...limit, tatMs), 'no');
}
