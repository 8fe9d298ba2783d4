// Nodes: which are alive, and whose leases are free. Times are the database's own: a node with a
// wrong clock must neither look dead nor declare others dead.
import { laneAfterSettlement } from '../../../core/domain/lane.ts';
import type { Row } from '../../sql/row.ts';
import { integer, one } from '../../sql/row.ts';
import type { EditInput, EditOutput } from '../../port/store.ts';
import { lockLanes, clearFloors, writeLanes } from '../shared/lanes.ts';
import { isLeasedAs } from '../deliver/settle.ts';
import type { Tx } from '../connection/tx.ts';

/** $1 in tests that set the time, otherwise the database's clock. */
const now = 'coalesce($1::bigint, (extract(epoch from clock_timestamp()) * 1000)::bigint)';
/** Uses the index of leased rows, never an index by lane, where a backlog may be large. */
const orphaned = `lease is not null and lease >> 32 >= 0
      and not exists (select from node where no = lease >> 32 and gone = 0)`;

/** Rows with one of these leases; their nodes are named too, because the index is by node. */
function leased(leases: string): string {
  return `lease is not null and lease = any(${leases}::bigint[])
      and lease >> 32 = any(select one >> 32 from unnest(${leases}::bigint[]) as one)`;
}

export const nodesSql = {
  insert: `
    insert into node (name, role, version, started_ms, seen_ms)
    select $2, $3, $4, now_ms, now_ms from (select ${now} as now_ms) as clock returning no`,
  seen: `update node set seen_ms = ${now} where no = $2 and gone = 0 returning no`,
  stop: 'update node set gone = 1 where no = $1',
  silent: `
    update node set gone = 1 where gone = 0 and seen_ms < ${now} - $2::bigint returning no`,
  // Every leased row (at most nodes times window), not only those of nodes that have just gone: a
  // node that does not know yet that it is gone may still insert leased deliveries.
  orphans: `select distinct lane from delivery_live where ${orphaned}`,
  // `lane + 0`: with a plain `lane`, a plan made on an empty table would read all live rows.
  free: `
    update delivery_live set lease = null where ${orphaned} and lane + 0 = any($1::bigint[])
    returning lane`,
  leased: `select distinct lane from delivery_live where ${leased('$1')}`,
  freeLeased: `
    update delivery_live set lease = null where ${leased('$2')} and lane = any($1::bigint[])
    returning lane`,
  heldBy: `
    select event, n, lease, lane from delivery_live where lease is not null and lease >> 32 = $1`,
  freeNamed: `
    update delivery_live set lease = null
    from unnest($2::text[], $3::int[], $4::bigint[]) as x (event, n, lease)
    where ${isLeasedAs} and lane + 0 = any($1::bigint[])
    returning lane`,
  sweepAgain: `
    update lane set swept = 0, quiet_ms = null, quiet_xid = null
    where no = any($1::bigint[]) and state = 2`,
  // A number that a lease still names must stay known as gone.
  forget: `
    delete from node where gone = 1 and seen_ms < $1::bigint
      and not exists (
        select from delivery_live where lease is not null and lease >> 32 = node.no offset 0)
    returning no`,
} as const;

/** The time in tests that set it, else null: the database's clock counts. */
export type TestTimeMs = number | null;

export async function startNode(
  tx: Tx,
  { name, role, version, aloneHere }: EditInput<'startNode'>,
  givenMs: TestTimeMs,
): Promise<EditOutput<'startNode'>> {
  if (aloneHere) throw new Error('Cannot start a node alone on PostgreSQL: others may be there');
  const [row] = await tx.query(nodesSql.insert, [givenMs, name, role, version]);
  return { node: integer(one(row), 'no'), freed: 0 };
}

export async function heartbeat(
  tx: Tx,
  { node }: EditInput<'heartbeat'>,
  givenMs: TestTimeMs,
): Promise<EditOutput<'heartbeat'>> {
  const [row] = await tx.query(nodesSql.seen, [givenMs, node]);
  return { kind: row === undefined ? 'gone' : 'alive' };
}

export async function stopNode(
  tx: Tx,
  { node }: EditInput<'stopNode'>,
): Promise<EditOutput<'stopNode'>> {
  await tx.query(nodesSql.stop, [node]);
  return { kind: 'gone' };
}

export async function rescue(
  tx: Tx,
  { silentMs }: EditInput<'rescue'>,
  { givenMs, nowMs }: { givenMs: TestTimeMs; nowMs: number },
): Promise<EditOutput<'rescue'>> {
  const gone = (await tx.query(nodesSql.silent, [givenMs, silentMs])).length;
  const found = lanesOf(await tx.query(nodesSql.orphans, []));
  const freed = await freeIn(tx, found, nowMs, async (lanes) => tx.query(nodesSql.free, [lanes]));
  return { gone, freed };
}

/** Deletes incarnations that are gone and hold no lease. */
export async function forgetNodes(tx: Tx, beforeMs: number): Promise<number> {
  return (await tx.query(nodesSql.forget, [beforeMs])).length;
}

/** Frees the rows with these leases, of whatever node; returns how many. */
export async function freeLeases(
  tx: Tx,
  leases: readonly number[],
  nowMs: number,
): Promise<number> {
  const found = lanesOf(await tx.query(nodesSql.leased, [leases]));
  return freeIn(tx, found, nowMs, async (lanes) => tx.query(nodesSql.freeLeased, [lanes, leases]));
}

export interface NamedLease {
  event: string;
  n: number;
  lease: number;
  lane: number;
}

/** Frees these rows if they still have the lease; returns how many. */
export async function freeNamed(
  tx: Tx,
  leases: readonly NamedLease[],
  nowMs: number,
): Promise<number> {
  return freeIn(tx, leases, nowMs, async (lanes) =>
    tx.query(nodesSql.freeNamed, [
      lanes,
      leases.map(({ event }) => event),
      leases.map(({ n }) => n),
      leases.map(({ lease }) => lease),
    ]),
  );
}

/** Opens only lanes in which a row was freed: another node may have been first. */
async function freeIn(
  tx: Tx,
  found: readonly { lane: number }[],
  nowMs: number,
  free: (lanes: readonly number[]) => Promise<readonly Row[]>,
): Promise<number> {
  if (found.length === 0) return 0;
  const lanes = await lockLanes(tx, new Set(found.map(({ lane }) => lane)));
  const freed = await free([...lanes.keys()]);
  const numbers = [...new Set(freed.map((row) => integer(row, 'lane')))];
  if (numbers.length === 0) return 0;
  const woken = [...lanes.values()].flatMap((lane) => {
    if (lane.state === 'ended' || !numbers.includes(lane.no)) return [];
    return [{ ...lane, ...laneAfterSettlement(lane, nowMs, { kind: 'released', dueMs: nowMs }) }];
  });
  await Promise.all([
    tx.query(nodesSql.sweepAgain, [numbers]),
    clearFloors(tx, numbers),
    writeLanes(tx, woken),
  ]);
  return freed.length;
}

function lanesOf(rows: readonly Row[]): { lane: number }[] {
  return rows.map((row) => ({ lane: integer(row, 'lane') }));
}
