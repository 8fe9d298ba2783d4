// Confirms many subscriptions at once, with a number of statements that does not grow with them. Only if their exchanges add
// nothing but a subject, as nearly all do; the others are left to the script that both databases share.
import type { Subscription } from '../../../core/domain/subscription.ts';
import type { EditInput, EditOutput } from '../../port/store.ts';
import type { Tx } from '../connection/tx.ts';
import { completedBy } from '../../verbs/subscriptions/confirm-subscription.ts';
import { lockApps, lockLanesOf } from '../shared/lock-order.ts';
import { createPatterns, findSubscriptions, versionsIn } from './subscribe-all.ts';

export const confirmAllSql = {
  // The app's row is locked, so no other transaction changes a state. Each subscription gets a version of its own, in the
  // order of the calls.
  confirm: `
    with asked as (
      select subscription.no, subscription.app, x.subject, x.expires_ms, x.headers, x.status,
        row_number() over (partition by subscription.app order by x.i) as choice
      from unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[], $5::int[])
        with ordinality as x (id, subject, expires_ms, headers, status, i)
      join subscription on subscription.id = any (array[x.id])),
    confirmed as (
      update subscription set version = app.version + choice, state = 'active',
        subject = asked.subject, expires_ms = asked.expires_ms, confirm_by_ms = null,
        headers = asked.headers, answer_status = asked.status
      from asked join app on app.no = any (array[asked.app])
      where subscription.no = any (array[asked.no])
      returning subscription.id, subscription.app, subscription.version),
    counted as (
      update app set version = version + x.count
      from (select confirmed.app, count(*) from confirmed group by confirmed.app) as x (app, count)
      where app.no = any (array[x.app]))
    select id, version from confirmed`,
  // They had no deliveries so far, so there is nothing that a claim could find.
  lanes: `
    update lane set state = 0, version = subscription.version
    from unnest($1::text[]) as x (id)
    join subscription on subscription.id = any (array[x.id])
    where lane.subscription = any (array[subscription.no]) and lane.state = 1`,
} as const;

type Confirm = EditInput<'confirmSubscription'>;
type Confirmed = EditOutput<'confirmSubscription'>;

/** Whether the exchange adds no target, and replaces no other subscription. */
export function isPlain({ resource, callbacks = [] }: Confirm): boolean {
  return resource === undefined && callbacks.length === 0;
}

interface Confirming {
  nowMs: number;
  /** For what was confirmed already, or has ended. */
  confirmOne: (call: Confirm) => Promise<Confirmed>;
}

export async function confirmAll(
  tx: Tx,
  calls: readonly Confirm[],
  { nowMs, confirmOne }: Confirming,
): Promise<Confirmed[]> {
  const ids = idsOf(calls);
  const apps = calls.map(({ appNo }) => appNo);
  // All statements are sent as one pipeline, in this order.
  const [, , before] = await Promise.all([
    lockApps(tx, new Set(apps)),
    lockLanesOf(tx, ids, apps),
    findSubscriptions(tx, ids),
  ]);
  const due = new Map<Confirm, Subscription>();
  for (const call of new Map(calls.map((one) => [one.id, one])).values()) {
    const confirmed = confirmedBy(call, before.get(call.id), nowMs);
    if (confirmed !== undefined) due.set(call, confirmed);
  }
  const versions = await confirmDue(tx, [...due.values()]);
  const outputs: Confirmed[] = [];
  for (const call of calls) {
    const confirmed = due.get(call);
    const version = versions.get(call.id);
    outputs.push(
      confirmed === undefined || version === undefined
        ? await confirmOne(call)
        : { kind: 'confirmed', subscription: { ...confirmed, version }, isRepeated: false },
    );
  }
  return outputs;
}

function idsOf(each: readonly { id: string }[]): string[] {
  return each.map(({ id }) => id);
}

/** As it is afterwards, but for its version; undefined if it is not to be confirmed. */
function confirmedBy(
  call: Confirm,
  before: Subscription | undefined,
  nowMs: number,
): Subscription | undefined {
  if (before?.state !== 'unconfirmed' || before.appNo !== call.appNo) return undefined;
  const confirmed = completedBy(before, call, nowMs);
  return nowMs >= (confirmed.controls.expiresMs ?? Infinity) ? undefined : confirmed;
}

/** Returns the versions by id. */
async function confirmDue(
  tx: Tx,
  due: readonly Subscription[],
): Promise<ReadonlyMap<string, number>> {
  if (due.length === 0) return new Map();
  const ids = idsOf(due);
  // All statements are sent as one pipeline, in this order.
  const [rows] = await Promise.all([
    tx.query(confirmAllSql.confirm, [
      ids,
      due.map(({ subject }) => subject ?? null),
      due.map(({ controls }) => controls.expiresMs ?? null),
      due.map(({ headers }) => headers ?? null),
      due.map(({ exchange }) => exchange?.status ?? null),
    ]),
    tx.query(confirmAllSql.lanes, [ids]),
    createPatterns(tx, due),
  ]);
  return versionsIn(rows);
}
