// Reads subscriptions, single ones and lists, and whose they are, always within one app.
import {
  decodeControls,
  encodeControls,
  encodeFilter,
  noControls,
} from '../../../core/domain/controls.ts';
import { ownPrefix } from '../../../core/domain/event.ts';
import { literalPattern } from '../../../core/domain/pattern.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Subscription } from '../../../core/domain/subscription.ts';
import { afterCustomer, belowCursor, cursorAt, cursorAtCustomer } from '../../sql/cursor.ts';
import { writePattern } from '../../sql/pattern-list.ts';
import type { Row } from '../../sql/row.ts';
import { integer, maybe, text, toSubscription } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, first, forEach } from '../../sql/statement.ts';
import type { Customer, NewSubscription, ReadInput } from '../../port/store.ts';
import type { Stepped, Walk } from '../lists/fill-page.ts';
import { fillPage } from '../lists/fill-page.ts';
import type { Read } from '../shared/verb.ts';

/** Read by `toSubscription`, with the number. */
export const subscriptionColumns = `no, id, app, contract, operation, state, secrets, version,
      created_ms, ended_ms, settings, filter, ordered, expires_ms, headers, subject, customer, confirm_by_ms,
      end_reason, request_id, answer_status`;
export const callbackColumns =
  'subscription, position, label, event, definition, method, url, inactive';

export const subscriptionsSql = {
  one: `
    select ${subscriptionColumns}
    from subscription where id = ?1 and app = ?2`,
  callbacks: `
    select ${callbackColumns}
    from callback where subscription = ?1 order by position`,
  ofResource: `
    select no, id, customer from subscription
    where app = ?1 and resource = ?2 and resource is not null and state <> 'ended'`,
  byNo: `
    select ${subscriptionColumns}
    from subscription where no = ?1`,
  sought: soughtAmong('app = ?1 and no < ?2'),
  soughtOfSubject: soughtAmong('app = ?1 and subject = ?8 and subject is not null and no < ?2'),
  soughtOfCustomer: soughtAmong('app = ?1 and customer = ?9 and customer is not null and no < ?2'),
} as const;

/**
 * The last row has the number of examined rows. Counts instead of `exists`, which PostgreSQL might answer by scanning
 * all callbacks. A callback's patterns are one text: see writePatterns().
 */
function soughtAmong(rows: string): string {
  return `
    with recursive seen as (
      select no, subject, customer,
        case when state = 'paused' and confirm_by_ms is not null then 'unconfirmed' else state end as state
      from subscription where ${rows} order by no desc limit ?3 + 0),
    place (i) as (select 1 union all select i + 1 from place where i < length(?5)),
    hearing (pattern) as (
      select ?5 union all select '*' where ?6 = 0
      union all select substr(?5, 1, i) || '*' from place where substr(?5, i, 1) = '.')
    select no, 0 as examined from seen
    where (?4 = '' or state = ?4) and (?8 = '' or subject = ?8) and (?9 = '' or customer = ?9)
      and (?5 = '' or 0 < (
        select count(*) from callback cross join hearing where subscription = seen.no
          and replace(' ' || event || ' ', ' ' || pattern || ' ', '') <> ' ' || event || ' '))
      and (?7 = '' or 0 < (
        select count(*) from callback where subscription = seen.no
          and replace(lower(url), ?7, '') <> lower(url)))
    union all
    select no, (select count(*) from seen) from (select no from seen order by no limit 1) as edge`;
}

/** A subscription with its number in the store. */
export interface Found {
  no: number;
  subscription: Subscription;
}

export function* findSubscription(input: { appNo: number; id: string }): Script<Found | undefined> {
  const row = yield* first(subscriptionsSql.one, input.id, input.appNo);
  return row === undefined ? undefined : yield* withCallbacks(row);
}

/** A new subscription, as reading its rows would give it. */
export function asMade(
  { resource: _resource, ...made }: NewSubscription,
  { version, nowMs }: { version: number; nowMs: number },
): Subscription {
  const { controls = noControls, headers, subject, customer, confirmByMs, exchange } = made;
  const { filter, ordered, expiresMs } = controls;
  return {
    ...made,
    state: confirmByMs === undefined ? 'active' : 'unconfirmed',
    subject,
    customer,
    controls: decodeControls(encodeControls(controls), { filter, ordered, expiresMs }),
    headers,
    version,
    createdMs: nowMs,
    endedMs: undefined,
    endReason: undefined,
    confirmByMs,
    exchange,
  };
}

export const subscription: Read<'subscription'> = function* (input) {
  return (yield* findSubscription(input))?.subscription;
};

export const subscriptionOf: Read<'subscriptionOf'> = function* ({ appNo, resource }) {
  const row = yield* first(subscriptionsSql.ofResource, appNo, resource);
  return row && text(row, 'id');
};

export const subscriptions: Read<'subscriptions'> = function* ({ appNo, page, ...filter }) {
  return yield* fillPage({
    walk: walkRows(appNo, belowCursor(page.after), filter),
    limit: page.limit,
    toCursor: ({ no }) => cursorAt(no),
    toItems: function* (steps) {
      const numbers = steps.map(({ no }) => [no]);
      const rows = yield* forEach(subscriptionsSql.byNo, numbers);
      const callbacks = Map.groupBy(yield* forEach(subscriptionsSql.callbacks, numbers), (row) =>
        integer(row, 'subscription'),
      );
      const found = new Map(rows.map((row) => [integer(row, 'no'), row]));
      return steps.map(({ no }) => {
        const row = found.get(no);
        return row && toSubscription(row, callbacks.get(no) ?? []);
      });
    },
    atOnce: limits.subscriptionsReadAtOnce,
    weigh,
  });
};

/** Size of the parts that a caller can make large; the rest of a subscription is small. */
function weigh({ controls, callbacks }: Subscription): number {
  const { description = '', metadata = {}, filter } = controls;
  const filtered = filter === undefined ? '' : encodeFilter(filter);
  const called = callbacks.flatMap(({ url, events }) => [url, ...events]);
  const texts = [description, filtered, ...Object.entries(metadata).flat(), ...called];
  return texts.reduce((sum, { length }) => sum + length, 0);
}

interface Step extends Stepped {
  no: number;
}

type Filter = Omit<ReadInput<'subscriptions'>, 'appNo' | 'page'>;

function* walkRows(appNo: number, below: number, filter: Filter): Walk<Step> {
  const { state = '', event = '', url = '', subject, customer } = filter;
  const isOwn = event.startsWith(ownPrefix) ? 1 : 0;
  const pattern = event === '' ? '' : writePattern(literalPattern(event));
  const sought = [state, pattern, isOwn, url.toLowerCase(), subject ?? '', customer ?? ''];
  const sql =
    subject !== undefined
      ? subscriptionsSql.soughtOfSubject
      : customer !== undefined
        ? subscriptionsSql.soughtOfCustomer
        : subscriptionsSql.sought;
  let from = below;
  for (let most: number = limits.searchRowsMin; ; most = Math.min(most * 4, subscriptionsAtOnce)) {
    const rows = yield* forEach(sql, [[appNo, from, most, ...sought]]);
    const steps = rows.map((row): Step & { examined: number } => {
      const examined = integer(row, 'examined');
      const cost = examined * limits.indexProbeRows; // Its callbacks are examined, too.
      return { no: integer(row, 'no'), fits: examined === 0, cost, examined };
    });
    const edge = steps.find(({ fits }) => !fits);
    if (edge === undefined) return;
    yield* steps.filter(({ fits }) => fits).sort((a, b) => b.no - a.no);
    yield edge;
    from = edge.no;
    if (edge.examined < most) return;
  }
}

const subscriptionsAtOnce = 1_024;

function* withCallbacks(row: Row): Script<Found> {
  const no = integer(row, 'no');
  return { no, subscription: toSubscription(row, yield* all(subscriptionsSql.callbacks, no)) };
}

// Customers exist by their subscriptions: the index of these lists them, one step for each, however many
// subscriptions they have.

export const customersSql = {
  named: `
    with recursive named (customer) as (
      select min(customer) from subscription
      where app = ?1 and customer > ?2 and customer is not null
      union all
      select (
        select min(subscription.customer) from subscription
        where app = ?1 and subscription.customer > named.customer
          and subscription.customer is not null)
      from named where named.customer is not null)
    select customer from named where customer is not null limit ?3 + 0`,
  summary: `
    select ?2 as customer, count(*) as rows,
      sum(case when state = 'active' then 1 else 0 end) as active,
      sum(case when state = 'disabled' then 1 else 0 end) as disabled,
      sum(case when state = 'paused' and confirm_by_ms is null then 1 else 0 end) as paused,
      sum(case when state = 'paused' and confirm_by_ms is not null then 1 else 0 end) as unconfirmed,
      max(failures) as failures, min(failing_ms) as failing_ms
    from (
      select state, confirm_by_ms,
        (select max(failures) from lane where lane.subscription = subscription.no and lane.state < 2)
          as failures,
        (select min(failing_ms) from lane
          where lane.subscription = subscription.no and lane.state < 2 and failures > 0) as failing_ms
      from subscription where app = ?1 and customer = ?2 and customer is not null
      order by no desc limit ?3 + 0) as own`,
} as const;

export const customers: Read<'customers'> = function* ({ appNo, page, customer }) {
  const { limit, after } = page;
  const from = afterCustomer(after);
  const rows =
    customer === undefined
      ? yield* all(customersSql.named, appNo, from, limit + 1)
      : [{ customer }];
  const found = rows.map((row) => text(row, 'customer')).filter((name) => name > from);
  const names = found.slice(0, limit);
  const most = limits.customerSubscriptionsMax;
  const counted = yield* forEach(
    customersSql.summary,
    names.map((name) => [appNo, name, most + 1]),
  );
  const last = names.at(-1);
  return {
    items: counted.map((row) => toCustomer(row, most)),
    next: found.length > limit && last !== undefined ? cursorAtCustomer(last) : undefined,
  };
};

function toCustomer(row: Row, most: number): Customer {
  const count = (state: string): number => maybe(integer, row, state) ?? 0;
  return {
    name: text(row, 'customer'),
    subscriptions: {
      unconfirmed: count('unconfirmed'),
      active: count('active'),
      paused: count('paused'),
      disabled: count('disabled'),
    },
    isCapped: integer(row, 'rows') > most,
    failures: count('failures'),
    failingMs: maybe(integer, row, 'failing_ms'),
  };
}
