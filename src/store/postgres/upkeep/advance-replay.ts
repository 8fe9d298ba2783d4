// One step of a replay, with all its deliveries in a few statements: publishes wait for the step,
// and one delivery at a time it took ten times as long (docs/performance.md).
import type { DeliveryName } from '../../../core/domain/delivery.ts';
import { deliveryKey } from '../../../core/domain/delivery.ts';
import type { Lane } from '../../../core/domain/lane.ts';
import { factOf } from '../../statistics/transaction-facts.ts';
import type { Row } from '../../sql/row.ts';
import { integer, text } from '../../sql/row.ts';
import type { EditInput, EditOutput } from '../../port/store.ts';
import { beginStep, endStep } from '../../verbs/replays/replays.ts';
import { endStates } from '../../sql/end-states.ts';
import { lockLanes } from '../shared/lanes.ts';
import { makeDeliveriesSql, nextPosition, takePositions } from '../publish/make-deliveries.ts';
import type { PublishContext } from '../publish/publish.ts';
import type { Tx } from '../connection/tx.ts';

// Phrased so that the planner can only look up each element in the table's primary key; see
// 0002_deliveries.sql.
const named = `delivery_done.event = any (array[x.event]) and delivery_done.n = x.n`;

export const advanceReplaySql = {
  // Each delivery goes to the current lane of its callback.
  done: `
    select delivery_done.event, delivery_done.n, callback.lane, delivery_done.callback, state,
      attempts, slice
    from unnest($1::text[], $2::int[]) as x (event, n) join delivery_done on ${named}
    join callback on callback.no = delivery_done.callback
    where delivery_done.app = $3::bigint and ended_ms <= $4::bigint`,
  remove: `
    delete from delivery_done using unnest($1::text[], $2::int[]) as x (event, n)
    where ${named} returning delivery_done.event, delivery_done.n`,
  // In the same order on every node; otherwise two replays of the same events could deadlock.
  lockEvents: `
    select id from event where id = any($1::text[]) order by id for no key update`,
  // While a large fan-out is running, its row holds the count.
  nextOfFanOut: `
    update fanout set made = made + x.joining
    from unnest($1::text[], $2::int[]) as x (event, joining)
    where fanout.event = any (array[x.event]) returning fanout.event, made - x.joining as n`,
  next: `
    update event set deliveries = deliveries + x.joining
    from unnest($1::text[], $2::int[]) as x (event, joining)
    where id = any (array[x.event]) and deliveries is not null
    returning id as event, deliveries - x.joining as n`,
  insert: `
    insert into delivery_live (event, n, app, lane, callback, due_ms, attempts, slice)
    select * from unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[],
      $6::bigint[], $7::int[], $8::bigint[])`,
} as const;

export async function advanceReplay(
  tx: Tx,
  input: EditInput<'advanceReplay'>,
  { nowMs, facts, left }: Pick<PublishContext, 'nowMs' | 'facts' | 'left'>,
): Promise<EditOutput<'advanceReplay'>> {
  const step = await tx.run(beginStep(input));
  if (step === undefined) return { kind: 'moved' };
  const { appNo, createdMs } = step.replay;
  const again = await endedAmong(tx, { names: input.names, appNo, createdMs });
  const sent = await sendAgain(tx, { again, appNo, nowMs });
  left.waiting += sent.length;
  for (const { isDead, lane } of sent) {
    facts.push(factOf(isDead ? 'revived' : 'made', { appNo, lane: lane.no }));
  }
  return tx.run(endStep({ input, step, replayed: sent.length }, nowMs));
}

/** An ended delivery that is sent again. */
interface Again extends DeliveryName {
  lane: Lane;
  callback: number;
  slice: number;
  attempts: number;
  isDead: boolean;
}

/** The deliveries that can be sent again, in the order of the walk. Locks their lanes. */
async function endedAmong(
  tx: Tx,
  { names, appNo, createdMs }: { names: readonly DeliveryName[]; appNo: number; createdMs: number },
): Promise<Again[]> {
  if (names.length === 0) return [];
  const rows = await tx.query(advanceReplaySql.done, [...columnsOf(names), appNo, createdMs]);
  const lanes = await lockLanes(tx, new Set(rows.map((row) => integer(row, 'lane'))));
  const found = new Map(rows.map((row) => [deliveryKey(toName(row)), row]));
  return names.flatMap((name): Again[] => {
    const row = found.get(deliveryKey(name));
    const lane = row && lanes.get(integer(row, 'lane'));
    if (row === undefined || lane === undefined || lane.state === 'ended') return [];
    const isDead = integer(row, 'state') === endStates.dead;
    return [
      {
        ...name,
        lane,
        callback: integer(row, 'callback'),
        slice: integer(row, 'slice'),
        attempts: isDead ? integer(row, 'attempts') : 0,
        isDead,
      },
    ];
  });
}

interface Sending {
  again: readonly Again[];
  appNo: number;
  nowMs: number;
}

/** Returns the deliveries that are due now. */
async function sendAgain(tx: Tx, { again, appNo, nowMs }: Sending): Promise<readonly Again[]> {
  const removed = await removeDead(tx, again);
  const left = again.filter((one) => !one.isDead || removed.has(deliveryKey(one)));
  if (left.length === 0) return [];
  const made = await numbered(tx, left);
  const lanes = new Set(made.map(({ lane }) => lane.no));
  const positions = await takePositions(tx, { deliveries: made, waking: lanes, nowMs });
  const inserted = tx.query(advanceReplaySql.insert, [
    ...columnsOf(made),
    made.map(() => appNo),
    made.map(({ lane }) => lane.no),
    made.map(({ callback }) => callback),
    made.map(({ lane }) => (lane.ordered ? nextPosition(positions, lane.no) : nowMs)),
    made.map(({ attempts }) => attempts),
    made.map(({ slice }) => slice),
  ]);
  await Promise.all([inserted, tx.query(makeDeliveriesSql.wake, [[...lanes], nowMs])]);
  return made;
}

/** A delivery that another node has just sent again is no longer there. */
async function removeDead(tx: Tx, again: readonly Again[]): Promise<Set<string>> {
  const dead = again.filter(({ isDead }) => isDead);
  if (dead.length === 0) return new Set();
  const rows = await tx.query(advanceReplaySql.remove, columnsOf(dead));
  return new Set(rows.map((row) => deliveryKey(toName(row))));
}

/** Dead deliveries keep their number; all others get the next ones of their event. */
async function numbered(tx: Tx, again: readonly Again[]): Promise<Again[]> {
  const joining = new Map<string, number>();
  for (const { event, isDead } of again) {
    if (!isDead) joining.set(event, (joining.get(event) ?? 0) + 1);
  }
  const next = await nextNumbers(tx, joining);
  return again.map((one) => {
    if (one.isDead) return one;
    const n = next.get(one.event);
    if (n === undefined) throw new Error(`Cannot send ${one.event} again: the event was deleted`);
    next.set(one.event, n + 1);
    return { ...one, n };
  });
}

async function nextNumbers(
  tx: Tx,
  joining: ReadonlyMap<string, number>,
): Promise<Map<string, number>> {
  if (joining.size === 0) return new Map();
  const values = [[...joining.keys()], [...joining.values()]];
  const [, ofFanOuts] = await Promise.all([
    tx.query(advanceReplaySql.lockEvents, [[...joining.keys()]]),
    tx.query(advanceReplaySql.nextOfFanOut, values),
  ]);
  const rows = [...ofFanOuts, ...(await tx.query(advanceReplaySql.next, values))];
  return new Map(rows.map((row) => [text(row, 'event'), integer(row, 'n')]));
}

function columnsOf(names: readonly DeliveryName[]): [string[], number[]] {
  return [names.map(({ event }) => event), names.map(({ n }) => n)];
}

function toName(row: Row): DeliveryName {
  return { event: text(row, 'event'), n: integer(row, 'n') };
}
