// Claim: leases pending deliveries to a node. Apps take turns, and lanes that have been ready for
// longest come first. The index skips lanes that are full, held, broken or not due yet; lanes
// locked by another node are skipped too. The conditions on lanes and apps are in lane-room-sql.ts.
import type { Leased } from '../../../core/domain/delivery.ts';
import type { Lane, LaneTimes, Quiet, QuietStep } from '../../../core/domain/lane.ts';
import { postponeIdle, laneAfterClaim, never, claimRoom } from '../../../core/domain/lane.ts';
import { limits } from '../../../core/limits/limits.ts';
import { fairOrder } from '../../rules/fair-order.ts';
import { toLeased } from '../../verbs/shared/delivery.ts';
import type { Row } from '../../sql/row.ts';
import { integer, maybe, text } from '../../sql/row.ts';
import type { OfferSlots } from '../../rules/offer-slots.ts';
import { laneColumns, toLane } from '../../verbs/shared/lanes.ts';
import { hasRoom, readyApps, slotsJson } from './lane-room-sql.ts';
import { laneIsOlder } from '../connection/transact.ts';
import type { Tx } from '../connection/tx.ts';

// `quiet_xid` is the mark of `postponeIdle` in core/domain/lane.ts. In a database that was restored
// from a backup of another cluster it may lie in the future, and is then ignored.
const openColumns = `${laneColumns}, floor_ms, quiet_ms,
      case when quiet_xid < pg_snapshot_xmax(pg_current_snapshot()) then 1 else 0 end as is_marked,
      case when quiet_xid <= pg_snapshot_xmin(pg_current_snapshot()) then 1 else 0 end as is_sure,
      case when ${laneIsOlder} then 1 else 0 end as is_older`;

export const claimSql = {
  lanes: `
    select ${openColumns}
    from lane
    where ready_ms >= $1::bigint and ready_ms <= $2::bigint and ready_ms < 9007199254740991
      and ${hasRoom('$3', '$5')}
    order by ready_ms, no limit $4 for no key update skip locked`,
  // A few lanes of each app in turn, if there are more ready lanes than a claim looks at or an app
  // has no room.
  lanesByApp: `
    ${readyApps('$2', '$4', '$5')}
    select apps.app as looked_at, first.* from apps left join lateral (
      select ${openColumns}
      from lane
      where lane.app = apps.app and ready_ms <= $1::bigint and ready_ms < 9007199254740991
        and ${hasRoom('$3', '$7')}
      order by ready_ms, no limit $6 for no key update skip locked) first on true`,
  // Lanes by their numbers: `+ 0` keeps the planner from reading all ready lanes of an app instead.
  provenLanes: `
    select ${openColumns}
    from lane
    where no = any($3::bigint[]) and app + 0 = any($4::bigint[])
      and ready_ms + 0 <= $1::bigint and ${hasRoom('$2', '$5')}
    for no key update skip locked`,
  // One row more than the claim may take, which tells when the lane is ready again.
  due: `
    select x.no as lane, y.event, y.n, y.due_ms
    from unnest($1::bigint[], $2::int[], $3::bigint[]) as x (no, most, floor_ms)
    cross join lateral (
      select event, n, due_ms from delivery_live
      where lane = x.no and lease is null and due_ms >= x.floor_ms
      order by due_ms, event, n limit x.most + 1) y`,
  // Written as `lease is null`, the condition would match the index of all pending deliveries, and
  // a plan made on an empty table would scan it from end to end.
  lease: `
    update delivery_live set lease = $3::bigint
    from unnest($1::text[], $2::int[]) as x (event, n)
    where delivery_live.event = any (array[x.event]) and delivery_live.n = x.n
      and coalesce(lease, 0) = 0
    returning delivery_live.event, delivery_live.n, lane, callback, tries, attempts`,
  // Each event once, however many of its deliveries are claimed: its payload may be 1 MB. Looked up
  // by a range of one id, which only the primary key supports: with `id = x.id`, a plan for a
  // partition that was analyzed while empty (a nightly vacuumdb does that) scans all of another
  // index.
  events: `
    select event.id, event.name, event.payload, event.trace
    from unnest($1::text[]) as x (id) cross join lateral (
      select id, name, payload, trace from event where id >= x.id and id <= x.id
      order by id limit 1) event`,
  look: `
    update lane set gate_ms = x.gate_ms, ready_ms = x.ready_ms, tat_ms = x.tat_ms,
      floor_ms = x.floor_ms,
      quiet_ms = case x.quiet when 'none' then null when 'start' then $7::bigint
        else lane.quiet_ms end,
      quiet_xid = case x.quiet when 'mark' then pg_current_xact_id()
        when 'keep' then lane.quiet_xid else null end
    from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::float8[], $5::bigint[], $6::text[])
      as x (no, gate_ms, ready_ms, tat_ms, floor_ms, quiet)
    where lane.no = x.no`,
} as const;

/** Where scans begin. Further back there are usually only dead rows that old transactions keep. */
export interface Floors {
  /** Skips lanes that were ready before this time, and rows of a lane below its own floor. */
  readyMs: number;
  isDropped: boolean;
}

/** The last app that was looked at, if there are too many for one claim; 0 at first. */
export interface AppTurns {
  lastApp: number;
}

export interface ClaimInput {
  slots: OfferSlots;
  nowMs: number;
  floors: Floors;
  turns: AppTurns;
  lingerMs: { least: number; most: number };
}

export interface Claimed {
  deliveries: Leased[];
  /** When the first lane found became ready; undefined if there was none. */
  firstReadyMs: number | undefined;
}

export async function claim(tx: Tx, input: ClaimInput): Promise<Claimed> {
  const { slots, nowMs } = input;
  const { open, firstReadyMs } = await readyLanes(tx, input);
  if (open.length === 0) return { deliveries: [], firstReadyMs: undefined };
  // A few rows of each lane; if few lanes are ready, they share all the room.
  const quantum = Math.max(limits.lookRowsMax, Math.floor(slots.room() / open.length));
  const waiting = await findWaiting(tx, open, { ...input, quantum });
  const looks: Look[] = [];
  for (const lane of open) {
    if (slots.room() <= 0) break;
    looks.push(lookAt(lane, waiting.get(lane.no) ?? [], { ...input, quantum }));
  }
  const [deliveries] = await Promise.all([lease(tx, looks, slots), write(tx, looks, nowMs)]);
  return { deliveries, firstReadyMs };
}

interface ReadyLanes extends Pick<Claimed, 'firstReadyMs'> {
  open: readonly OpenLane[];
}

/**
 * Locks ready lanes that have room. If there are more than a claim looks at, a few of each app in
 * turn.
 */
async function readyLanes(
  tx: Tx,
  { slots, nowMs, floors, turns }: ClaimInput,
): Promise<ReadyLanes> {
  const left = slotsJson(slots);
  const { whole, unproven, proven } = slots.fullApps();
  const full = [...whole, ...unproven];
  const found =
    full.length > 0
      ? []
      : await tx.query(claimSql.lanes, [
          floors.readyMs,
          nowMs,
          left,
          limits.claimLanesMax,
          slots.laneRoom,
        ]);
  const isAll = full.length === 0 && found.length < limits.claimLanesMax;
  const [first] = found;
  if (isAll) {
    const open = found.map((row) => toOpen(row, floors));
    const firstReadyMs = first && integer(first, 'ready_ms');
    return { open: fairOrder(open, slots), firstReadyMs };
  }
  const most = [limits.claimAppsMax, limits.claimAppLanesMax];
  const [ofApps, named] = await Promise.all([
    tx.query(claimSql.lanesByApp, [nowMs, turns.lastApp, left, full, ...most, slots.laneRoom]),
    unproven.length === 0
      ? []
      : tx.query(claimSql.provenLanes, [nowMs, left, proven, unproven, slots.laneRoom]),
  ]);
  const apps = new Set(ofApps.map((row) => integer(row, 'looked_at')));
  turns.lastApp = apps.size < limits.claimAppsMax ? 0 : Math.max(...apps);
  const ready = ofApps.filter((row) => row['lane'] !== null);
  const rows = new Map([...found, ...ready, ...named].map((row) => [integer(row, 'lane'), row]));
  const open = [...rows.values()].map((row) => toOpen(row, floors));
  // Lanes of full apps were skipped, so the position of the first lane is unknown.
  return { open: fairOrder(open, slots).slice(0, limits.claimLanesMax), firstReadyMs: undefined };
}

/** A lane that was found ready and is locked by this transaction. */
interface OpenLane extends Lane {
  floorMs: number;
  quiet: Quiet;
}

function toOpen(row: Row, { isDropped }: Floors): OpenLane {
  const floorMs = isDropped ? 0 : integer(row, 'floor_ms');
  return {
    ...toLane(row),
    floorMs,
    quiet: {
      sinceMs: maybe(integer, row, 'quiet_ms'),
      isOlder: integer(row, 'is_older') === 1,
      isMarked: integer(row, 'is_marked') === 1,
      // Only a look that saw every row can be sure.
      isSure: integer(row, 'is_sure') === 1 && floorMs === 0,
    },
  };
}

interface Waiting {
  event: string;
  n: number;
  dueMs: number;
}

type Looking = ClaimInput & { quantum: number };

/** By lane: its first pending deliveries, one more than the claim may take. */
async function findWaiting(
  tx: Tx,
  open: readonly OpenLane[],
  { slots, nowMs, quantum }: Looking,
): Promise<Map<number, Waiting[]>> {
  const rows = await tx.query(claimSql.due, [
    open.map(({ no }) => no),
    open.map((lane) => claimRoom(lane, nowMs, { free: slots.free(lane), quantum })),
    open.map(({ floorMs }) => floorMs),
  ]);
  const found = new Map<number, Waiting[]>(open.map(({ no }) => [no, []]));
  for (const row of rows) {
    const one = { event: text(row, 'event'), n: integer(row, 'n'), dueMs: integer(row, 'due_ms') };
    found.get(integer(row, 'lane'))?.push(one);
  }
  for (const some of found.values()) some.sort(byDue);
  return found;
}

function byDue(a: Waiting, b: Waiting): number {
  if (a.dueMs !== b.dueMs) return a.dueMs - b.dueMs;
  if (a.event !== b.event) return a.event < b.event ? -1 : 1;
  return a.n - b.n;
}

interface Look {
  lane: OpenLane;
  taken: readonly Waiting[];
  times: LaneTimes;
  quiet: QuietStep;
  floorMs: number;
}

/** Looks at a lane: takes what it may, and decides when to look again. */
function lookAt(lane: OpenLane, waiting: readonly Waiting[], looking: Looking): Look {
  const { slots, nowMs, quantum, lingerMs } = looking;
  const most = claimRoom(lane, nowMs, { free: slots.free(lane), quantum });
  const untilMs = lane.ordered ? never : nowMs;
  const taken = waiting.slice(0, most).filter(({ dueMs }) => dueMs <= untilMs);
  for (let i = 0; i < taken.length; i += 1) slots.take(lane);
  const nextMs = waiting[taken.length]?.dueMs;
  const took = taken.length;
  const times = laneAfterClaim(lane, nowMs, { took, nextMs });
  const dueMs = lane.ordered && nextMs !== undefined ? nowMs : nextMs;
  const after = postponeIdle(times, nowMs, { took, nextMs: dueMs, quiet: lane.quiet, lingerMs });
  // Not above the present: the next delivery may be a retry in an hour, and fresh ones would be
  // below that floor.
  const firstMs = Math.min(waiting[0]?.dueMs ?? 0, nowMs);
  const floorMs = after.quiet === 'none' ? Math.max(firstMs - limits.floorMs, 0) : 0;
  return { lane, taken, times: { ...times, readyMs: after.readyMs }, quiet: after.quiet, floorMs };
}

async function lease(tx: Tx, looks: readonly Look[], slots: OfferSlots): Promise<Leased[]> {
  const taken = looks.flatMap(({ lane, taken: some }) => some.map((one) => ({ ...one, lane })));
  if (taken.length === 0) return [];
  const ids = taken.map(({ event }) => event);
  const [rows, events] = await Promise.all([
    tx.query(claimSql.lease, [ids, taken.map(({ n }) => n), slots.lease]),
    tx.query(claimSql.events, [[...new Set(ids)]]),
  ]);
  const byId = new Map(events.map((row) => [text(row, 'id'), row]));
  const byName = new Map(rows.map((row) => [`${text(row, 'event')} ${integer(row, 'n')}`, row]));
  return taken.flatMap(({ event, n, lane }): Leased[] => {
    const row = byName.get(`${event} ${n}`);
    const of = byId.get(event);
    if (row === undefined || of === undefined) return []; // It has expired in the meantime.
    return [toLeased({ ...of, ...row }, lane, slots.lease)];
  });
}

async function write(tx: Tx, looks: readonly Look[], nowMs: number): Promise<void> {
  if (looks.length === 0) return;
  await tx.query(claimSql.look, [
    looks.map(({ lane }) => lane.no),
    looks.map(({ times }) => times.gateMs),
    looks.map(({ times }) => times.readyMs),
    looks.map(({ times }) => times.tatMs),
    looks.map(({ floorMs }) => floorMs),
    looks.map(({ quiet }) => quiet),
    nowMs,
  ]);
}
