// Publish: inserts events with their deliveries, or with the cursor of a fan-out, and the
// idempotency key; all or nothing.
import type { DatabaseSync } from 'node:sqlite';
import type { Rules } from '../../../core/domain/filter.ts';
import { payloadJudge } from '../../../core/domain/filter.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Accepted } from '../../port/delivery-verbs.ts';
import { publishedFact } from '../../statistics/transaction-facts.ts';
import { rulesIn } from '../../rules/filter-cache.ts';
import { matchingPatterns } from '../../rules/matching-patterns.ts';
import { printResult, readResult } from '../../port/published-result.ts';
import type { EditInput } from '../../port/store.ts';
import { prepareIdempotencies } from './idempotency.ts';
import { prepareMakeDelivery } from './make-delivery.ts';
import type { Listener } from '../../port/listener.ts';
import { fitting } from '../../port/listener.ts';
import { prepareFilters } from './filters.ts';
import type { PublishMemo } from '../transaction/publish-memo.ts';
import { prepareMatch } from './match.ts';
import { leaveNotice } from '../../verbs/shared/notices.ts';
import { prepareScripts } from '../transaction/run-script.ts';
import { integer } from '../../sql/row.ts';
import { prepareSlices } from './slices.ts';
import type { Edit, EditContext } from '../transaction/edit.ts';

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
  const idempotencies = prepareIdempotencies(db);
  const subscription = db.prepare(publishSql.subscription);
  const accept = prepareAccept(db);
  const runScript = prepareScripts(db);

  return (input, context) => {
    const { appNo, audience, events, idempotency, notice } = input;
    const { nowMs } = context;
    if (notice !== undefined && !runScript(leaveNotice(notice))) return { kind: 'taken' };
    if (idempotency !== undefined) {
      const earlier = idempotencies.find({ appNo, idempotency, nowMs });
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
      idempotencies.keep({ appNo, idempotency, nowMs, result: printResult(accepted) });
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
    known: PublishMemo,
  ): readonly Listener[] | undefined => {
    const question = `${appNo} ${name} ${contract}`;
    if (known.heard.has(question)) return known.heard.get(question);
    const found = match.everyone({ appNo, contract, name }, known.lanes);
    // Counted before filtering: applying that many filters is also the work of a fan-out.
    const isMany = found.length > limits.targetsAtOnceMax;
    const listeners = isMany ? undefined : withRules(found, known.rules);
    known.heard.set(question, listeners);
    return listeners;
  };

  /** Undefined: so many callbacks match that a fan-out must handle them. */
  const listenersOf = (
    { name, payload }: NewEvent,
    input: Addressed,
    known: PublishMemo,
  ): readonly Listener[] | undefined => {
    const { addressed, audience } = input;
    if (addressed === undefined) {
      const heard = everyone(name, input, known);
      return heard && fitting(heard, payload);
    }
    const { no, rules } = addressed;
    if (audience.kind === 'all_callbacks') return match.ofSubscription(no, undefined, known.lanes);
    const isMeant = rules === undefined || payloadJudge(payload)(rules);
    return isMeant ? match.ofSubscription(no, name, known.lanes) : [];
  };

  return (event, input, context) => {
    const { id, name, payload } = event;
    const { appNo, contract, trace = null } = input;
    const listeners = listenersOf(event, input, context.known);
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
