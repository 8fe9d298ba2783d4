// Locks the rows that the edits of a batch are going to lock: fan-outs first, then apps, then
// lanes, each in order of its key. All code follows this order, because two nodes with the same
// edits in another order would deadlock. Rows of events come after lanes.
import type { EditCall } from '../../port/transport-protocol.ts';
import type { Row } from '../../sql/row.ts';
import { integer } from '../../sql/row.ts';
import { lockLanes } from './lanes.ts';
import type { Tx } from '../connection/tx.ts';

export const lockOrderSql = {
  fanOuts: `
    select event from fanout where event = any($1::text[]) order by event for no key update`,
  apps: `
    select no, settings from app where no = any($1::bigint[]) order by no for no key update`,
  lanesOf: `
    select no from lane where no = any(array(
      select lane.no from unnest($1::text[], $2::bigint[]) as x (id, app)
      join subscription on subscription.id = any (array[x.id]) and subscription.app + 0 = x.app
        and subscription.state <> 'ended'
      join lane on lane.subscription = any (array[subscription.no])))
    order by no for no key update`,
  ofSubscriptions: `
    select lane.no from unnest($1::text[]) as x (id)
    join subscription on subscription.id = any (array[x.id])
    join lane on lane.subscription = any (array[subscription.no])`,
  ofResource: `
    select lane.no from subscription join lane on lane.subscription = any (array[subscription.no])
    where subscription.app = $1::bigint and resource = $2 and resource is not null
      and subscription.state <> 'ended'`,
  ofLanes: `
    select lane.no from unnest($1::bigint[]) as x (no)
    join lane as one on one.no = any (array[x.no])
    join lane on lane.subscription = any (array[one.subscription])`,
  ofDeliveries: `
    select callback.lane as no from unnest($1::text[], $2::int[]) as x (event, n)
    join delivery_done on delivery_done.event = any (array[x.event]) and delivery_done.n = x.n
    join callback on callback.no = delivery_done.callback`,
} as const;

/**
 * First in every batch: sending a delivery again takes the next number of its event from a running
 * fan-out. A step of that fan-out locks its fan-out row before its lanes.
 */
export async function lockFanOuts(tx: Tx, edits: readonly EditCall[]): Promise<void> {
  const events = new Set(edits.flatMap(eventsOf));
  if (events.size > 0) await tx.query(lockOrderSql.fanOuts, [[...events]]);
}

function eventsOf(call: EditCall): string[] {
  if (call.verb === 'retryDelivery') return [call.input.event];
  return call.verb === 'advanceReplay' ? call.input.names.map(({ event }) => event) : [];
}

export async function lockInOrder(tx: Tx, edits: readonly EditCall[]): Promise<void> {
  const apps = new Set(edits.flatMap(appsOf));
  if (apps.size === 0) return;
  const ended = edits.flatMap((call) => (isOfSubscription(call) ? [call.input.id] : []));
  const cleared = edits.flatMap(resourcesOf);
  const failing = edits.flatMap((call) =>
    call.verb === 'disableFailing' ? [call.input.lane] : [],
  );
  const retried = edits.flatMap((call) => (call.verb === 'retryDelivery' ? [call.input] : []));
  // A single edit locks in order by itself, unless it changes all lanes of a subscription.
  const changed = ended.length + cleared.length + failing.length;
  if (edits.length < 2 && changed === 0) return;
  // In one pipeline, in this order: the lanes are read once the app is locked, so that none can be
  // added.
  const [, ...found] = await Promise.all([
    lockApps(tx, apps),
    ended.length === 0 ? [] : tx.query(lockOrderSql.ofSubscriptions, [ended]),
    failing.length === 0 ? [] : tx.query(lockOrderSql.ofLanes, [failing]),
    retried.length === 0
      ? []
      : tx.query(lockOrderSql.ofDeliveries, [
          retried.map(({ event }) => event),
          retried.map(({ n }) => n),
        ]),
    ...cleared.map(async ({ appNo, resource }) =>
      tx.query(lockOrderSql.ofResource, [appNo, resource]),
    ),
  ]);
  const lanes = new Set(found.flat().map((row) => integer(row, 'no')));
  if (lanes.size > 0) await lockLanes(tx, lanes);
}

/** Returns the settings of each app. Publishes neither wait for this lock nor hold it up. */
export async function lockApps(tx: Tx, numbers: ReadonlySet<number>): Promise<readonly Row[]> {
  return tx.query(lockOrderSql.apps, [[...numbers]]);
}

/** Locks the lanes of subscriptions that have not ended, in one statement. Their apps are locked. */
export async function lockLanesOf(
  tx: Tx,
  ids: readonly string[],
  apps: readonly number[],
): Promise<void> {
  await tx.query(lockOrderSql.lanesOf, [ids, apps]);
}

function appsOf(call: EditCall): number[] {
  if (call.verb === 'subscribe') return [call.input.subscription.appNo];
  if (call.verb === 'createReplay') return [call.input.replay.appNo];
  return isOfApp(call) ? [call.input.appNo] : [];
}

/** What a PUT replaces. */
function resourcesOf(call: EditCall): { appNo: number; resource: string }[] {
  const input =
    call.verb === 'subscribe'
      ? call.input.subscription
      : call.verb === 'clearResource' || call.verb === 'confirmSubscription'
        ? call.input
        : undefined;
  if (input?.resource === undefined) return [];
  return [{ appNo: input.appNo, resource: input.resource }];
}

type OfSubscription =
  | 'confirmSubscription'
  | 'unsubscribe'
  | 'editSubscription'
  | 'expireSubscription';
type OfApp =
  | OfSubscription
  | 'clearResource'
  | 'retryDelivery'
  | 'disableFailing'
  | 'editApp'
  | 'putEventType'
  | 'deleteEventType';

const verbsOfSubscription: ReadonlySet<string> = new Set<OfSubscription>([
  'confirmSubscription',
  'unsubscribe',
  'editSubscription',
  'expireSubscription',
]);
const verbsOfApp: ReadonlySet<string> = new Set<OfApp>([
  'confirmSubscription',
  'unsubscribe',
  'editSubscription',
  'expireSubscription',
  'clearResource',
  'retryDelivery',
  'disableFailing',
  'editApp',
  'putEventType',
  'deleteEventType',
]);

function isOfSubscription(call: EditCall): call is EditCall<OfSubscription> {
  return verbsOfSubscription.has(call.verb);
}

function isOfApp(call: EditCall): call is EditCall<OfApp> {
  return verbsOfApp.has(call.verb);
}
