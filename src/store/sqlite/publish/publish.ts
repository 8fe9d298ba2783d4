// Publish: inserts events with their deliveries, or with the cursor of a fan-out, and the
// idempotency key; all or nothing: transaction/transaction.ts begins and commits.
import type { DatabaseSync } from 'node:sqlite';
import { payloadMatcher, type Rules } from '../../../core/domain/filter.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Accepted } from '../../port/delivery-verbs.ts';
import {
  filterListeners,
  type Listener,
  rulesIn,
  matchingPatterns,
} from '../../rules/listeners.ts';
import { printResult, readResult } from '../../verbs/shared/idempotency.ts';
import type { EditInput } from '../../port/store.ts';
import { integer, text, maybe, one } from '../../sql/row.ts';
import { reachOf } from '../../verbs/lists/slices-in-time.ts';
import { publishedFact } from '../../statistics/transaction-facts.ts';
import { leaveNotice } from '../../verbs/shared/notices.ts';
import type { Edit, EditContext, PublishMemo } from '../transaction/edit.ts';
import { prepareScripts } from '../transaction/run-script.ts';
import { prepareIdempotencyKeys } from './idempotency.ts';
import { prepareMakeDelivery } from './make-delivery.ts';
import { prepareFilters, prepareMatch } from './match.ts';

export const publishSql = {
  event: `
    insert into event (id, app, name, slice, created_ms, deliveries, payload, trace)
    values (?, ?, ?, ?, ?, ?, ?, ?)`,
  fanOut: `
    insert into fanout (event, app, contract, version, names)
    select ?, no, ?, version, ? from app where no = ?`,
  subscription: `
    select no, filter from subscription where id = ? and app = ? and state <> 'ended'`,
} as const;

type Publish = EditInput<'publish'>;
type NewEvent = Publish['events'][number];

export function preparePublish(db: DatabaseSync): Edit<'publish'> {
  const idempotencyKeys = prepareIdempotencyKeys(db);
  const subscription = db.prepare(publishSql.subscription);
  const accept = prepareAccept(db);
  const runScript = prepareScripts(db);

  return (input, context) => {
    const { appNo, audience, events, idempotency, notice } = input;
    const { nowMs } = context;
    if (notice !== undefined && !runScript(leaveNotice(notice))) return { kind: 'taken' };
    if (idempotency !== undefined) {
      const earlier = idempotencyKeys.find({ appNo, idempotency, nowMs });
      if (earlier.kind === 'other') return { kind: 'mismatch' };
      if (earlier.kind === 'same') return { kind: 'repeated', events: readResult(earlier.result) };
    }
    let addressed: Addressee | undefined;
    if (audience.kind !== 'everyone') {
      const row = subscription.get(audience.id, appNo);
      if (row === undefined) return { kind: 'not_found' };
      addressed = { no: integer(row, 'no'), rules: rulesIn(row) };
    }
    const addressing = { ...input, addressed };
    const accepted = events.map((event) => accept(event, addressing, context));
    if (idempotency !== undefined) {
      idempotencyKeys.keep({ appNo, idempotency, nowMs, result: printResult(accepted) });
    }
    context.facts.push(publishedFact(appNo, events.length));
    return { kind: 'accepted', events: accepted };
  };
}

interface Addressee {
  no: number;
  rules: Rules | undefined;
}

type Addressed = Publish & { addressed: Addressee | undefined };
type Accept = (event: NewEvent, input: Addressed, context: EditContext) => Accepted;

function prepareAccept(db: DatabaseSync): Accept {
  const match = prepareMatch(db);
  const withRules = prepareFilters(db);
  const insert = db.prepare(publishSql.event);
  const fanOut = db.prepare(publishSql.fanOut);
  const make = prepareMakeDelivery(db);
  const takeSlice = prepareSlices(db);

  const everyone = (
    name: string,
    { appNo, contract }: Addressed,
    memo: PublishMemo,
  ): readonly Listener[] | undefined => {
    const question = `${appNo} ${name} ${contract}`;
    if (memo.listeners.has(question)) return memo.listeners.get(question);
    const found = match.everyone({ appNo, contract, name }, memo.lanes);
    // Counted before filtering: applying that many filters is also the work of a fan-out.
    const isMany = found.length > limits.targetsAtOnceMax;
    const listeners = isMany ? undefined : withRules(found, memo.rules);
    memo.listeners.set(question, listeners);
    return listeners;
  };

  /** Undefined: so many callbacks match that a fan-out must handle them. */
  const listenersOf = (
    { name, payload }: NewEvent,
    input: Addressed,
    memo: PublishMemo,
  ): readonly Listener[] | undefined => {
    const { addressed, audience } = input;
    if (addressed === undefined) {
      const listeners = everyone(name, input, memo);
      return listeners && filterListeners(listeners, payload);
    }
    const { no, rules } = addressed;
    if (audience.kind === 'all_callbacks') return match.ofSubscription(no, undefined, memo.lanes);
    const isMeant = rules === undefined || payloadMatcher(payload)(rules);
    return isMeant ? match.ofSubscription(no, name, memo.lanes) : [];
  };

  return (event, input, context) => {
    const { id, name, payload } = event;
    const { appNo, contract, trace = null } = input;
    const listeners = listenersOf(event, input, context.memo);
    const deliveries = listeners?.length;
    const slice = takeSlice({ event: id, rows: 1 + (deliveries ?? 0) }, context);
    insert.run(id, appNo, name, slice, context.nowMs, deliveries ?? null, payload, trace);
    if (listeners === undefined)
      fanOut.run(id, contract, JSON.stringify(matchingPatterns(name)), appNo);
    for (const [n, listener] of (listeners ?? []).entries()) {
      make({ event: id, n, appNo, slice, ...listener }, context);
    }
    return { id, deliveries };
  };
}

// Slices: runs of a few thousand rows in the order they were published. The counter is kept in
// memory; a rolled-back batch leaves a short slice behind, which is harmless. The span of a slice,
// which searches rely on, is written together with its events.

export const slicesSql = {
  last: 'select max(slice) as slice from event',
  rows: 'select count(*) as rows from event where slice = ?',
  span: 'select first_event, last_event from slice_span where slice = ?',
  widen: `
    insert into slice_span (slice, first_event, last_event) values (:slice, :event, :reach)
    on conflict (slice) do update set
      first_event = min(first_event, excluded.first_event),
      last_event = max(last_event, excluded.last_event)`,
} as const;

/** Returns the slice of the next event, which writes that many rows. */
type TakeSlice = (
  written: { event: string; rows: number },
  context: Pick<EditContext, 'nowMs' | 'memo'>,
) => number;

function prepareSlices(db: DatabaseSync): TakeSlice {
  const found = maybe(integer, one(db.prepare(slicesSql.last).get()), 'slice');
  const readSpan = db.prepare(slicesSql.span);
  const widen = db.prepare(slicesSql.widen);
  let slice = found ?? 1;
  let rowsInSlice = integer(one(db.prepare(slicesSql.rows).get(slice)), 'rows');
  let sinceMs: number | undefined;
  const spanOf = (): PublishMemo['span'] => {
    const row = readSpan.get(slice);
    return row && { slice, first: text(row, 'first_event'), last: text(row, 'last_event') };
  };
  return ({ event, rows }, { nowMs, memo }) => {
    if (rowsInSlice >= limits.sliceRowsMax) {
      slice += 1;
      rowsInSlice = 0;
      sinceMs = undefined;
    }
    sinceMs ??= nowMs;
    rowsInSlice += rows;
    if (memo.span?.slice !== slice) memo.span = spanOf();
    const { span } = memo;
    if (span === undefined || event < span.first || event > span.last) {
      widen.run({ slice, event, reach: reachOf(event, nowMs - sinceMs) });
      memo.span = undefined; // The span has changed, so it must be read again.
    }
    return slice;
  };
}
