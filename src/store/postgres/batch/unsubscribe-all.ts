// Unsubscribe, many calls at once: a number of statements that grows neither with them nor with what is pending, in
// one packet. Pending deliveries are swept later. Replies stand in the order of the calls.
import type { EditInput, EditOutput } from '../../port/store.ts';
import { findSubscriptions } from './find-subscriptions.ts';
import { lockApps } from './lock-order.ts';
import type { Tx } from '../connection/tx.ts';

/** Called `ended`: of the subscriptions asked for, those that are over; also those that were before. */
const ended = `
    select subscription.no, version from unnest($1::text[], $2::bigint[]) as x (id, app)
    join subscription on subscription.id = any (array[x.id]) and subscription.app = x.app
      and subscription.state = 'ended'`;

export const unsubscribeAllSql = {
  // Before they change, in the order of their numbers, as everybody locks lanes.
  lanes: `
    select no from lane where no = any(array(
      select lane.no from unnest($1::text[], $2::bigint[]) as x (id, app)
      join subscription on subscription.id = any (array[x.id]) and subscription.app = x.app
        and subscription.state <> 'ended'
      join lane on lane.subscription = subscription.no))
    order by no for no key update`,
  // The app's row is locked, so nobody else changes a state. Each has a version of its own, in the order of the calls.
  // A node of an older version may have counted nothing; that must not keep anybody from leaving.
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
  // `died is null` would fit the index of all patterns of an app.
  patterns: `
    update pattern set died = ended.version from (${ended}) as ended
    join callback on callback.subscription = ended.no
    where pattern.callback = any (array[callback.no]) and coalesce(pattern.died, 0) = 0`,
  // Every lane is swept at least once: somebody may be adding to it at this moment.
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
  // All of it leaves in one packet, in this order.
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
