// Confirms many subscriptions at once, with a number of statements that does not grow with them. Only if their exchanges add
// nothing but a subject, as nearly all do; the others are left to the script that both databases share.
import { limits } from '../../../core/limits/limits.ts';
import { lacksSubject, type Subscription } from '../../../core/domain/subscription.ts';
import type { EditInput, EditOutput } from '../../port/store.ts';
import type { Tx } from '../connection/tx.ts';
import { createPatterns, findSubscriptions } from './subscribe-all.ts';

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
        headers = coalesce(asked.headers, subscription.headers),
        answer_status = coalesce(asked.status, subscription.answer_status)
      from asked join app on app.no = any (array[asked.app])
      where subscription.no = any (array[asked.no])
      returning subscription.app)
    update app set version = version + x.count
    from (select confirmed.app, count(*) from confirmed group by confirmed.app) as x (app, count)
    where app.no = any (array[x.app])`,
  // Deliveries may have been added while it was held, so a claim must look as soon as the gate allows.
  lanes: `
    update lane set state = 0, version = subscription.version, quiet_ms = null, quiet_xid = null,
      ready_ms = greatest(gate_ms, $2::bigint)
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

/** The apps and lanes are locked, or are locked by statements that have been sent already. */
export async function confirmAll(
  tx: Tx,
  calls: readonly Confirm[],
  { nowMs, confirmOne }: Confirming,
): Promise<Confirmed[]> {
  const before = await findSubscriptions(tx, idsOf(calls));
  const due = new Map<Confirm, Subscription>();
  for (const call of new Map(calls.map((one) => [one.id, one])).values()) {
    const confirmed = confirmedBy(call, before.get(call.id), nowMs);
    if (confirmed !== undefined) due.set(call, confirmed);
  }
  const found = await confirmDue(tx, due, nowMs);
  const outputs: Confirmed[] = [];
  for (const call of calls) {
    const subscription = due.has(call) ? found.get(call.id) : undefined;
    outputs.push(
      subscription === undefined ? await confirmOne(call) : { kind: 'confirmed', subscription },
    );
  }
  return outputs;
}

function idsOf(calls: Iterable<Confirm>): string[] {
  return Array.from(calls, ({ id }) => id);
}

/** As it is afterwards, but for its version; undefined if it is not to be confirmed. */
function confirmedBy(
  { appNo, subject, ...call }: Confirm,
  before: Subscription | undefined,
  nowMs: number,
): Subscription | undefined {
  if (before?.state !== 'unconfirmed' || before.appNo !== appNo) return undefined;
  const own = lacksSubject(before) ? (subject ?? before.subject) : before.subject;
  const keepMs = own === undefined ? undefined : nowMs + limits.subjectKeepMs;
  const { expiresMs = call.expiresMs ?? keepMs } = before.controls;
  if (nowMs >= (expiresMs ?? Infinity)) return undefined;
  return { ...before, subject: own, controls: { ...before.controls, expiresMs } };
}

async function confirmDue(
  tx: Tx,
  due: ReadonlyMap<Confirm, Subscription>,
  nowMs: number,
): Promise<ReadonlyMap<string, Subscription>> {
  if (due.size === 0) return new Map();
  const [calls, confirmed] = [[...due.keys()], [...due.values()]];
  const ids = idsOf(calls);
  // All statements are sent as one pipeline, in this order.
  const [, , , found] = await Promise.all([
    tx.query(confirmAllSql.confirm, [
      ids,
      confirmed.map(({ subject }) => subject ?? null),
      confirmed.map(({ controls }) => controls.expiresMs ?? null),
      calls.map(({ headers }) => headers ?? null),
      calls.map(({ status }) => status ?? null),
    ]),
    tx.query(confirmAllSql.lanes, [ids, nowMs]),
    createPatterns(tx, confirmed),
    findSubscriptions(tx, ids),
  ]);
  return found;
}
