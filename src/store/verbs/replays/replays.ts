// Replays as rows: created, read, listed, cancelled. Creating one determines where its walk begins
// and ends.
import { strict as assert } from 'node:assert';
import { type EndedState, endedStates } from '../../../core/domain/delivery.ts';
import type { Replay, ReplayState } from '../../../core/domain/replay.ts';
import { belowCursor } from '../../sql/cursor.ts';
import type { NewReplay, ReplayRange } from '../../port/replay-verbs.ts';
import type { Row } from '../../sql/row.ts';
import { integer, maybe, oneOf, real, text } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, first, only } from '../../sql/statement.ts';
import type { Idempotency } from '../../port/store.ts';
import { pageOf } from '../lists/fill-page.ts';
import { dropKey, keepOnce } from '../shared/idempotency.ts';
import { madeOf, rangeOf } from './replayable.ts';
import type { Edit, Read } from '../shared/verb.ts';

const columns = `no, id, app, wanted, name, subscription, status, error, from_ms, until_ms, rate, state,
  first_event, last_event, event, n, below_n, matched, replayed, skipped, next_ms, created_ms, ended_ms`;

export const replaysSql = {
  // When two nodes create one at the same time, the second waits, and counts the first one's.
  lockApp: 'update app set settings = settings where no = ?1 returning no',
  running: `
    select id from replay where app = ?1 and state = 'running' limit ?2 + 0`,
  insert: `
    insert into replay (id, app, wanted, name, subscription, status, error, from_ms, until_ms, rate,
      state, first_event, last_event, event, n, below_n, next_ms, created_ms, ended_ms)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?12, -1, ?14, ?15, ?16,
      ?17)
    returning ${columns}`,
  byId: `select ${columns} from replay where id = ?1 and app = ?2`,
  list: `select ${columns} from replay where app = ?1 and no < ?2 order by no desc limit ?3 + 0`,
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
    const earlier = yield* keepOnce(kept);
    if (earlier.kind === 'other') return { kind: 'mismatch' };
    if (earlier.kind === 'same') {
      const row = yield* first(replaysSql.byId, earlier.result, appNo);
      if (row !== undefined) return { kind: 'repeated', replay: toReplay(row) };
      // The replay was deleted before its key expired, as when deliveries are kept for less than a
      // day: create a new one.
      yield* dropKey(appNo, idempotency);
      yield* keepOnce(kept);
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
  if (idempotency !== undefined) yield* dropKey(appNo, idempotency);
  return { kind: 'too_many' };
}

/** A replay without matching deliveries is created as done. */
function* insert(
  { id, appNo, filter, ratePerSecond }: NewReplay,
  range: ReplayRange | undefined,
  nowMs: number,
): Script<Replay> {
  const { state, event, subscription, status, error, fromMs, untilMs } = filter;
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
    range === undefined ? 0 : yield* madeOf(range.firstEvent),
    nowMs,
    nowMs,
    range === undefined ? nowMs : null,
  );
  return toReplay(row);
}

export const cancelReplay: Edit<'cancelReplay'> = function* ({ appNo, id }, nowMs) {
  const row = yield* first(replaysSql.cancel, nowMs, id, appNo);
  if (row !== undefined) return { kind: 'cancelled', replay: toReplay(row) };
  const found = yield* first(replaysSql.byId, id, appNo);
  if (found === undefined) return { kind: 'not_found' };
  const replay = toReplay(found);
  return replay.state === 'cancelled' ? { kind: 'cancelled', replay } : { kind: 'done' };
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

export const replays: Read<'replays'> = function* ({ appNo, page: { limit, after } }) {
  const rows = yield* all(replaysSql.list, appNo, belowCursor(after), limit + 1);
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
