// Settle, many at once: what attempts led to is written down, and each delivery ends or goes back to
// wait. The lease is the proof: with another one than the present nothing is written at all.
import type { Lane } from '../../core/lane.ts';
import { settled as laneSettled } from '../../core/lane.ts';
import type { Fact } from '../counting.ts';
import { noteSettled } from '../counting.ts';
import type { Settled, Settlement } from '../delivery-verbs.ts';
import { integer } from '../row.ts';
import { dueAgainMs, endStateOf, errorOf, laneOutcome, settledIn } from '../settling.ts';
import type { EndState } from '../verbs/end-states.ts';
import { endStates } from '../verbs/end-states.ts';
import { endOwner } from '../verbs/end-subscription.ts';
import { laneColumns, toLane } from '../verbs/lanes.ts';
import { lockLanes, writeLanes } from './lanes.ts';
import {
  attemptColumns,
  attemptParameters,
  attemptValues,
  insertAttempts,
} from './record-attempts.ts';
import type { Parameter, Tx } from './tx.ts';

// Written so that the planner can only go from the list to the key of the table, see 0002_deliveries.sql.
const leased = `delivery_live.event = any (array[x.event]) and delivery_live.n = x.n
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
    join delivery_live on ${leased}`,
  // A stale lease deletes nothing, and therefore inserts nothing.
  end: `
    with x as (
      select * from unnest($1::int[], $2::text[], $3::int[], $4::bigint[], $5::smallint[],
        $6::text[], ${attemptParameters(7)}, $15::bigint[])
        as x (i, event, n, lease, state, reason, ${attemptColumns}, ended_ms)),
    moved as (
      delete from delivery_live using x where ${leased}
      returning delivery_live.app, delivery_live.lane, delivery_live.callback, delivery_live.slice,
        delivery_live.attempts + x.made as attempts, x.*),
    done as (
      insert into delivery_done
        (event, n, app, lane, callback, state, attempts, code, error, slice, ended_ms)
      select event, n, app, lane, callback, state, attempts, code, reason, slice, ended_ms
      from moved),${insertAttempts('moved')}
    select moved.i, moved.app, moved.callback, ${laneColumns} from moved join lane on lane.no = moved.lane`,
  back: `
    with x as (
      select * from unnest($1::int[], $2::text[], $3::int[], $4::bigint[], $5::bigint[],
        ${attemptParameters(6)}) as x (i, event, n, lease, due_ms, ${attemptColumns})),
    moved as (
      update delivery_live set lease = null, due_ms = coalesce(x.due_ms, delivery_live.due_ms),
        tries = tries + x.made, attempts = attempts + x.made
      from x where ${leased}
      returning delivery_live.attempts, x.*),${insertAttempts('moved')}
    select moved.i from moved`,
} as const;

interface Item {
  /** Its place among the settlements. */
  i: number;
  settlement: Settlement;
}

export interface SettledAll {
  /** In the order of the settlements. */
  replies: Settled[];
  wentBack: number;
  /** What they led to, to be counted. */
  facts: Fact[];
}

export async function settleAll(
  tx: Tx,
  settlements: readonly Settlement[],
  nowMs: number,
): Promise<SettledAll> {
  const replies = settlements.map((): Settled => ({ kind: 'stale' }));
  await lockApps(tx, settlements);
  const facts: Fact[] = [];
  let wentBack = 0;
  for (const piece of piecesOf(settlements)) {
    const done = await settlePiece(tx, piece, nowMs);
    for (const { i } of done.moved) replies[i] = settledIn(done.laneOf(i));
    facts.push(...done.facts);
    wentBack += done.wentBack;
    const last = piece.at(-1);
    const owner = last && done.owners.get(last.i);
    if (last?.settlement.outcome.kind === 'gone' && owner !== undefined) {
      replies[last.i] = await tx.run(endOwner(owner, nowMs));
    }
  }
  return { replies, wentBack, facts };
}

/**
 * `gone` ends lanes that those after it may be of, so it is the last of its piece; and who comes a second
 * time must find what the first one left.
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
    const name = `${settlement.event} ${settlement.n}`;
    if (names.has(name)) cut();
    names.add(name);
    piece.push({ i, settlement });
    if (settlement.outcome.kind === 'gone') cut();
  }
  cut();
  return pieces;
}

/** Whoever ends a subscription locks its app before any lane, here as everywhere. */
async function lockApps(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
  const gone = settlements.filter(({ outcome }) => outcome.kind === 'gone');
  if (gone.length === 0) return;
  const events = gone.map(({ event }) => event);
  await tx.query(settleSql.lockApps, [events, gone.map(({ n }) => n)]);
}

interface PieceDone {
  moved: readonly Item[];
  /** By its place among the settlements: the lane as it was found. */
  laneOf: (i: number) => Pick<Lane, 'concurrency'>;
  wentBack: number;
  facts: Fact[];
  /** Callbacks of those that ended. */
  owners: ReadonlyMap<number, number>;
}

async function settlePiece(tx: Tx, piece: readonly Item[], nowMs: number): Promise<PieceDone> {
  const goesBack = ({ settlement: { outcome } }: Item): boolean => 'dueMs' in outcome;
  const [ended, found] = await Promise.all([
    end(
      tx,
      piece.filter((item) => !goesBack(item)),
      nowMs,
    ),
    find(tx, piece.filter(goesBack)),
  ]);
  const numbers = new Map([...ended.lanes, ...found.lanes]);
  const byLane = Map.groupBy(
    piece.filter(({ i }) => numbers.has(i)),
    ({ i }) => numbers.get(i) ?? 0,
  );
  const toLock = [...byLane]
    .filter(([no, items]) => items.some(goesBack) || isChanged(ended.seen.get(no), items, nowMs))
    .map(([no]) => no);
  const { owners, seen } = ended;
  const laneOf = (i: number) => seen.get(numbers.get(i) ?? 0) ?? { concurrency: undefined };
  if (toLock.length === 0) {
    const moved = piece.filter(({ i }) => owners.has(i));
    return { moved, laneOf, wentBack: 0, facts: ended.facts, owners };
  }
  const locked = await lockLanes(tx, toLock);
  for (const [no, lane] of locked) seen.set(no, lane);
  const backs = [...locked.values()].flatMap((lane) =>
    (byLane.get(lane.no) ?? []).filter(goesBack).map((item): Back => ({ ...item, lane })),
  );
  const [cancelled, returned] = await Promise.all([
    end(tx, backs.filter(isEnded), nowMs),
    back(
      tx,
      backs.filter((one) => !isEnded(one)),
    ),
  ]);
  const isMoved = ({ i }: Item) => owners.has(i) || cancelled.owners.has(i) || returned.has(i);
  // A lease that was lost meanwhile says nothing about its lane: somebody else may hold it open or shut.
  const lanes = [...locked.values()].flatMap((before) => {
    const items = (byLane.get(before.no) ?? []).filter(isMoved);
    let lane = before;
    for (const { settlement } of items) {
      lane = { ...lane, ...laneSettled(lane, nowMs, laneOutcome(settlement, nowMs)) };
    }
    return items.length === 0 ? [] : [lane];
  });
  await writeLanes(tx, lanes);
  const facts = [...ended.facts, ...cancelled.facts];
  for (const { i, settlement, lane } of backs) {
    const owner = { appNo: found.apps.get(i) ?? 0, lane: lane.no };
    if (returned.has(i)) noteSettled(facts, owner, { settlement, state: undefined });
  }
  return { moved: piece.filter(isMoved), laneOf, wentBack: returned.size, facts, owners };
}

function isEnded({ lane }: Back): boolean {
  return lane.state === 'ended';
}

/** Whether these outcomes change a lane that nobody has locked yet. */
function isChanged(lane: Lane | undefined, items: readonly Item[], nowMs: number): boolean {
  if (lane === undefined) return false;
  return items.some(
    ({ settlement }) => laneSettled(lane, nowMs, laneOutcome(settlement, nowMs)) !== undefined,
  );
}

interface Ended {
  /** By place: the callback and the lane of what ended; and those lanes as they are. */
  owners: Map<number, number>;
  lanes: Map<number, number>;
  seen: Map<number, Lane>;
  facts: Fact[];
}

async function end(tx: Tx, items: readonly Item[], nowMs: number): Promise<Ended> {
  const ended: Ended = { owners: new Map(), lanes: new Map(), seen: new Map(), facts: [] };
  if (items.length === 0) return ended;
  const rows = await tx.query(settleSql.end, [
    ...nameColumns(items),
    items.map(({ settlement }) => endStates[stateOf(settlement)]),
    items.map(({ settlement }) => errorOf(settlement) ?? null),
    ...attemptValues(items.map(({ settlement }) => settlement.attempt)),
    items.map(() => nowMs),
  ]);
  const settlementOf = new Map(items.map(({ i, settlement }) => [i, settlement]));
  for (const row of rows) {
    const i = integer(row, 'i');
    const lane = toLane(row);
    ended.owners.set(i, integer(row, 'callback'));
    ended.lanes.set(i, lane.no);
    ended.seen.set(lane.no, lane);
    const settlement = settlementOf.get(i);
    if (settlement === undefined) continue;
    const owner = { appNo: integer(row, 'app'), lane: lane.no };
    noteSettled(ended.facts, owner, { settlement, state: stateOf(settlement) });
  }
  return ended;
}

/** What goes back in a lane that has ended, is cancelled. */
function stateOf({ outcome }: Settlement): EndState {
  return endStateOf(outcome, { state: 'ended' }) ?? 'cancelled';
}

/** By place: the lanes and apps of those whose lease is the present one. */
async function find(
  tx: Tx,
  items: readonly Item[],
): Promise<{ lanes: Map<number, number>; apps: Map<number, number> }> {
  const rows = items.length === 0 ? [] : await tx.query(settleSql.find, nameColumns(items));
  const by = (column: string): Map<number, number> =>
    new Map(rows.map((row) => [integer(row, 'i'), integer(row, column)]));
  return { lanes: by('lane'), apps: by('app') };
}

interface Back extends Item {
  lane: Lane;
}

async function back(tx: Tx, items: readonly Back[]): Promise<Set<number>> {
  if (items.length === 0) return new Set();
  const rows = await tx.query(settleSql.back, [
    ...nameColumns(items),
    items.map(({ settlement, lane }) => dueAgainMs(settlement.outcome, lane) ?? null),
    ...attemptValues(items.map(({ settlement }) => settlement.attempt)),
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
