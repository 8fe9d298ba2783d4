// Subscribes or unsubscribes many calls at once, with a number of statements that does not grow with them, sent as one
// pipeline. The statements themselves decide about used idempotency keys and exhausted quotas: a subscription without a
// version was not created. Replies are in the order of calls.
import { strict as assert } from 'node:assert';
import { encodeControls, encodeFilter, noControls } from '../../../core/domain/controls.ts';
import { ownPrefix } from '../../../core/domain/event.ts';
import { planLanes } from '../../../core/domain/lane-plan.ts';
import { intervalOf } from '../../../core/domain/rate-limit.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Callback, Subscription } from '../../../core/domain/subscription.ts';
import { keysOf } from '../../rules/pattern-keys.ts';
import { filteredCode } from '../../verbs/subscriptions/apply-controls.ts';
import { laneState } from '../../verbs/subscriptions/arrange-lanes.ts';
import { writePatterns } from '../../sql/pattern-list.ts';
import { integer, toQuotas, text, toSubscription, type Row } from '../../sql/row.ts';
import type { EditInput, EditOutput, NewSubscription } from '../../port/store.ts';
import {
  type Answer,
  type KeyName,
  findIdempotencyKeys,
  keepFirstIdempotencyKeys,
  keyColumns,
  keyNameOf,
} from '../shared/idempotency.ts';
import { lockApps, lockLanesOf } from '../shared/lock-order.ts';
import type { Tx } from '../connection/tx.ts';
import {
  asMade,
  callbackColumns,
  subscriptionColumns,
} from '../../verbs/subscriptions/subscriptions.ts';

export const subscribeAllSql = {
  // The app's row is locked, so no other transaction changes its count or version. Each subscription gets a version of
  // its own, in the order of the calls.
  subscriptions: `
    with asked as (
      select x.*, row_number() over (partition by x.app order by x.i) as choice
      from unnest($1::text[], $2::bigint[], $3::bytea[], $4::text[], $5::text[], $6::bytea[],
        $7::text[], $8::text[], $9::int[], $10::bigint[], $11::bytea[], $12::bigint[],
        $14::text[], $15::bigint[], $16::text[], $17::int[], $18::text[])
        with ordinality as x (id, app, key, contract, operation, secrets, settings, filter,
          ordered, expires_ms, headers, quota, subject, confirm_by_ms, request_id, answer_status,
          customer, i)
      where x.key is null or x.id = (
        select idem.result from idem where idem.app = x.app and idem.key = x.key)),
    made as (
      insert into subscription (id, app, contract, operation, secrets, settings, filter, ordered,
        expires_ms, headers, version, created_ms, subject, confirm_by_ms, request_id, answer_status,
        customer, state)
      select asked.id, asked.app, contract, operation, secrets, asked.settings, filter, ordered,
        expires_ms, headers, app.version + choice, $13::bigint, asked.subject, confirm_by_ms,
        request_id, answer_status, asked.customer,
        case when confirm_by_ms is null then 'active' else 'paused' end
      from asked join app on app.no = any (array[asked.app])
      where app.subscriptions + choice <= coalesce(
        (app.settings::json #>> '{quotas,subscriptions}')::bigint, quota, 9007199254740991)
      order by i returning id, app, version),
    counted as (
      update app set version = version + x.count, subscriptions = subscriptions + x.count
      from (select made.app, count(*) from made group by made.app) as x (app, count)
      where app.no = any (array[x.app]))
    select id, version from made`,
  // Deletes the keys of calls that created no subscription.
  dropKeys: `
    delete from idem using unnest($1::bigint[], $2::bytea[], $3::text[]) as x (app, key, id)
    where idem.app = x.app and idem.key = x.key and idem.result = x.id
      and not exists (select from subscription where subscription.id = x.id)`,
  lanes: `
    insert into lane (app, subscription, version, ordered, interval_ms, concurrency, state)
    select subscription.app, subscription.no, version, x.ordered, interval_ms, concurrency, x.state
    from unnest($1::text[], $2::int[], $3::float8[], $4::int[], $5::int[])
      with ordinality as x (id, ordered, interval_ms, concurrency, state, i)
    join subscription on subscription.id = any (array[x.id])
    order by i`,
  // The lanes of a subscription are numbered in the order of their creation.
  callbacks: `
    insert into callback
      (app, subscription, position, label, event, definition, method, url, inactive, lane)
    select subscription.app, subscription.no, position, label, event, definition, method, url,
      inactive, (select (array_agg(no order by no))[x.lane + 1]
        from lane where lane.subscription = subscription.no)
    from unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
      $8::text[], $9::int[]) with ordinality
      as x (id, position, label, event, definition, method, url, inactive, lane, i)
    join subscription on subscription.id = any (array[x.id])
    order by i`,
  patterns: `
    insert into pattern (app, contract, pattern, callback, born, lane, filtered)
    select subscription.app, x.contract, x.pattern, callback.no, subscription.version,
      callback.lane, x.filtered
    from unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::int[])
      as x (id, position, contract, pattern, filtered)
    join subscription on subscription.id = any (array[x.id])
    join callback on callback.subscription = any (array[subscription.no])
      and callback.position = x.position`,
} as const;

type Subscribe = EditInput<'subscribe'>;
type Subscribed = EditOutput<'subscribe'>;

export async function subscribeAll(
  tx: Tx,
  calls: readonly Subscribe[],
  nowMs: number,
): Promise<Subscribed[]> {
  const asked = calls.map((call) => askedBy(call, nowMs));
  const current = asked.filter(({ isOver }) => !isOver);
  const keys = asked.flatMap(({ key }) => key ?? []);
  const oldestMs = nowMs - limits.idempotencyKeepMs;
  // All statements are sent as one pipeline, in this order.
  const [apps, ours, versions, , answers, repeated] = await Promise.all([
    lockApps(tx, new Set(asked.map(({ appNo }) => appNo))),
    keys.length > 0
      ? keepFirstIdempotencyKeys(tx, current.flatMap(keyed), { nowMs, oldestMs })
      : new Set<string>(),
    create(tx, current, nowMs),
    keys.length > 0 && dropKeys(tx, asked.flatMap(keyed)),
    keys.length > 0 ? findIdempotencyKeys(tx, keys, oldestMs) : new Map<string, Answer>(),
    keys.length > 0 ? findSubscriptions(tx, [], keys) : new Map<string, Subscription>(),
  ]);
  const quotas = new Map(apps.map((row) => [integer(row, 'no'), toQuotas(row).subscriptions]));
  return asked.map(({ key, isOver, quota, ...input }): Subscribed => {
    const { id, appNo } = input;
    const before = key && answers.get(keyNameOf(key));
    const isOurs = key !== undefined && ours.has(keyNameOf(key)) && before?.result === id;
    if (key !== undefined && before !== undefined && !isOurs) {
      const isSame = Buffer.compare(before.print, key.idempotency.print) === 0;
      if (!isSame) return { kind: 'mismatch' };
      const subscription = there(repeated, before.result);
      return { kind: 'repeated', subscription, isReplacing: false };
    }
    if (isOver) return { kind: 'expired' };
    const version = versions.get(id);
    if (version !== undefined) {
      return { kind: 'created', subscription: asMade(input, { version, nowMs }) };
    }
    assert(quotas.has(appNo), `Cannot subscribe: there is no app ${appNo}`);
    return { kind: 'full', quota: quotas.get(appNo) ?? quota ?? 0 };
  });
}

function there(found: ReadonlyMap<string, Subscription>, id: string): Subscription {
  const subscription = found.get(id);
  assert(subscription !== undefined, `Cannot answer with subscription "${id}": there is none`);
  return subscription;
}

interface Asked extends NewSubscription {
  key: KeyName | undefined;
  /** Its expiry has passed already: the key is looked up, but nothing is created. */
  isOver: boolean;
  quota: number | undefined;
}

function askedBy({ subscription, idempotency, subscriptionsMax }: Subscribe, nowMs: number): Asked {
  const { appNo, controls, callbacks } = subscription;
  assert(callbacks.length <= limits.callbacksPerSubscriptionMax, 'Cannot add so many callbacks');
  return {
    ...subscription,
    key: idempotency && { appNo, idempotency },
    isOver: nowMs >= (controls?.expiresMs ?? Infinity),
    quota: subscriptionsMax,
  };
}

function keyed({ id, key }: Asked): (KeyName & { result: string })[] {
  return key === undefined ? [] : [{ ...key, result: id }];
}

async function dropKeys(tx: Tx, keys: readonly (KeyName & { result: string })[]): Promise<unknown> {
  return tx.query(subscribeAllSql.dropKeys, [
    ...keyColumns(keys),
    keys.map(({ result }) => result),
  ]);
}

/**
 * All other rows join the row of the subscription: if that was not created, neither are they. Returns the versions of
 * the created ones by id.
 */
async function create(
  tx: Tx,
  asked: readonly Asked[],
  nowMs: number,
): Promise<ReadonlyMap<string, number>> {
  if (asked.length === 0) return new Map();
  const [versions] = await Promise.all([
    createSubscriptions(tx, asked, nowMs),
    createLanes(tx, asked),
    createCallbacks(tx, asked),
    createPatterns(
      tx,
      asked.filter(({ confirmByMs }) => confirmByMs === undefined),
    ),
  ]);
  return versions;
}

async function createSubscriptions(
  tx: Tx,
  asked: readonly Asked[],
  nowMs: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.query(subscribeAllSql.subscriptions, [
    asked.map(({ id }) => id),
    asked.map(({ appNo }) => appNo),
    asked.map(({ key }) => key?.idempotency.key ?? null),
    asked.map(({ contract }) => contract),
    asked.map(({ operation }) => operation),
    asked.map(({ secrets }) => secrets),
    asked.map(({ controls }) => encodeControls(controls ?? noControls)),
    asked.map(({ controls }) => controls?.filter && encodeFilter(controls.filter)).map(orNull),
    asked.map(({ controls }) => (controls?.ordered === true ? 1 : 0)),
    asked.map(({ controls }) => controls?.expiresMs ?? null),
    asked.map(({ headers }) => headers ?? null),
    asked.map(({ quota }) => quota ?? null),
    nowMs,
    asked.map(({ subject }) => subject ?? null),
    asked.map(({ confirmByMs }) => confirmByMs ?? null),
    asked.map(({ exchange }) => exchange?.requestId ?? null),
    asked.map(({ exchange }) => exchange?.status ?? null),
    asked.map(({ customer }) => customer ?? null),
  ]);
  return versionsIn(rows);
}

/** By id. */
export function versionsIn(rows: readonly Row[]): Map<string, number> {
  return new Map(rows.map((row) => [text(row, 'id'), integer(row, 'version')]));
}

function orNull<T>(value: T | undefined): T | null {
  return value ?? null;
}

async function createLanes(tx: Tx, asked: readonly Asked[]): Promise<unknown> {
  const lanes = asked.flatMap(({ id, callbacks, controls = noControls, confirmByMs }) => {
    const count = Math.max(0, ...lanesOf(callbacks, controls).map((lane) => lane + 1));
    const state = confirmByMs === undefined ? laneState.active : laneState.held;
    return Array.from({ length: count }, () => ({ id, controls, state }));
  });
  return tx.query(subscribeAllSql.lanes, [
    lanes.map(({ id }) => id),
    lanes.map(({ controls }) => (controls.ordered ? 1 : 0)),
    lanes.map(({ controls }) => intervalOf(controls) ?? null),
    lanes.map(({ controls }) => controls.concurrency ?? null),
    lanes.map(({ state }) => state),
  ]);
}

/** For each active callback, the index of its lane among the lanes of the subscription. */
function lanesOf(
  callbacks: readonly Callback[],
  controls: NonNullable<Asked['controls']>,
): number[] {
  const active = callbacks.filter(isActive);
  const choices = planLanes(
    [],
    active.map(() => undefined),
    controls,
  );
  return choices.map((choice) => {
    assert(choice.kind === 'new', 'A new subscription has no lanes yet');
    return choice.index;
  });
}

function isActive({ inactive }: Callback): boolean {
  return inactive === undefined;
}

async function createCallbacks(tx: Tx, asked: readonly Asked[]): Promise<unknown> {
  const rows = asked.flatMap(({ id, callbacks, controls = noControls }) => {
    const lanes = lanesOf(callbacks, controls).values();
    return callbacks.map((callback) => {
      return { id, callback, lane: isActive(callback) ? lanes.next().value : undefined };
    });
  });
  return tx.query(subscribeAllSql.callbacks, [
    rows.map(({ id }) => id),
    rows.map(({ callback }) => callback.position),
    rows.map(({ callback }) => callback.label),
    rows.map(({ callback }) => writePatterns(callback.events)),
    rows.map(({ callback }) => callback.definition),
    rows.map(({ callback }) => callback.method),
    rows.map(({ callback }) => callback.url),
    rows.map(({ callback }) => callback.inactive ?? null),
    rows.map(({ lane }) => lane ?? null),
  ]);
}

/** From the version of its subscription on, publishes find each active callback. */
export async function createPatterns(
  tx: Tx,
  found: readonly Omit<NewSubscription, 'secrets'>[],
): Promise<unknown> {
  const patterns = found.flatMap(({ id, contract, subject, customer, callbacks, controls }) =>
    callbacks.filter(isActive).flatMap(({ position, events }) =>
      events.flatMap((pattern) => {
        // Ringback's own events belong to no contract.
        const of = pattern.startsWith(ownPrefix) ? '' : contract;
        const filtered = filteredCode(controls?.filter);
        const keys = keysOf(pattern, { subject, customer });
        return keys.map((key) => ({ id, position, of, key, filtered }));
      }),
    ),
  );
  return tx.query(subscribeAllSql.patterns, [
    patterns.map(({ id }) => id),
    patterns.map(({ position }) => position),
    patterns.map(({ of }) => of),
    patterns.map(({ key }) => key),
    patterns.map(({ filtered }) => filtered),
  ]);
}

// Reads many subscriptions by id, in two statements.

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
    join callback on callback.subscription = any (array[subscription.no])`,
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

// Unsubscribes many calls at once, with a number of statements that grows neither with the calls nor with the pending
// deliveries, sent as one pipeline. Pending deliveries are swept later. Replies are in the order of the calls.

/** Used as `ended`: the requested subscriptions that have ended, now or earlier. */
const ended = `
    select subscription.no, version from unnest($1::text[], $2::bigint[]) as x (id, app)
    join subscription on subscription.id = any (array[x.id]) and subscription.app + 0 = x.app
      and subscription.state = 'ended'`;

export const unsubscribeAllSql = {
  // The app's row is locked, so no other transaction changes a state. Each subscription gets a version of its own, in
  // the order of the calls. A node of an older version may not have counted its subscriptions; `greatest` keeps the
  // count from going below zero, which would refuse the unsubscribe.
  end: `
    with asked as (
      select subscription.no, subscription.app, x.reason, x.status,
        row_number() over (partition by subscription.app order by x.i) as choice
      from unnest($1::text[], $2::bigint[], $4::text[], $5::int[])
        with ordinality as x (id, app, reason, status, i)
      join subscription on subscription.id = any (array[x.id]) and subscription.app + 0 = x.app
        and subscription.state <> 'ended'),
    ended as (
      update subscription set state = 'ended', ended_ms = $3::bigint, version = app.version + choice,
        end_reason = asked.reason, confirm_by_ms = null,
        answer_status = coalesce(asked.status, subscription.answer_status)
      from asked join app on app.no = any (array[asked.app])
      where subscription.no = any (array[asked.no])
      returning subscription.id, subscription.app),
    counted as (
      update app set version = version + x.count,
        subscriptions = greatest(subscriptions - x.count, 0)
      from (select ended.app, count(*) from ended group by ended.app) as x (app, count)
      where app.no = any (array[x.app]))
    select id from ended`,
  // `died is null` would let the planner choose the index over all patterns of an app.
  patterns: `
    update pattern set died = ended.version from (${ended}) as ended
    join callback on callback.subscription = any (array[ended.no])
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
  const asked = [
    ...new Map(calls.toReversed().map((call) => [`${call.appNo} ${call.id}`, call])).values(),
  ].reverse();
  const ids = asked.map(({ id }) => id);
  const apps = asked.map(({ appNo }) => appNo);
  // All statements are sent as one pipeline, in this order.
  const [, , rows, , , found] = await Promise.all([
    lockApps(tx, new Set(apps)),
    lockLanesOf(tx, ids, apps),
    tx.query(unsubscribeAllSql.end, [
      ids,
      apps,
      nowMs,
      asked.map(({ reason = 'unsubscribed' }) => reason),
      asked.map(({ status }) => status ?? null),
    ]),
    tx.query(unsubscribeAllSql.patterns, [ids, apps]),
    tx.query(unsubscribeAllSql.endLanes, [ids, apps]),
    findSubscriptions(tx, ids),
  ]);
  const fresh = new Set(rows.map((row) => text(row, 'id')));
  return calls.map(({ appNo, id }) => {
    const subscription = found.get(id);
    if (subscription?.appNo !== appNo) return { kind: 'not_found' };
    return { kind: 'ended', subscription, isRepeated: !fresh.delete(id) };
  });
}
