// Replays as rows: created, read, listed, cancelled. Creating one determines where its walk begins
// and ends.
import { strict as assert } from 'node:assert';
import {
  type DeliveryName,
  type EndedState,
  endedStates,
  fitsEnding,
  fitsEvent,
} from '../../../core/domain/delivery.ts';
import { type Replay, type ReplayState, nextStepMs } from '../../../core/domain/replay.ts';
import { belowCursor } from '../../sql/cursor.ts';
import type { NewReplay, ReplayRange, ReplayScope, ReplayWalk } from '../../port/replay-verbs.ts';
import { type Row, integer, maybe, oneOf, real, text } from '../../sql/row.ts';
import { type Script, type Value, all, first, only, forEach } from '../../sql/statement.ts';
import type { Idempotency, EditInput } from '../../port/store.ts';
import { pageOf } from '../lists/fill-page.ts';
import { dropIdempotencyKey, keepIdempotencyKey } from '../shared/idempotency.ts';
import type { Edit, Read } from '../shared/verb.ts';
import { firstIdAt } from '../../../core/base/id.ts';
import { limits } from '../../../core/limits/limits.ts';
import { toEndState } from '../../sql/end-states.ts';
import { lockLane } from '../shared/lanes.ts';
import { sendAgain } from '../deliveries/retry-delivery.ts';

const columns = `no, id, app, wanted, name, subject, customer, subscription, status, error, from_ms, until_ms, rate,
  state, first_event, last_event, event, n, below_n, matched, replayed, skipped, next_ms, created_ms, ended_ms`;

export const replaysSql = {
  // When two nodes create one at the same time, the second waits, and counts the first one's.
  lockApp: 'update app set settings = settings where no = ?1 returning no',
  running: `
    select id from replay where app = ?1 and state = 'running' limit ?2 + 0`,
  insert: `
    insert into replay (id, app, wanted, name, subscription, status, error, from_ms, until_ms, rate,
      state, first_event, last_event, event, n, below_n, next_ms, created_ms, ended_ms, subject,
      customer)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?12, -1, ?14, ?15, ?16,
      ?17, ?18, ?19)
    returning ${columns}`,
  byId: `select ${columns} from replay where id = ?1 and app = ?2`,
  list: `
    select ${columns} from replay
    where app = ?1 and no < ?2 and (?4 = '' or customer = ?4) order by no desc limit ?3 + 0`,
  due: `
    select ${columns} from replay where state = 'running' order by next_ms, no limit ?1 + 0`,
  cancel: `
    update replay set state = 'cancelled', ended_ms = ?1
    where id = ?2 and app = ?3 and state = 'running' returning ${columns}`,
  forget: `
    delete from replay where no in
      (select no from replay where ended_ms < ?1 order by ended_ms limit ?2 + 0)
    returning no`,
} as const;

export const createReplay: Edit<'createReplay'> = function* (input, nowMs) {
  const { replay, runningMax, idempotency } = input;
  const { id, appNo } = replay;
  yield* only(replaysSql.lockApp, appNo);
  if (idempotency !== undefined) {
    const kept = { appNo, idempotency, nowMs, result: id };
    const earlier = yield* keepIdempotencyKey(kept);
    if (earlier.kind === 'other') return { kind: 'mismatch' };
    if (earlier.kind === 'same') {
      const row = yield* first(replaysSql.byId, earlier.result, appNo);
      if (row !== undefined) return { kind: 'repeated', replay: toReplay(row) };
      // The replay was deleted before its key expired, as when deliveries are kept for less than a
      // day: create a new one.
      yield* dropIdempotencyKey(appNo, idempotency);
      yield* keepIdempotencyKey(kept);
    }
  }
  const running = yield* all(replaysSql.running, appNo, runningMax);
  if (running.length >= runningMax) return yield* refused(appNo, idempotency);
  const range = yield* rangeOf(replay);
  return { kind: 'created', replay: yield* insert(replay, range, nowMs) };
};

/** Frees the key, so that the same request can be repeated when other replays have ended. */
function* refused(
  appNo: number,
  idempotency: Idempotency | undefined,
): Script<{ kind: 'too_many' }> {
  if (idempotency !== undefined) yield* dropIdempotencyKey(appNo, idempotency);
  return { kind: 'too_many' };
}

/** A replay without matching deliveries is created as done. */
function* insert(
  { id, appNo, filter, ratePerSecond }: NewReplay,
  range: ReplayRange | undefined,
  nowMs: number,
): Script<Replay> {
  const { state, event, subject, customer, subscription, status, error, fromMs, untilMs } = filter;
  const row = yield* only(
    replaysSql.insert,
    id,
    appNo,
    state,
    event ?? null,
    subscription ?? null,
    status ?? null,
    error ?? null,
    fromMs ?? null,
    untilMs ?? null,
    ratePerSecond,
    range === undefined ? 'done' : 'running',
    range?.firstEvent ?? '',
    range?.lastEvent ?? '',
    range === undefined ? 0 : yield* deliveriesMade(range.firstEvent),
    nowMs,
    nowMs,
    range === undefined ? nowMs : null,
    subject ?? null,
    customer ?? null,
  );
  return toReplay(row);
}

export const cancelReplay: Edit<'cancelReplay'> = function* ({ appNo, id }, nowMs) {
  const row = yield* first(replaysSql.cancel, nowMs, id, appNo);
  if (row !== undefined) return { kind: 'cancelled', replay: toReplay(row), isRepeated: false };
  const found = yield* first(replaysSql.byId, id, appNo);
  if (found === undefined) return { kind: 'not_found' };
  const replay = toReplay(found);
  if (replay.state !== 'cancelled') return { kind: 'done' };
  return { kind: 'cancelled', replay, isRepeated: true };
};

export const forgetReplays: Edit<'forgetReplays'> = function* ({ endedBeforeMs, limit }) {
  assert(limit >= 1, `Cannot forget ${limit} rows: to SQLite a negative limit means no limit`);
  const gone = yield* all(replaysSql.forget, endedBeforeMs, limit);
  return { deleted: gone.length };
};

export const replay: Read<'replay'> = function* ({ appNo, id }) {
  const row = yield* first(replaysSql.byId, id, appNo);
  return row === undefined ? undefined : toReplay(row);
};

export const replays: Read<'replays'> = function* ({ appNo, customer = '', page }) {
  const { limit, after } = page;
  const rows = yield* all(replaysSql.list, appNo, belowCursor(after), limit + 1, customer);
  return pageOf(rows, limit, toReplay);
};

export const runningReplays: Read<'runningReplays'> = function* ({ limit }) {
  return (yield* all(replaysSql.due, limit)).map(toReplay);
};

export function toReplay(row: Row): Replay {
  return {
    id: text(row, 'id'),
    appNo: integer(row, 'app'),
    filter: {
      state: oneOf<EndedState>(endedStates, text(row, 'wanted')),
      event: maybe(text, row, 'name'),
      subject: maybe(text, row, 'subject'),
      customer: maybe(text, row, 'customer'),
      subscription: maybe(text, row, 'subscription'),
      status: maybe(text, row, 'status'),
      error: maybe(text, row, 'error'),
      fromMs: maybe(integer, row, 'from_ms'),
      untilMs: maybe(integer, row, 'until_ms'),
    },
    ratePerSecond: integer(row, 'rate'),
    state: oneOf<ReplayState>(replayStates, text(row, 'state')),
    firstEvent: text(row, 'first_event'),
    lastEvent: text(row, 'last_event'),
    cursor: { event: text(row, 'event'), n: integer(row, 'n'), below: integer(row, 'below_n') },
    matched: integer(row, 'matched'),
    replayed: integer(row, 'replayed'),
    skipped: integer(row, 'skipped'),
    nextMs: real(row, 'next_ms'),
    createdMs: integer(row, 'created_ms'),
    endedMs: maybe(integer, row, 'ended_ms'),
  };
}

const replayStates = ['running', 'done', 'cancelled'] as const;

// Walks the ended deliveries of an app, oldest first, for a replay or its dry run, and selects
// those that match. It examines a bounded number of rows at a time. Failed deliveries have an index
// by app; delivered ones do not, so the walk takes longer when many apps share the database.

const endingColumns = 'event, n, app, lane, state, code, error, ended_ms';
const between = 'event >= ?1 and event < ?2';
// The row comparison alone does not let PostgreSQL prune partitions, so the event bounds are
// repeated.
const behind = '(event, n) > (?1, ?2) and event >= ?1 and event <= ?3';

// Dead or cancelled is distinguished later: filtering by state, one statement could step over a
// million rows. The condition is explicit because SQLite does not infer it, and would scan the
// whole history.
const failed = 'delivery_done indexed by delivery_failed where state <> 1';

const ofSubject = `
    select id as event from event
    where app = ?3 and subject = ?4 and subject is not null and id >= ?1 and id < ?2`;

export const replayableSql = {
  first: `select event from delivery_done where ${between} order by event, n limit 1`,
  last: `
    select event from delivery_done where ${between} order by event desc, n desc limit 1`,
  firstFailed: `
    select event from ${failed} and app = ?3 and ${between} order by event, n limit 1`,
  lastFailed: `
    select event from ${failed} and app = ?3 and ${between}
    order by event desc, n desc limit 1`,
  all: `
    select ${endingColumns} from delivery_done where ${behind} order by event, n limit ?4 + 0`,
  failed: `
    select ${endingColumns} from ${failed} and app = ?5 and ${behind} order by event, n limit ?4 + 0`,
  lanes: `
    select lane.no from subscription join lane on lane.subscription = subscription.no
    where subscription.id = ?1 and subscription.app = ?2`,
  lanesOfCustomer: `
    select lane.no from subscription join lane on lane.subscription = subscription.no
    where subscription.app = ?1 and customer = ?2 and customer is not null`,
  firstOfSubject: `${ofSubject} order by id limit 1`,
  lastOfSubject: `${ofSubject} order by id desc limit 1`,
  name: 'select id, name, subject from event where id = ?1',
  made: `
    select coalesce(deliveries, (select made from fanout where fanout.event = event.id)) as made
    from event where id = ?1`,
} as const;

/** Above every id. */
const newest = '~';

export const replayRange: Read<'replayRange'> = (scope) => rangeOf(scope);

export function* rangeOf({ appNo, filter }: ReplayScope): Script<ReplayRange | undefined> {
  const { state, subject, fromMs = 0, untilMs } = filter;
  const from = firstIdAt(fromMs);
  const until = untilMs === undefined ? newest : firstIdAt(untilMs);
  if (subject !== undefined) return yield* rangeOfSubject([from, until, appNo, subject]);
  const isFailed = isOfFailures(state);
  const lowest = isFailed
    ? yield* first(replayableSql.firstFailed, from, until, appNo)
    : yield* first(replayableSql.first, from, until);
  if (lowest === undefined) return undefined;
  const highest = isFailed
    ? yield* first(replayableSql.lastFailed, from, until, appNo)
    : yield* first(replayableSql.last, from, until);
  assert(highest !== undefined, 'Where there is a first one there is a last one');
  return { firstEvent: text(lowest, 'event'), lastEvent: text(highest, 'event') };
}

/** Events of a subject are few, and near each other. */
function* rangeOfSubject(values: readonly Value[]): Script<ReplayRange | undefined> {
  const lowest = yield* first(replayableSql.firstOfSubject, ...values);
  const highest = yield* first(replayableSql.lastOfSubject, ...values);
  if (lowest === undefined || highest === undefined) return undefined;
  return { firstEvent: text(lowest, 'event'), lastEvent: text(highest, 'event') };
}

function isOfFailures(state: EndedState): boolean {
  return state === 'dead' || state === 'cancelled';
}

/** How many deliveries the event has by now. */
export function* deliveriesMade(event: string): Script<number> {
  const row = yield* first(replayableSql.made, event);
  return row === undefined ? 0 : (maybe(integer, row, 'made') ?? 0);
}

export const replayable: Read<'replayable'> = function* ({ limit, ...walk }) {
  const names: DeliveryName[] = [];
  const lanes = yield* lanesOf(walk);
  let reached: DeliveryName = walk.after;
  let left: number = limits.replayRowsExaminedMax;
  // A few rows at first, which often suffice.
  for (let most = Math.max(limit, rowsAtFirst); left > 0; most = Math.min(most * 2, left)) {
    const rows = yield* rowsBehind(walk, reached, most);
    const fitting = yield* ofEvents(walk, rows.filter(fitsOf(walk, lanes)));
    const taken = fitting.slice(0, limit - names.length);
    names.push(...taken.map(toName));
    const isFull = names.length === limit;
    const last = isFull ? taken.at(-1) : rows.at(-1);
    const { event, n } = last === undefined ? reached : toName(last);
    reached = { event, n };
    const isLast = rows.length < most && taken.length === fitting.length;
    if (isLast || isFull) return { names, reached, isLast };
    left -= most;
  }
  return { names, reached, isLast: false };
};

const rowsAtFirst = 64;

function* rowsBehind(
  { appNo, filter, lastEvent }: ReplayWalk,
  { event, n }: DeliveryName,
  most: number,
): Script<readonly Row[]> {
  const values = [event, n, lastEvent, most] as const;
  return isOfFailures(filter.state)
    ? yield* all(replayableSql.failed, ...values, appNo)
    : yield* all(replayableSql.all, ...values);
}

/** The lanes of the subscription and of the customer in the filter. */
function* lanesOf({
  appNo,
  filter: { subscription, customer },
}: ReplayWalk): Script<ReadonlySet<number> | undefined> {
  const found: Set<number>[] = [];
  if (subscription !== undefined) {
    found.push(numbersIn(yield* all(replayableSql.lanes, subscription, appNo)));
  }
  if (customer !== undefined) {
    found.push(numbersIn(yield* all(replayableSql.lanesOfCustomer, appNo, customer)));
  }
  const [lanes, others = lanes] = found;
  return lanes && others && lanes.intersection(others);
}

function numbersIn(rows: readonly Row[]): Set<number> {
  return new Set(rows.map((row) => integer(row, 'no')));
}

/** Whether the delivery's own row matches. */
function fitsOf(
  { appNo, filter, endedByMs, after }: ReplayWalk,
  lanes: ReadonlySet<number> | undefined,
): (row: Row) => boolean {
  return (row) => {
    const isYounger = text(row, 'event') === after.event && integer(row, 'n') >= after.below;
    if (isYounger || integer(row, 'ended_ms') > endedByMs) return false;
    if (integer(row, 'app') !== appNo || lanes?.has(integer(row, 'lane')) === false) return false;
    const state = toEndState(integer(row, 'state'));
    const [status, error] = [maybe(integer, row, 'code'), maybe(text, row, 'error')];
    return fitsEnding({ state, status, error }, filter);
  };
}

/** Events are read only if the filter names some, or their subject. */
function* ofEvents(
  { filter: { event: pattern = '*', subject } }: ReplayWalk,
  rows: readonly Row[],
): Script<readonly Row[]> {
  if (pattern === '*' && subject === undefined) return rows;
  const ids = new Set(rows.map((row) => text(row, 'event')));
  const values = Array.from(ids, (id) => [id]);
  const found = yield* forEach(replayableSql.name, values);
  const fitting = found.filter((row) => {
    const isOfSubject = subject === undefined || maybe(text, row, 'subject') === subject;
    return isOfSubject && (pattern === '*' || fitsEvent(text(row, 'name'), pattern));
  });
  const fittingIds = new Set(fitting.map((row) => text(row, 'id')));
  return rows.filter((row) => fittingIds.has(text(row, 'event')));
}

function toName(row: Row): DeliveryName {
  return { event: text(row, 'event'), n: integer(row, 'n') };
}

// One step of a replay: sends the deliveries that the walk found again, and moves the cursor, in
// one transaction. So a crash neither repeats nor skips any, and when two nodes try the same step,
// one of them changes nothing.

export const advanceReplaySql = {
  // Changes nothing but locks the row: on PostgreSQL another node may be at the same step.
  begin: 'update replay set n = n where id = ?1 returning *',
  // Each delivery goes to the present lane of its callback.
  done: `
    select callback.lane, delivery_done.callback, state, attempts, slice
    from delivery_done join callback on callback.no = delivery_done.callback
    where delivery_done.event = ?1 and n = ?2 and delivery_done.app = ?3 and ended_ms <= ?4`,
  end: `
    update replay set event = ?2, n = ?3, below_n = ?4, matched = matched + ?5 + ?6,
      replayed = replayed + ?5, skipped = skipped + ?6, next_ms = ?7, state = ?8, ended_ms = ?9
    where id = ?1 returning *`,
} as const;

export const advanceReplay: Edit<'advanceReplay'> = function* (input, nowMs, facts) {
  const step = yield* beginStep(input);
  if (step === undefined) return { kind: 'moved' };
  const { appNo, createdMs } = step.replay;
  let replayed = 0;
  for (const { event, n } of input.names) {
    const row = yield* first(advanceReplaySql.done, event, n, appNo, createdMs);
    if (row === undefined) continue; // It is pending again, or was deleted.
    const lane = yield* lockLane(integer(row, 'lane'));
    if (lane.state === 'ended') continue;
    const sent = yield* sendAgain({ event, n, appNo, row, lane }, nowMs, facts);
    if (sent !== undefined) replayed += 1;
  }
  return yield* endStep({ input, step, replayed }, nowMs);
};

export interface ReplayStep {
  replay: Replay;
  /** Number of deliveries of the event at the end of the step, before the step adds any. */
  below: number;
}

/** Undefined: the replay no longer exists, or is not running. */
export function* beginStep({
  id,
  from,
  to,
  names,
}: EditInput<'advanceReplay'>): Script<ReplayStep | undefined> {
  assert(names.length <= limits.replayStepMax, `Cannot replay ${names.length} in one step`);
  const row = yield* first(advanceReplaySql.begin, id);
  if (row === undefined) return undefined;
  const begun = toReplay(row);
  const { state, cursor } = begun;
  if (state !== 'running' || cursor.event !== from.event || cursor.n !== from.n) return undefined;
  if (to.event === from.event) return { replay: begun, below: cursor.below };
  return { replay: begun, below: yield* deliveriesMade(to.event) };
}

interface EndingStep {
  input: EditInput<'advanceReplay'>;
  step: ReplayStep;
  replayed: number;
}

export function* endStep(
  { input, step, replayed }: EndingStep,
  nowMs: number,
): Script<{ kind: 'stepped'; replay: Replay }> {
  const { id, to, names, isLast } = input;
  const skipped = names.length - replayed;
  const row = yield* only(
    advanceReplaySql.end,
    id,
    to.event,
    to.n,
    step.below,
    replayed,
    skipped,
    nextStepMs(step.replay, nowMs, replayed),
    isLast ? 'done' : 'running',
    isLast ? nowMs : null,
  );
  return { kind: 'stepped', replay: toReplay(row) };
}
