// Reads many subscriptions by id, in two statements.
import type { Subscription } from '../../../core/domain/subscription.ts';
import { integer, text, toSubscription } from '../../sql/row.ts';
import { callbackColumns, subscriptionColumns } from '../../verbs/subscriptions/subscriptions.ts';
import { keyColumns, type KeyName } from '../publish/keep-keys.ts';
import type { Tx } from '../connection/tx.ts';

/** The given ids, and the ids that are stored as results of the given idempotency keys. */
const sought = `
    select id from unnest($1::text[]) as x (id)
    union
    select idem.result from unnest($2::bigint[], $3::bytea[]) as x (app, key)
    join idem on idem.app = x.app and idem.key = x.key`;

function prefixed(columns: string, table: string): string {
  return columns.replaceAll(/\w+/g, (column) => `${table}.${column}`);
}

export const findSubscriptionsSql = {
  rows: `
    select ${prefixed(subscriptionColumns, 'subscription')} from (${sought}) as sought
    join subscription on subscription.id = any (array[sought.id])`,
  callbacks: `
    select ${prefixed(callbackColumns, 'callback')} from (${sought}) as sought
    join subscription on subscription.id = any (array[sought.id])
    join callback on callback.subscription = subscription.no`,
} as const;

/** The subscriptions by id. Both statements are sent at once. */
export async function findSubscriptions(
  tx: Tx,
  ids: readonly string[],
  keys: readonly KeyName[] = [],
): Promise<Map<string, Subscription>> {
  const values = [ids, ...keyColumns(keys)] as const;
  const [rows, callbacks] = await Promise.all([
    tx.query(findSubscriptionsSql.rows, values),
    tx.query(findSubscriptionsSql.callbacks, values),
  ]);
  const ofSubscription = Map.groupBy(callbacks, (row) => integer(row, 'subscription'));
  return new Map(
    rows.map((row) => {
      const theirs = ofSubscription.get(integer(row, 'no')) ?? [];
      return [text(row, 'id'), toSubscription(row, theirs.toSorted(byPosition))];
    }),
  );
}

function byPosition(a: Parameters<typeof integer>[0], b: Parameters<typeof integer>[0]): number {
  return integer(a, 'position') - integer(b, 'position');
}
