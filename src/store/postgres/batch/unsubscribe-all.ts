// Unsubscribes many calls at once, with a number of statements that grows neither with the calls nor with the pending
// deliveries, sent as one pipeline. Pending deliveries are swept later. Replies are in the order of the calls.
import type { EditInput, EditOutput } from '../../port/store.ts';
import { findSubscriptions } from './find-subscriptions.ts';
import { lockApps } from './lock-order.ts';
import type { Tx } from '../connection/tx.ts';

/** Used as `ended`: the requested subscriptions that have ended, now or earlier. */
const ended = `
    select subscription.no, version from unnest($1::text[], $2::bigint[]) as x (id, app)
    join subscription on subscription.id = any (array[x.id]) and subscription.app = x.app
      and subscription.state = 'ended'`;

export const unsubscribeAllSql = {
  // Locked before they change, in the order of their numbers, like everywhere: otherwise two transactions can deadlock.
  lanes: `
    select no from lane where no = any(array(
      select lane.no from unnest($1::text[], $2::bigint[]) as x (id, app)
      join subscription on subscription.id = any (array[x.id]) and subscription.app = x.app
        and subscription.state <> 'ended'
      join lane on lane.subscription = subscription.no))
    order by no for no key update`,
  // The app's row is locked, so no other transaction changes a state. Each subscription gets a version of its own, in
  // the order of the calls. A node of an older version may not have counted its subscriptions; `greatest` keeps the
  // count from going below zero, which would refuse the unsubscribe.
  end: `
    with asked as (
      select subscription.no, subscription.app,
        row_number() over (partition by subscription.app order by x.i) as place
      from unnest($1::text[], $2::bigint[]) with ordinality as x (id, app, i)
      join subscription on subscription.id = any (array[x.id]) and subscription.app = x.app
        and subscription.state <> 'ended'),
    ended as (
      update subscription set state = 'ended', ended_ms = $3::bigint, version = app.version + place
      from asked join app on app.no = any (array[asked.app])
      where subscription.no = any (array[asked.no])
      returning subscription.app)
    update app set version = version + x.count, subscriptions = greatest(subscriptions - x.count, 0)
    from (select ended.app, count(*) from ended group by ended.app) as x (app, count)
    where app.no = any (array[x.app])`,
  // `died is null` would let the planner choose the index over all patterns of an app.
  patterns: `
    update pattern set died = ended.version from (${ended}) as ended
    join callback on callback.subscription = ended.no
    where pattern.callback = any (array[callback.no]) and coalesce(pattern.died, 0) = 0`,
  // Every lane is swept at least once: a publish may be adding deliveries to it at this moment.
  endLanes: `
    update lane set state = 2, ready_ms = 9007199254740991, swept = 0, version = ended.version,
      quiet_ms = null, quiet_xid = null
    from (${ended}) as ended
    where lane.subscription = any (array[ended.no]) and lane.state <> 2`,
} as const;

export async function unsubscribeAll(
  tx: Tx,
  calls: readonly EditInput<'unsubscribe'>[],
  nowMs: number,
): Promise<EditOutput<'unsubscribe'>[]> {
  const asked = [...new Map(calls.map((call) => [`${call.appNo} ${call.id}`, call])).values()];
  const ids = asked.map(({ id }) => id);
  const apps = asked.map(({ appNo }) => appNo);
  // All statements are sent as one pipeline, in this order.
  const [, , , , , found] = await Promise.all([
    lockApps(tx, new Set(apps)),
    tx.query(unsubscribeAllSql.lanes, [ids, apps]),
    tx.query(unsubscribeAllSql.end, [ids, apps, nowMs]),
    tx.query(unsubscribeAllSql.patterns, [ids, apps]),
    tx.query(unsubscribeAllSql.endLanes, [ids, apps]),
    findSubscriptions(tx, ids),
  ]);
  return calls.map(({ appNo, id }) => {
    const subscription = found.get(id);
    if (subscription?.appNo !== appNo) return { kind: 'not_found' };
    return { kind: 'ended', subscription };
  });
}
