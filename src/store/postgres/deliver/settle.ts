// Settles many deliveries at once: records their attempts, and ends or releases each delivery. The
// lease is the proof of ownership: if it has changed, nothing is written.
import assert from 'node:assert/strict';
import { deliveryKey } from '../../../core/domain/delivery.ts';
import {
  type Lane,
  type LaneTimes,
  laneAfterSettlement as laneSettled,
} from '../../../core/domain/lane.ts';
import { type Fact, noteSettled } from '../../statistics/transaction-facts.ts';
import type { Settled, Settlement, AttemptRecord } from '../../port/delivery-verbs.ts';
import {
  type Changes,
  isLast,
  laneOutcome,
  settledIn,
  dueAgainMs,
  endReasonOf,
  endStateOf,
  errorOf,
} from '../../rules/settlement-rules.ts';
import { endOwner } from '../../verbs/subscriptions/end-subscription.ts';
import type { DeadDelivery } from '../../verbs/shared/notices.ts';
import { lockLanes, writeLanes, clearFloors } from '../shared/lanes.ts';
import { noticeDead } from '../shared/notices.ts';
import type { Tx } from '../connection/tx.ts';
import { endStates, type EndState } from '../../sql/end-states.ts';
import { integer, type Row } from '../../sql/row.ts';
import { printHead } from '../../verbs/deliveries/attempts.ts';
import { laneColumns, toLane } from '../../verbs/shared/lanes.ts';
import type { Parameter } from '../connection/pipeline.ts';

export interface SettledAll {
  /** In the order of the settlements. */
  replies: Settled[];
  returnedCount: number;
  /** The facts to count in the figures. */
  facts: Fact[];
  changes: Changes;
}

export async function settleAll(
  tx: Tx,
  settlements: readonly Settlement[],
  nowMs: number,
): Promise<SettledAll> {
  const replies = settlements.map((): Settled => ({ kind: 'stale' }));
  await lockApps(tx, settlements);
  const facts: Fact[] = [];
  const changes: Changes = new Map();
  let returnedCount = 0;
  for (const piece of piecesOf(settlements)) {
    const done = await settlePiece(tx, piece, nowMs);
    for (const { i } of done.moved) {
      replies[i] = done.overdue.get(i) ?? settledIn(done.laneOf(i));
    }
    facts.push(...done.facts);
    for (const [no, times] of done.changes) changes.set(no, times);
    await noticeDead(tx, done.dead, nowMs);
    returnedCount += done.returnedCount;
    const last = piece.at(-1);
    const callback = last && done.owners.get(last.i);
    const reason = last && endReasonOf(last.settlement);
    if (last !== undefined && reason !== undefined && callback !== undefined) {
      const { event, n, finals } = last.settlement;
      const gone = await tx.run(endOwner({ event, n, finals, callback, reason }, nowMs));
      if (gone !== undefined) replies[last.i] = gone;
    }
  }
  return { replies, returnedCount, facts, changes };
}

/**
 * Splits settlements where order matters: the end of a subscription ends lanes of later ones, so it is the last of its
 * piece, and a second settlement of one delivery must see what the first one wrote.
 */
function piecesOf(settlements: readonly Settlement[]): Item[][] {
  const pieces: Item[][] = [];
  let piece: Item[] = [];
  const names = new Set<string>();
  const cut = (): void => {
    if (piece.length > 0) pieces.push(piece);
    piece = [];
    names.clear();
  };
  for (const [i, settlement] of settlements.entries()) {
    const name = deliveryKey(settlement);
    if (names.has(name)) cut();
    names.add(name);
    piece.push({ i, settlement });
    if (endReasonOf(settlement) !== undefined) cut();
  }
  cut();
  return pieces;
}

/** Ending a subscription locks its app before any lane, as everywhere. */
async function lockApps(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
  const ending = settlements.filter((one) => endReasonOf(one) !== undefined);
  if (ending.length === 0) return;
  const events = ending.map(({ event }) => event);
  await tx.query(settleSql.lockApps, [events, ending.map(({ n }) => n)]);
}

interface PieceDone {
  moved: readonly Item[];
  /** By index: the lane as it was found. */
  laneOf: (i: number) => Pick<Lane, 'concurrency'>;
  returnedCount: number;
  facts: Fact[];
  changes: Changes;
  /** Callbacks of ended deliveries. */
  owners: ReadonlyMap<number, number>;
  dead: readonly DeadDelivery[];
  /** By index: failures after which the subscription should be disabled. */
  overdue: ReadonlyMap<number, Settled>;
}

async function settlePiece(tx: Tx, piece: readonly Item[], nowMs: number): Promise<PieceDone> {
  const [ended, found] = await Promise.all([
    end(
      tx,
      piece.filter((item) => !isReturned(item)),
      nowMs,
    ),
    find(tx, piece.filter(isReturned)),
  ]);
  const numbers = new Map([...ended.lanes, ...found.lanes]);
  const byLane = Map.groupBy(
    piece.filter(({ i }) => numbers.has(i)),
    ({ i }) => numbers.get(i) ?? 0,
  );
  const toLock = [...byLane]
    .filter(([no, items]) => items.some(isReturned) || isChanged(ended.seen.get(no), items, nowMs))
    .map(([no]) => no);
  const { owners, seen } = ended;
  const laneOf = (i: number) => seen.get(numbers.get(i) ?? 0) ?? { concurrency: undefined };
  if (toLock.length === 0) {
    const moved = piece.filter(({ i }) => owners.has(i));
    const { facts, dead } = ended;
    return {
      moved,
      laneOf,
      returnedCount: 0,
      facts,
      changes: new Map(),
      owners,
      dead,
      overdue: new Map(),
    };
  }
  const locked = await lockLanes(tx, toLock);
  for (const [no, lane] of locked) seen.set(no, lane);
  const returning = [...locked.values()].flatMap((lane) =>
    (byLane.get(lane.no) ?? []).filter(isReturned).map((item): Returned => ({ ...item, lane })),
  );
  const [cancelled, returned] = await Promise.all([
    end(tx, returning.filter(isEnded), nowMs),
    returnDeliveries(
      tx,
      returning.filter((one) => !isEnded(one)),
      nowMs,
    ),
  ]);
  const isMoved = ({ i }: Item) => owners.has(i) || cancelled.owners.has(i) || returned.has(i);
  const apps = new Map([...ended.apps, ...found.apps]);
  const overdue = new Map<number, Settled>();
  const changes: Changes = new Map();
  // A delivery whose lease was lost says nothing about its lane: another node may have opened or
  // closed it since.
  const lanes = [...locked.values()].flatMap((before) => {
    const items = (byLane.get(before.no) ?? []).filter(isMoved);
    const { lane, last, times } = laneAfter(before, items, nowMs);
    if (times !== undefined) changes.set(lane.no, times);
    for (const i of last)
      overdue.set(i, { kind: 'overdue', appNo: apps.get(i) ?? 0, lane: lane.no });
    return items.length === 0 ? [] : [lane];
  });
  await writeLanes(tx, lanes);
  const facts = [...ended.facts, ...cancelled.facts];
  for (const { i, settlement, lane } of returning) {
    const owner = { appNo: found.apps.get(i) ?? 0, lane: lane.no };
    if (returned.has(i)) noteSettled(facts, owner, { settlement, state: undefined });
  }
  const { dead } = ended;
  const moved = piece.filter(isMoved);
  return { moved, laneOf, returnedCount: returned.size, facts, changes, owners, dead, overdue };
}

/**
 * `last`: indexes of failures after which the subscription should be disabled. `times`: the lane's
 * new times, if they changed.
 */
function laneAfter(
  before: Lane,
  items: readonly Item[],
  nowMs: number,
): { lane: Lane; last: number[]; times: LaneTimes | undefined } {
  let lane = before;
  let times: LaneTimes | undefined;
  const last: number[] = [];
  for (const { i, settlement } of items) {
    const after = laneSettled(lane, nowMs, laneOutcome(settlement, nowMs));
    if (isLast(lane, after, nowMs)) last.push(i);
    lane = { ...lane, ...after };
    if (endReasonOf(settlement) !== 'gone') times = after ?? times; // Otherwise the lane ends.
  }
  return { lane, last, times };
}

function isReturned({ settlement: { outcome } }: Item): boolean {
  return 'waitMs' in outcome;
}

function isEnded({ lane }: Returned): boolean {
  return lane.state === 'ended';
}

/** Whether these outcomes change a lane that is not locked yet. */
function isChanged(lane: Lane | undefined, items: readonly Item[], nowMs: number): boolean {
  if (lane === undefined) return false;
  return items.some(
    ({ settlement }) => laneSettled(lane, nowMs, laneOutcome(settlement, nowMs)) !== undefined,
  );
}

// Settles many rows at once: ended deliveries move to the history, released ones become pending
// again, both with their attempts. A row whose lease has changed is left alone.

// The part of a settle statement that records attempts, with the request and the response.

/** Columns of an attempt in a settle statement; `made` is 0 if there was none. */
const columns = {
  made: 'int',
  node: 'bigint',
  started_ms: 'bigint',
  took_ms: 'bigint',
  code: 'int',
  attempt_error: 'text',
  head: 'text',
  body: 'bytea',
} as const;

const attemptColumns = Object.keys(columns).join(', ');

/** The parameters of these columns, numbered from `first`. */
function attemptParameters(first: number): string {
  return Object.values(columns)
    .map((type, index) => `$${first + index}::${type}[]`)
    .join(', ');
}

/** Inserts attempts from a table of settled rows, whose `attempts` already counts them. */
function insertAttempts(from: string): string {
  return `
    tried as (
      insert into attempt (event, n, k, node, started_ms, took_ms, code, error, head, body)
      select event, n, attempts, node, started_ms, took_ms, code, attempt_error, head, body
      from ${from} where made = 1)`;
}

function attemptValues(attempts: readonly (AttemptRecord | undefined)[]): Parameter[] {
  return [
    attempts.map((attempt) => (attempt === undefined ? 0 : 1)),
    attempts.map((attempt) => attempt?.node ?? null),
    attempts.map((attempt) => attempt?.startedMs ?? null),
    attempts.map((attempt) => attempt?.tookMs ?? null),
    attempts.map((attempt) => attempt?.status ?? null),
    attempts.map((attempt) => attempt?.error ?? null),
    attempts.map((attempt) => (attempt === undefined ? null : printHead(attempt))),
    attempts.map((attempt) => attempt?.response?.body ?? null),
  ];
}

// Phrased so that the planner can only look up each element in the table's primary key; see
// 0002_deliveries.sql.
export const isLeasedAs = `delivery_live.event = any (array[x.event]) and delivery_live.n = x.n
      and delivery_live.lease is not distinct from x.lease`;

export const settleSql = {
  lockApps: `
    select no from app
    where no in (
      select delivery_live.app from unnest($1::text[], $2::int[]) as x (event, n)
      join delivery_live on delivery_live.event = any (array[x.event]) and delivery_live.n = x.n)
    order by no for no key update`,
  find: `
    select x.i, delivery_live.lane, delivery_live.app
    from unnest($1::int[], $2::text[], $3::int[], $4::bigint[]) as x (i, event, n, lease)
    join delivery_live on ${isLeasedAs}`,
  // A stale lease deletes nothing, and therefore inserts nothing. The result is lists in one row:
  // the driver takes three times as long to read a row per delivery with all columns of its lane
  // (docs/performance.md).
  end: `
    with x as (
      select * from unnest($1::int[], $2::text[], $3::int[], $4::bigint[], $5::smallint[],
        $6::text[], ${attemptParameters(7)}, $15::bigint[])
        as x (i, event, n, lease, state, reason, ${attemptColumns}, ended_ms)),
    moved as (
      delete from delivery_live using x where ${isLeasedAs}
      returning delivery_live.app, delivery_live.lane, delivery_live.callback, delivery_live.slice,
        delivery_live.attempts + x.made as attempts, x.*),
    done as (
      insert into delivery_done
        (event, n, app, lane, callback, state, attempts, code, error, slice, ended_ms)
      select event, n, app, lane, callback, state, attempts, code, reason, slice, ended_ms
      from moved),${insertAttempts('moved')}
    select array_to_json(array_agg(array[i, app, callback, lane])) as moved, (
      select json_agg(met) from (
        select ${laneColumns}
        from (select distinct lane as no from moved) x
        join lane on lane.no = any (array[x.no])) met) as lanes
    from moved`,
  back: `
    with x as (
      select * from unnest($1::int[], $2::text[], $3::int[], $4::bigint[], $5::bigint[],
        ${attemptParameters(6)}) as x (i, event, n, lease, due_ms, ${attemptColumns})),
    moved as (
      update delivery_live set lease = null, due_ms = coalesce(x.due_ms, delivery_live.due_ms),
        tries = tries + x.made, attempts = attempts + x.made
      from x where ${isLeasedAs}
      returning delivery_live.attempts, x.*),${insertAttempts('moved')}
    select moved.i from moved`,
} as const;

/** A settlement that is being written. */
export interface Item {
  /** Its index among the settlements. */
  i: number;
  settlement: Settlement;
}

/** The deliveries that ended. */
export interface Ended {
  /** By index: callback, lane and app; and the lanes as they were found. */
  owners: Map<number, number>;
  lanes: Map<number, number>;
  apps: Map<number, number>;
  seen: Map<number, Lane>;
  facts: Fact[];
  /** In the order of the settlements. */
  dead: DeadDelivery[];
}

export async function end(tx: Tx, items: readonly Item[], nowMs: number): Promise<Ended> {
  const ended: Ended = {
    owners: new Map(),
    lanes: new Map(),
    apps: new Map(),
    seen: new Map(),
    facts: [],
    dead: [],
  };
  if (items.length === 0) return ended;
  const [row = {}] = await tx.query(settleSql.end, [
    ...nameColumns(items),
    items.map(({ settlement }) => endStates[stateOf(settlement)]),
    items.map(({ settlement }) => errorOf(settlement) ?? null),
    ...attemptValues(items.map(({ settlement }) => settlement.attempt)),
    items.map(() => nowMs),
  ]);
  for (const lane of listIn(row, 'lanes').map(toLane)) ended.seen.set(lane.no, lane);
  const settlementOf = new Map(items.map(({ i, settlement }) => [i, settlement]));
  for (const [i, appNo, callback, lane] of listIn(row, 'moved').map(toMoved)) {
    ended.owners.set(i, callback);
    ended.lanes.set(i, lane);
    const settlement = settlementOf.get(i);
    if (settlement === undefined) continue;
    ended.apps.set(i, appNo);
    noteSettled(ended.facts, { appNo, lane }, { settlement, state: stateOf(settlement) });
  }
  for (const { i, settlement } of items) {
    const { event, n } = settlement;
    const appNo = ended.apps.get(i);
    if (appNo !== undefined && stateOf(settlement) === 'dead') ended.dead.push({ event, n, appNo });
  }
  return ended;
}

/** Reads a JSON list from a column; empty if there was nothing to list. */
function listIn(row: Row, column: string): readonly Row[] {
  const list: unknown = row[column] ?? [];
  assert(Array.isArray(list) && list.every(isRow), `${column} is a list`);
  return list;
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null;
}

/** Index, app, callback and lane. */
function toMoved(list: Row): [number, number, number, number] {
  return [integer(list, '0'), integer(list, '1'), integer(list, '2'), integer(list, '3')];
}

/** A delivery that would be released into an ended lane is cancelled. */
function stateOf({ outcome }: Settlement): EndState {
  return endStateOf(outcome, { state: 'ended' }) ?? 'cancelled';
}

/** By index: the lanes and apps of deliveries whose lease still holds. */
export async function find(
  tx: Tx,
  items: readonly Item[],
): Promise<{ lanes: Map<number, number>; apps: Map<number, number> }> {
  const rows = items.length === 0 ? [] : await tx.query(settleSql.find, nameColumns(items));
  const by = (column: string): Map<number, number> =>
    new Map(rows.map((row) => [integer(row, 'i'), integer(row, column)]));
  return { lanes: by('lane'), apps: by('app') };
}

export interface Returned extends Item {
  lane: Lane;
}

export async function returnDeliveries(
  tx: Tx,
  items: readonly Returned[],
  nowMs: number,
): Promise<Set<number>> {
  if (items.length === 0) return new Set();
  const dues = items.map(({ settlement, lane }) => dueAgainMs(settlement.outcome, lane, nowMs));
  const kept = new Set(items.filter((_, at) => dues[at] === undefined).map(({ lane }) => lane.no));
  const [rows] = await Promise.all([
    tx.query(settleSql.back, [
      ...nameColumns(items),
      dues.map((dueMs) => dueMs ?? null),
      ...attemptValues(items.map(({ settlement }) => settlement.attempt)),
    ]),
    clearFloors(tx, [...kept]),
  ]);
  return new Set(rows.map((row) => integer(row, 'i')));
}

function nameColumns(items: readonly Item[]): Parameter[] {
  return [
    items.map(({ i }) => i),
    items.map(({ settlement: { event } }) => event),
    items.map(({ settlement: { n } }) => n),
    items.map(({ settlement: { lease } }) => lease),
  ];
}
