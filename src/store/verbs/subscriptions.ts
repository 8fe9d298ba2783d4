// Reading subscriptions, one and in lists, always within one app.
import type { Subscription } from '../../core/subscription.ts';
import { belowCursor, cursorAt } from '../cursor.ts';
import type { Row } from '../row.ts';
import { integer, text, toSubscription } from '../row.ts';
import type { Script } from '../statement.ts';
import { all, first, forEach } from '../statement.ts';
import type { Walk } from './fill-page.ts';
import { fillPage } from './fill-page.ts';
import type { Read } from './verb.ts';

export const subscriptionsSql = {
  one: `
    select no, id, app, contract, operation, state, secrets, version, created_ms, ended_ms
    from subscription where id = ?1 and app = ?2`,
  callbacks: `
    select subscription, position, label, event, definition, method, url, inactive
    from callback where subscription = ?1 order by position`,
  list: `
    select no, id, app, contract, operation, state, secrets, version, created_ms, ended_ms
    from subscription where app = ?1 and no < ?2 order by no desc limit ?3 + 0`,
} as const;

/** A subscription with the store's number for it. */
export interface Found {
  no: number;
  subscription: Subscription;
}

export function* findSubscription(input: { appNo: number; id: string }): Script<Found | undefined> {
  const row = yield* first(subscriptionsSql.one, input.id, input.appNo);
  return row === undefined ? undefined : yield* withCallbacks(row);
}

export const subscription: Read<'subscription'> = function* (input) {
  return (yield* findSubscription(input))?.subscription;
};

export const subscriptions: Read<'subscriptions'> = function* ({ appNo, page, state }) {
  return yield* fillPage({
    walk: walkRows(appNo, belowCursor(page.after)),
    limit: page.limit,
    toCursor: (row) => cursorAt(integer(row, 'no')),
    toItems: function* (rows) {
      const wanted = rows.filter((row) => state === undefined || text(row, 'state') === state);
      const numbers = wanted.map((row) => [integer(row, 'no')]);
      const callbacks = Map.groupBy(yield* forEach(subscriptionsSql.callbacks, numbers), (row) =>
        integer(row, 'subscription'),
      );
      return rows.map((row) =>
        wanted.includes(row)
          ? toSubscription(row, callbacks.get(integer(row, 'no')) ?? [])
          : undefined,
      );
    },
  });
};

const rowsAtOnce = 256;

function* walkRows(appNo: number, below: number): Walk<Row> {
  let from = below;
  for (;;) {
    const rows = yield* all(subscriptionsSql.list, appNo, from, rowsAtOnce);
    for (const row of rows) {
      from = integer(row, 'no');
      yield row;
    }
    if (rows.length < rowsAtOnce) return;
  }
}

function* withCallbacks(row: Row): Script<Found> {
  const no = integer(row, 'no');
  return { no, subscription: toSubscription(row, yield* all(subscriptionsSql.callbacks, no)) };
}
