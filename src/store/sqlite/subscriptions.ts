// Reading subscriptions, one and in lists, always within one app.
import type { DatabaseSync } from 'node:sqlite';
import type { Subscription } from '../../core/subscription.ts';
import { belowCursor } from '../cursor.ts';
import { fillPage, rowsFetchedMax } from './page.ts';
import { integer, text, toSubscription } from './row.ts';
import type { Read } from './verb.ts';

export const subscriptionsSql = {
  one: `
    select no, id, app, contract, operation, state, secrets, version, created_ms, ended_ms
    from subscription where id = ? and app = ?`,
  callbacks: `
    select position, label, event, definition, method, url, inactive
    from callback where subscription = ? order by position`,
  list: `
    select no, id, app, contract, operation, state, secrets, version, created_ms, ended_ms
    from subscription where app = ? and no < ? order by no desc limit ? + 0`,
} as const;

/** A subscription with the store's number for it. */
export interface Found {
  no: number;
  subscription: Subscription;
}

export type FindSubscription = (input: { appNo: number; id: string }) => Found | undefined;

export function prepareFindSubscription(db: DatabaseSync): FindSubscription {
  const find = db.prepare(subscriptionsSql.one);
  const callbacks = db.prepare(subscriptionsSql.callbacks);
  return ({ appNo, id }) => {
    const row = find.get(id, appNo);
    if (row === undefined) return undefined;
    const no = integer(row, 'no');
    return { no, subscription: toSubscription(row, callbacks.all(no)) };
  };
}

export function prepareSubscription(db: DatabaseSync): Read<'subscription'> {
  const find = prepareFindSubscription(db);
  return (input) => find(input)?.subscription;
}

export function prepareSubscriptions(db: DatabaseSync): Read<'subscriptions'> {
  const list = db.prepare(subscriptionsSql.list);
  const callbacks = db.prepare(subscriptionsSql.callbacks);
  return ({ appNo, page: { limit, after }, state }) =>
    fillPage({
      rows: list.iterate(appNo, belowCursor(after), rowsFetchedMax),
      limit,
      toItem: (row) => {
        if (state !== undefined && text(row, 'state') !== state) return undefined;
        return toSubscription(row, callbacks.all(integer(row, 'no')));
      },
    });
}
