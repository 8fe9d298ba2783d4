// Subscribe: subscription, callbacks, lanes, patterns and the idempotency key, or nothing of it.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../core/limits.ts';
import type { Callback } from '../../core/subscription.ts';
import type { NewSubscription } from '../store.ts';
import { prepareRaiseVersion } from './app-version.ts';
import { prepareIdempotencies } from './idempotency.ts';
import { prepareListen } from './listen.ts';
import { integer, one } from './row.ts';
import { prepareFindSubscription } from './subscriptions.ts';
import type { Edit } from './verb.ts';

export const subscribeSql = {
  subscription: `
    insert into subscription (id, app, contract, operation, secrets, version, created_ms)
    values (:id, :app, :contract, :operation, :secrets, :version, :nowMs) returning no`,
  callback: `
    insert into callback
      (app, subscription, position, label, event, definition, method, url, inactive, lane)
    values
      (:app, :subscription, :position, :label, :event, :definition, :method, :url, :inactive, :lane)
    returning no`,
} as const;

export function prepareSubscribe(db: DatabaseSync): Edit<'subscribe'> {
  const create = prepareCreate(db);
  const find = prepareFindSubscription(db);
  const idempotencies = prepareIdempotencies(db);
  const found = (appNo: number, id: string) => {
    const result = find({ appNo, id });
    assert(result !== undefined, `Cannot answer with subscription "${id}": there is none`);
    return result.subscription;
  };

  return ({ subscription, idempotency }, { nowMs }) => {
    const { appNo, id } = subscription;
    if (idempotency === undefined) {
      create(subscription, nowMs);
      return { kind: 'created', subscription: found(appNo, id) };
    }
    const earlier = idempotencies.find({ appNo, idempotency, nowMs });
    switch (earlier.kind) {
      case 'same':
        return { kind: 'repeated', subscription: found(appNo, earlier.result) };
      case 'other':
        return { kind: 'mismatch' };
      case 'none':
        create(subscription, nowMs);
        idempotencies.keep({ appNo, idempotency, nowMs, result: id });
        return { kind: 'created', subscription: found(appNo, id) };
    }
  };
}

function prepareCreate(db: DatabaseSync): (input: NewSubscription, nowMs: number) => void {
  const raiseVersion = prepareRaiseVersion(db);
  const insert = db.prepare(subscribeSql.subscription);
  const addCallback = prepareAddCallback(db);
  return ({ id, appNo, contract, operation, secrets, callbacks }, nowMs) => {
    assert(callbacks.length <= limits.callbacksPerSubscriptionMax, 'Cannot add so many callbacks');
    const version = raiseVersion(appNo);
    const row = insert.get({ id, app: appNo, contract, operation, secrets, version, nowMs });
    const subscription = integer(one(row), 'no');
    for (const callback of callbacks) {
      addCallback(callback, { appNo, contract, subscription, version });
    }
  };
}

interface Owner {
  appNo: number;
  contract: string;
  subscription: number;
  version: number;
}

function prepareAddCallback(db: DatabaseSync): (callback: Callback, owner: Owner) => void {
  const insert = db.prepare(subscribeSql.callback);
  const listen = prepareListen(db);
  return (callback, { appNo, contract, subscription, version }) => {
    const { position, label, event, definition, method, url, inactive } = callback;
    const row = { app: appNo, subscription, position, label, event, definition, method, url };
    if (inactive !== undefined) {
      insert.get({ ...row, inactive, lane: null });
      return;
    }
    const lane = listen.addLane({ appNo, subscription, state: 'open', version });
    const no = integer(one(insert.get({ ...row, inactive: null, lane })), 'no');
    listen.addPattern({ appNo, contract, pattern: event, callback: no, lane, born: version });
  };
}
