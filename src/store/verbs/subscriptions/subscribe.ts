// Subscribe: inserts the subscription, callbacks, lanes, patterns and the idempotency key; all or
// nothing.
import { strict as assert } from 'node:assert';
import { noControls } from '../../../core/domain/controls.ts';
import type { Filter } from '../../../core/domain/filter.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Callback, Subscription } from '../../../core/domain/subscription.ts';
import { writePatterns } from '../../sql/pattern-list.ts';
import { integer, maybe, text } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, first, only } from '../../sql/statement.ts';
import type { NewSubscription } from '../../port/store.ts';
import { admitSubscription, addPatterns, raiseVersion } from './patterns.ts';
import { endSubscription } from './end-subscription.ts';
import { controlColumns } from './apply-controls.ts';
import { changeKeptResult, dropIdempotencyKey, keepIdempotencyKey } from '../shared/idempotency.ts';
import { createLanes } from './arrange-lanes.ts';
import { asMade, findSubscription, subscriptionsSql } from './subscriptions.ts';
import type { Edit } from '../shared/verb.ts';

export const subscribeSql = {
  subscription: `
    insert into subscription
      (id, app, contract, operation, secrets, version, created_ms, subject, confirm_by_ms, state,
        request_id, answer_status, resource, settings, filter, ordered, expires_ms, headers, customer)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
    returning no`,
  callback: `
    insert into callback
      (app, subscription, position, label, event, definition, method, url, inactive, lane)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) returning no`,
} as const;

export const subscribe: Edit<'subscribe'> = function* (input, nowMs) {
  const { subscription, idempotency, subscriptionsMax } = input;
  const { appNo, id, controls } = subscription;
  if (idempotency !== undefined) {
    const earlier = yield* keepIdempotencyKey({ appNo, idempotency, nowMs, result: id });
    if (earlier.kind === 'other') return { kind: 'mismatch' };
    if (earlier.kind === 'same') {
      const [made = '', ended] = earlier.result.split(' ');
      const isReplacing = ended !== undefined;
      return { kind: 'repeated', subscription: yield* found(appNo, made), isReplacing };
    }
  }
  if (nowMs >= (controls?.expiresMs ?? Infinity)) {
    if (idempotency !== undefined) yield* dropIdempotencyKey(appNo, idempotency);
    return { kind: 'expired' };
  }
  const replaced = (yield* endAtResource(subscription, nowMs))?.id;
  const entry = yield* admitSubscription(appNo, {
    fallback: subscriptionsMax,
    isReplacing: replaced !== undefined,
  });
  if (entry.kind === 'full') {
    if (idempotency !== undefined) yield* dropIdempotencyKey(appNo, idempotency);
    return entry;
  }
  yield* create(subscription, { version: entry.version, nowMs });
  const made = asMade(subscription, { version: entry.version, nowMs });
  const created = { kind: 'created', subscription: made } as const;
  if (replaced === undefined) return created;
  // Read back when the request is repeated: only a PUT replaces, and its keys are its own.
  if (idempotency !== undefined) {
    yield* changeKeptResult({ appNo, idempotency }, `${id} ${replaced}`);
  }
  return { ...created, replaced };
};

export const clearResource: Edit<'clearResource'> = function* (input, nowMs) {
  const { appNo, resource, idempotency } = input;
  if (idempotency !== undefined) {
    const earlier = yield* keepIdempotencyKey({ appNo, idempotency, nowMs, result: '' });
    if (earlier.kind === 'other') return { kind: 'mismatch' };
    if (earlier.kind === 'same') return { kind: 'repeated', isReplacing: earlier.result !== '' };
  }
  const ended = yield* endAtResource({ appNo, resource }, nowMs);
  if (idempotency !== undefined && ended !== undefined) {
    yield* changeKeptResult({ appNo, idempotency }, ended.id);
  }
  return { kind: 'cleared', ended: ended?.id, customer: ended?.customer };
};

/** Ends the subscription of the resource, and returns it. */
export function* endAtResource(
  { appNo, resource }: Pick<NewSubscription, 'appNo' | 'resource'>,
  nowMs: number,
): Script<{ id: string; customer: string | undefined } | undefined> {
  if (resource === undefined) return undefined;
  yield* raiseVersion(appNo); // Takes the lock: no other node subscribes at the resource now.
  const row = yield* first(subscriptionsSql.ofResource, appNo, resource);
  if (row === undefined) return undefined;
  yield* endSubscription({ no: integer(row, 'no'), appNo, reason: 'replaced', nowMs });
  return { id: text(row, 'id'), customer: maybe(text, row, 'customer') };
}

function* found(appNo: number, id: string): Script<Subscription> {
  const result = yield* findSubscription({ appNo, id });
  assert(result !== undefined, `Cannot answer with subscription "${id}": there is none`);
  return result.subscription;
}

function* create(
  input: NewSubscription,
  { version, nowMs }: { version: number; nowMs: number },
): Script<void> {
  const { id, appNo, contract, operation, secrets, callbacks, headers, resource } = input;
  const { subject, customer, confirmByMs, exchange, controls = noControls } = input;
  assert(confirmByMs === undefined || resource === undefined, 'It may still be refused');
  assert(callbacks.length <= limits.callbacksPerSubscriptionMax, 'Cannot add so many callbacks');
  const values = [id, appNo, contract, operation, secrets, version, nowMs] as const;
  const stored = confirmByMs === undefined ? 'active' : 'paused';
  const more = [subject ?? null, confirmByMs ?? null, stored] as const;
  const made = [exchange?.requestId ?? null, exchange?.status ?? null, resource ?? null] as const;
  const chosen = controlColumns({ controls, headers });
  const row = yield* only(
    subscribeSql.subscription,
    ...values,
    ...more,
    ...made,
    ...chosen,
    customer ?? null,
  );
  const subscription = integer(row, 'no');
  const owner = { appNo, subscription, version };
  const active = callbacks.filter(({ inactive }) => inactive === undefined);
  const state = confirmByMs === undefined ? 'active' : 'held';
  const lanes = yield* createLanes({ ...owner, state, controls }, active);
  for (const callback of callbacks) {
    const lane = lanes[active.indexOf(callback)];
    yield* addCallback(callback, {
      ...owner,
      contract,
      subject,
      customer,
      filter: controls.filter,
      isFound: state === 'active',
      lane,
    });
  }
}

interface Owner {
  appNo: number;
  contract: string;
  subscription: number;
  version: number;
  subject: string | undefined;
  customer: string | undefined;
  filter: Filter | undefined;
  /** Whether publishes find it. */
  isFound: boolean;
  /** Undefined for an inactive callback. */
  lane: number | undefined;
}

function* addCallback(callback: Callback, owner: Owner): Script<void> {
  const { appNo, subscription, version, isFound, lane } = owner;
  const { position, label, events, definition, method, url, inactive } = callback;
  const patterns = writePatterns(events);
  const values = [appNo, subscription, position, label, patterns, definition, method, url] as const;
  if (lane === undefined) {
    yield* all(subscribeSql.callback, ...values, inactive ?? null, null);
    return;
  }
  const no = integer(yield* only(subscribeSql.callback, ...values, null, lane), 'no');
  if (!isFound) return;
  yield* addPatterns({ ...owner, events, callback: no, lane, born: version });
}
