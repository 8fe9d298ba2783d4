// Publish: inserts events with their deliveries, or with the cursor of a fan-out, and the
// idempotency key; all or nothing: transaction/transaction.ts begins and commits.
import type { DatabaseSync } from 'node:sqlite';
import { payloadMatcher, type Rules } from '../../../core/domain/filter.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Accepted, NewEvent } from '../../port/delivery-verbs.ts';
import {
  filterListeners,
  isOfOther,
  type Listener,
  printSkipped,
  rulesIn,
} from '../../rules/listeners.ts';
import {
  matchingKeys,
  ownersNamed,
  passedByKeys,
  type Matching,
  type Owner,
} from '../../rules/pattern-keys.ts';
import { printResult, readResult, type EarlierRequest } from '../../verbs/shared/idempotency.ts';
import type { EditInput, EditOutput, Idempotency } from '../../port/store.ts';
import { bytes, integer, text, maybe, one } from '../../sql/row.ts';
import { reachOf } from '../../verbs/lists/slices-in-time.ts';
import { publishedFact } from '../../statistics/transaction-facts.ts';
import { leaveNotice } from '../../verbs/shared/notices.ts';
import type { Edit, EditContext, PublishMemo } from '../transaction/edit.ts';
import { prepareScripts } from '../transaction/run-script.ts';
import { prepareMakeDelivery } from './make-delivery.ts';
import { prepareFilters, prepareMatch, prepareSkips, type Match } from './match.ts';

export const publishSql = {
  event: `
    insert into event
      (id, app, name, slice, created_ms, deliveries, payload, trace, subject, customer, skipped)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  fanOut: `
    insert into fanout (event, app, contract, version, names)
    select ?, no, ?, version, ? from app where no = ?`,
  subscription: `
    select no, filter, subject, customer, confirm_by_ms from subscription
    where id = ? and app = ? and state <> 'ended'`,
  unconfirmed: `
    select id from subscription
    where app = :app and subject = :subject and contract = :contract and subject is not null
      and confirm_by_ms is not null and state <> 'ended'
      and (:customer is null or customer = :customer)
    limit 64`,
  findKey: 'select print, result, created_ms from idem where app = ? and key = ?',
  keepKey: `
    insert into idem (app, key, print, result, created_ms)
    values (:app, :key, :print, :result, :nowMs)
    on conflict (app, key) do update
    set print = excluded.print, result = excluded.result, created_ms = excluded.created_ms`,
} as const;

type Publish = EditInput<'publish'>;

export function preparePublish(db: DatabaseSync): Edit<'publish'> {
  const idempotencyKeys = prepareIdempotencyKeys(db);
  const subscription = db.prepare(publishSql.subscription);
  const match = prepareMatch(db);
  const refusedSubject = prepareSubjectCheck(db, match);
  const accept = prepareAccept(db, match);
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
    if ('id' in audience) {
      const row = subscription.get(audience.id, appNo);
      if (row === undefined) return { kind: 'not_found' };
      if (row['confirm_by_ms'] !== null) return { kind: 'unconfirmed', ids: [audience.id] };
      const owner = {
        subject: maybe(text, row, 'subject'),
        customer: maybe(text, row, 'customer'),
      };
      addressed = { no: integer(row, 'no'), id: audience.id, ...owner, rules: rulesIn(row) };
    } else {
      const refused = refusedSubject(input, context.memo);
      if (refused !== undefined) return refused;
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

/** Why the subjects of the events keep them from being published now. */
function prepareSubjectCheck(
  db: DatabaseSync,
  match: Match,
): (input: Publish, memo: PublishMemo) => EditOutput<'publish'> | undefined {
  const unconfirmed = db.prepare(publishSql.unconfirmed);
  const hasSubjects = (appNo: number, contract: string, memo: PublishMemo): boolean => {
    const question = `${appNo} ${contract}`;
    const found = memo.subjects.get(question) ?? match.hasSubjects(appNo, contract);
    memo.subjects.set(question, found);
    return found;
  };
  return ({ appNo, contract, audience, events }, memo) => {
    const rows = ownersNamed(events).flatMap(({ subject, customer = null }) =>
      unconfirmed.all({ app: appNo, subject, contract, customer }),
    );
    if (rows.length > 0) return { kind: 'unconfirmed', ids: rows.map((row) => text(row, 'id')) };
    if (audience.kind !== 'everyone' || !hasSubjects(appNo, contract, memo)) return undefined;
    const passingBy = events.find((event) => {
      return match.hasKey({ appNo, contract, keys: passedByKeys(matchingOf(event, { audience })) });
    });
    return passingBy && { kind: 'subject_missing', event: passingBy.id };
  };
}

interface Addressee extends Owner {
  no: number;
  id: string;
  rules: Rules | undefined;
}

type Addressed = Publish & { addressed: Addressee | undefined };
type Accept = (event: NewEvent, input: Addressed, context: EditContext) => Accepted;

function prepareAccept(db: DatabaseSync, match: Match): Accept {
  const withRules = prepareFilters(db);
  const withoutSkipped = prepareSkips(db);
  const insert = db.prepare(publishSql.event);
  const fanOut = db.prepare(publishSql.fanOut);
  const make = prepareMakeDelivery(db);
  const takeSlice = prepareSlices(db);

  const everyone = (
    event: Matching,
    { appNo, contract }: Addressed,
    memo: PublishMemo,
  ): readonly Listener[] | undefined => {
    const { name, subject, customer, audience } = event;
    const question = JSON.stringify([appNo, contract, name, subject, audience, customer]);
    if (memo.listeners.has(question)) return memo.listeners.get(question);
    const found = match.everyone({ appNo, contract, keys: matchingKeys(event) }, memo.lanes);
    // Counted before filtering: applying that many filters is also the work of a fan-out.
    const isMany = found.length > limits.targetsAtOnceMax;
    const listeners = isMany ? undefined : withRules(found, memo.rules);
    memo.listeners.set(question, listeners);
    return listeners;
  };

  /** Undefined: so many callbacks match that a fan-out must handle them. */
  const listenersOf = (
    event: NewEvent,
    input: Addressed,
    memo: PublishMemo,
  ): readonly Listener[] | undefined => {
    const { name, payload } = event;
    const { addressed, audience } = input;
    if (addressed === undefined) {
      const listeners = everyone(matchingOf(event, input), input, memo);
      return listeners && filterListeners(listeners, payload);
    }
    if (isOfOther(event, addressed)) return [];
    const { no, rules } = addressed;
    if (audience.kind === 'all_callbacks') return match.ofSubscription(no, undefined, memo.lanes);
    const isMeant = rules === undefined || payloadMatcher(payload)(rules);
    return isMeant ? match.ofSubscription(no, name, memo.lanes) : [];
  };

  return (event, input, context) => {
    const { id, name, payload, skipped } = event;
    const { appNo, contract, addressed, trace = null } = input;
    const subject = event.subject ?? addressed?.subject ?? null;
    const customer = event.customer ?? addressed?.customer ?? null;
    const matching = listenersOf(event, input, context.memo);
    const listeners = matching && withoutSkipped(matching, skipped);
    const deliveries = listeners?.length;
    const slice = takeSlice({ event: id, rows: 1 + (deliveries ?? 0) }, context);
    const values = [id, appNo, name, slice, context.nowMs, deliveries ?? null, payload] as const;
    insert.run(...values, trace, subject, customer, printSkipped(skipped));
    if (listeners === undefined) {
      fanOut.run(id, contract, JSON.stringify(matchingKeys(matchingOf(event, input))), appNo);
    }
    for (const [n, listener] of (listeners ?? []).entries()) {
      make({ event: id, n, appNo, slice, ...listener }, context);
    }
    return skipped === undefined ? { id, deliveries } : { id, deliveries, skipped };
  };
}

function matchingOf(
  { name, subject, customer }: NewEvent,
  { audience }: Pick<Publish, 'audience'>,
): Matching {
  return { name, subject, customer, audience: audience.kind };
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

interface KeyedPublish {
  appNo: number;
  idempotency: Idempotency;
  nowMs: number;
}

interface IdempotencyKeys {
  /** The earlier use of this key. An expired one counts as none. */
  find(input: KeyedPublish): EarlierRequest;
  keep(input: KeyedPublish & { result: string }): void;
}

/** In the transaction of the publish, so that a repeated request finds both or neither. */
function prepareIdempotencyKeys(db: DatabaseSync): IdempotencyKeys {
  const find = db.prepare(publishSql.findKey);
  const keep = db.prepare(publishSql.keepKey);
  return {
    find: ({ appNo, idempotency, nowMs }) => {
      const row = find.get(appNo, idempotency.key);
      if (row === undefined) return { kind: 'none' };
      if (nowMs - integer(row, 'created_ms') > limits.idempotencyKeepMs) return { kind: 'none' };
      const isSame = Buffer.compare(bytes(row, 'print'), idempotency.print) === 0;
      return isSame ? { kind: 'same', result: text(row, 'result') } : { kind: 'other' };
    },
    keep: ({ appNo, idempotency: { key, print }, nowMs, result }) => {
      keep.run({ app: appNo, key, print, result, nowMs });
    },
  };
}
