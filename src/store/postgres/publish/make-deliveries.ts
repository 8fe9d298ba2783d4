// Inserts many deliveries at once: already leased where the node has room for them, otherwise
// pending, and then wakes their lanes.
import type { Lane } from '../../../core/domain/lane.ts';
import { acceptsFresh, wokenReadyMs } from '../../../core/domain/lane.ts';
import type { Fact } from '../../statistics/transaction-facts.ts';
import { factOf } from '../../statistics/transaction-facts.ts';
import { integer } from '../../sql/row.ts';
import type { InsertLeases } from '../../rules/offer-slots.ts';
import { areListenersUnchanged } from './match.ts';
import type { Tx } from '../connection/tx.ts';

export const makeDeliveriesSql = {
  // Positions in ordered lanes: by the row lock, the order of commits is the order of deliveries.
  // Lanes with `joining = 0` are woken later in this transaction and are locked here in turn,
  // because settling locks all lanes by number; without that, nodes deadlock often. The CTE locks
  // and joins in one step, or each lane would be compared with every other.
  order: `
    with l as materialized (
      select lane.no, x.joining from unnest($1::bigint[], $2::int[]) as x (no, joining)
      join lane on lane.no = x.no order by lane.no for no key update of lane)
    update lane set last_ms = greatest(last_ms + 1, $3::bigint) + joining - 1
    from l where lane.no = l.no and joining > 0 returning lane.no, last_ms`,
  insert: `
    insert into delivery_live (event, n, app, lane, callback, due_ms, slice, lease)
    select * from unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[],
      $6::bigint[], $7::bigint[], $8::bigint[])
    where ${areListenersUnchanged}`,
  // A separate statement after the inserts: the transaction that adds a delivery then has an id
  // older than this statement's snapshot, which the marks of a quiet lane rely on. Lanes are locked
  // in one order; without that, nodes deadlock in almost every other transaction. A lane that has
  // ended in the meantime must be swept again.
  wake: `
    with l as materialized (
      select no from lane where no = any($1::bigint[])
        and (state = 2 or hold_ms < 9007199254740991
          and (ready_ms > greatest($2::bigint, hold_ms) or quiet_ms is not null))
      order by no for no key update)
    update lane set quiet_ms = null, quiet_xid = null,
      swept = case state when 2 then 0 else swept end,
      ready_ms = case state when 0 then least(ready_ms, greatest($2::bigint, gate_ms))
        else ready_ms end
    from l where lane.no = l.no`,
} as const;

export interface NewDelivery {
  event: string;
  n: number;
  appNo: number;
  slice: number;
  callback: number;
  /** As this batch knows it. Modified here, so that later calls of the batch see the change. */
  lane: Lane;
}

export interface MakeInput {
  deliveries: readonly NewDelivery[];
  insertLeases: InsertLeases;
  nowMs: number;
  /** Records what is made. */
  facts: Fact[];
}

export interface Made {
  /** How many of the deliveries are pending. */
  waiting: number;
  /** Resolves when all statements were answered. */
  answered: Promise<unknown>;
}

/** Resolves when the statements are sent. */
export async function makeDeliveries(tx: Tx, input: MakeInput): Promise<Made> {
  const { deliveries, insertLeases, nowMs, facts } = input;
  if (deliveries.length === 0) return { waiting: 0, answered: Promise.resolve() };
  const waiting = new Set<number>();
  let waits = 0;
  const leased = deliveries.map((delivery) => {
    const { lane, event, n, appNo, callback } = delivery;
    facts.push(factOf('made', { appNo, lane: lane.no }));
    const isLeased = acceptsFresh(lane, nowMs) && insertLeases.slots.free(lane) > 0;
    if (isLeased) {
      insertLeases.slots.take(lane);
      const { no, version, concurrency } = lane;
      insertLeases.fresh.push({ event, n, appNo, lane: no, callback, version, concurrency });
    } else {
      waiting.add(lane.no);
      waits += 1;
      lane.readyMs = wokenReadyMs(lane, nowMs);
    }
    return { ...delivery, lease: isLeased ? insertLeases.slots.lease : null };
  });
  const positions = await takePositions(tx, { deliveries, waking: waiting, nowMs });
  const rows = leased.map((row) => {
    return { ...row, dueMs: row.lane.ordered ? nextPosition(positions, row.lane.no) : nowMs };
  });
  const inserted = tx.query(makeDeliveriesSql.insert, [
    rows.map(({ event }) => event),
    rows.map(({ n }) => n),
    rows.map(({ appNo }) => appNo),
    rows.map(({ lane }) => lane.no),
    rows.map(({ callback }) => callback),
    rows.map(({ dueMs }) => dueMs),
    rows.map(({ slice }) => slice),
    rows.map(({ lease }) => lease),
  ]);
  const woken = waiting.size === 0 ? [] : tx.query(makeDeliveriesSql.wake, [[...waiting], nowMs]);
  return { waiting: waits, answered: Promise.all([inserted, woken]) };
}

export interface Joining {
  deliveries: readonly Pick<NewDelivery, 'lane'>[];
  /** Lanes that the same transaction wakes afterwards. */
  waking: ReadonlySet<number>;
  nowMs: number;
}

/** The first free position of each ordered lane. */
export async function takePositions(
  tx: Tx,
  { deliveries, waking, nowMs }: Joining,
): Promise<Map<number, number>> {
  const joining = new Map<number, number>();
  for (const { lane } of deliveries) {
    if (lane.ordered) joining.set(lane.no, (joining.get(lane.no) ?? 0) + 1);
  }
  if (joining.size === 0) return new Map();
  for (const no of waking) joining.set(no, joining.get(no) ?? 0);
  const values = [[...joining.keys()], [...joining.values()], nowMs];
  const rows = await tx.query(makeDeliveriesSql.order, values);
  return new Map(
    rows.map((row) => {
      const no = integer(row, 'no');
      return [no, integer(row, 'last_ms') - (joining.get(no) ?? 0) + 1];
    }),
  );
}

export function nextPosition(positions: Map<number, number>, lane: number): number {
  const position = positions.get(lane);
  if (position === undefined) throw new Error(`Cannot join lane ${lane}: it has no position`);
  positions.set(lane, position + 1);
  return position;
}
