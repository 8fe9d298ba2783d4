// One step of the oldest large fan-out that no other node is working on. The deliveries and the
// cursor are written in one transaction, so that a crash neither loses nor duplicates a delivery.
import type { Leased } from '../../../core/domain/delivery.ts';
import { filterListeners, toFoundListener, type FoundListener } from '../../rules/listeners.ts';
import {
  stepFor,
  toFanningOut,
  type FanningOut,
  type ListenerPage,
  type StalledFanOuts,
} from '../../rules/fan-outs.ts';
import type { InsertLeases } from '../../rules/offer-slots.ts';
import { integer, text, type Row } from '../../sql/row.ts';
import type { Fact } from '../../statistics/transaction-facts.ts';
import { laneColumns, toLane } from '../../verbs/shared/lanes.ts';
import { inSavepoint, type BatchMode, type Tx } from '../connection/tx.ts';
import { makeDeliveries } from '../publish/make-deliveries.ts';
import { skipListeners, withRules, type Skipping } from '../publish/match.ts';

export const fanOutSql = {
  oldest: `
    select fanout.event, fanout.app, contract, version, names, step, callback, made,
      event.name, event.slice, event.payload, event.trace, event.skipped
    from fanout join event on event.id = fanout.event
    where fanout.event > $1 and fanout.event <> all($2::text[])
    order by fanout.event limit 1 for update of fanout skip locked`,
  listeners: `
    select pattern.callback, filtered, lane.subscription, ${laneColumns}
    from pattern join lane on lane.no = pattern.lane
    where pattern.app = $1 and contract = $2 and pattern = $3 and pattern.callback > $4
      and born <= $5 and (died is null or died > $5)
    order by pattern.callback limit $6`,
  // By the callbacks alone, with expressions that match no index that begins with the app.
  matched: `
    select distinct callback from pattern
    where callback = any($1::bigint[]) and pattern || '' = any($2::text[])
      and born + 0 <= $3 and (died is null or died > $3)`,
  move: 'update fanout set step = $2, callback = $3, made = $4 where event = $1',
  count: 'update event set deliveries = $2 where id = $1',
  end: 'delete from fanout where event = $1',
} as const;

export interface FannedOut {
  deliveries: Leased[];
  waiting: number;
  /** False: there was no fan-out, or other nodes work on all of them. */
  isDone: boolean;
}

interface StepContext {
  insertLeases: InsertLeases;
  nowMs: number;
  facts: Fact[];
}

/**
 * `alone`: a fan-out that fails is skipped, because this node would otherwise retry it forever and
 * never reach another.
 */
export async function fanOut(
  tx: Tx,
  { stalled, mode, ...context }: StepContext & { stalled: StalledFanOuts; mode: BatchMode },
): Promise<FannedOut> {
  const [row] = await tx.query(fanOutSql.oldest, [stalled.upTo(), stalled.events()]);
  if (row === undefined) return { deliveries: [], waiting: 0, isDone: false };
  if (mode === 'together') return takeStep(tx, row, context);
  const taken = await inSavepoint(tx, 'fanOut', async () => takeStep(tx, row, context));
  if (taken.kind === 'done') return taken.output;
  context.facts.length = 0; // They were rolled back.
  stalled.add(text(row, 'event'), taken.message);
  return { deliveries: [], waiting: 0, isDone: true };
}

async function takeStep(
  tx: Tx,
  row: Row,
  { insertLeases, nowMs, facts }: StepContext,
): Promise<FannedOut> {
  const fanningOut = toFanningOut(row);
  const { event, appNo, slice, made, sent, skipped } = fanningOut;
  const { listeners: matched, after } = await next(
    tx,
    fanningOut,
    stepFor(insertLeases.slots, fanningOut),
  );
  const [some = []] = await withRules(tx, [matched]);
  const reached: Skipping = { listeners: filterListeners(some, sent.payload), skipped };
  await skipListeners(tx, [reached]);
  const { listeners = [] } = reached;
  const deliveries = listeners.map(({ callback, lane }, i) => {
    return { event, n: made + i, appNo, slice, callback, lane };
  });
  const { waiting, answered } = await makeDeliveries(tx, {
    deliveries,
    insertLeases,
    nowMs,
    facts,
  });
  const madeNow = made + listeners.length;
  const moved =
    after === undefined
      ? [tx.query(fanOutSql.count, [event, madeNow]), tx.query(fanOutSql.end, [event])]
      : [tx.query(fanOutSql.move, [event, after.step, after.callback, madeNow])];
  await Promise.all([answered, ...moved]);
  const { lease } = insertLeases.slots;
  const fresh = insertLeases.fresh.map((one) => ({
    ...one,
    ...sent,
    tries: 0,
    attempts: 0,
    lease,
  }));
  return { deliveries: fresh, waiting, isDone: true };
}

async function next(
  tx: Tx,
  fanningOut: FanningOut,
  most: number,
): Promise<ListenerPage<FoundListener>> {
  const { appNo, contract, version, names, cursor } = fanningOut;
  const found: FoundListener[] = [];
  let left = most;
  let from = cursor.callback;
  for (const [index, pattern] of names.entries()) {
    if (index < cursor.step) continue;
    const values = [appNo, contract, pattern, from, version, left];
    const rows = await tx.query(fanOutSql.listeners, values);
    const some = rows.map((row) => toFoundListener(row, toLane(row)));
    const callbacks = some.map(({ callback }) => callback);
    const matched = await matchedEarlier(tx, { callbacks, names: names.slice(0, index), version });
    found.push(
      ...some.filter(({ callback, lane }) => lane.state !== 'ended' && !matched.has(callback)),
    );
    from = callbacks.at(-1) ?? from;
    left -= rows.length;
    if (left === 0) return { listeners: found, after: { step: index, callback: from } };
    from = 0;
  }
  return { listeners: found, after: undefined };
}

/** Callbacks that also match by an earlier pattern: they already have their delivery. */
async function matchedEarlier(
  tx: Tx,
  input: { callbacks: readonly number[]; names: readonly string[]; version: number },
): Promise<Set<number>> {
  const { callbacks, names, version } = input;
  if (callbacks.length === 0 || names.length === 0) return new Set();
  const rows = await tx.query(fanOutSql.matched, [callbacks, names, version]);
  return new Set(rows.map((row) => integer(row, 'callback')));
}
