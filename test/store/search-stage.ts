// Data for searches: apps with subscriptions, events and deliveries of every kind, and the expected results, found by
// reading each row.
import { strict as assert } from 'node:assert';
import type { App } from '../../src/core/domain/app.ts';
import type { AttemptError } from '../../src/core/domain/attempt.ts';
import type { Leased } from '../../src/core/domain/delivery.ts';
import { firstIdAt, timeOf } from '../../src/core/base/id.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { patternsFor } from '../../src/core/domain/pattern.ts';
import type { Callback, Subscription } from '../../src/core/domain/subscription.ts';
import { isCursor } from '../../src/store/sql/cursor.ts';
import type {
  Delivery,
  DeliveryFilter,
  NewEvent,
  Settlement,
} from '../../src/store/port/delivery-verbs.ts';
import type { NewSubscription, Page } from '../../src/store/port/store.ts';
import { matchingPatterns } from '../../src/store/rules/pattern-keys.ts';
import type { ReadInput, Store } from '../../src/store/port/store.ts';
import { mulberry32 } from '../engine/virtual-world.ts';
import { newId } from './open-memory.ts';
import { attempt, callback, newApp, newSubscription } from './subject.ts';
import { attachDispatcher, type TestDispatcher } from './test-dispatcher.ts';

export const minuteMs = 60_000;
export const names = [
  'order.created',
  'order.paid',
  'order.item.packed',
  'order',
  'orders',
  'user.left',
];
export const patterns = [
  ...names,
  'order.*',
  'order.item.*',
  'user.*',
  'nothing.*',
  '*',
  'ringback.*',
];

export const none: DeliveryFilter = {
  state: undefined,
  name: undefined,
  subject: undefined,
  customer: undefined,
  event: undefined,
  subscription: undefined,
  status: undefined,
  error: undefined,
  fromMs: undefined,
  untilMs: undefined,
};

interface Stage {
  apps: readonly App[];
  subscriptions: readonly { appNo: number; id: string }[];
  events: readonly { appNo: number; id: string }[];
}

/**
 * Two apps with events in several slices, which another app fills up. Some events have old ids, like those published by
 * SQL. All deliveries of the last app are running.
 */
export async function setStage(store: Store, clock: { ms: number }): Promise<Stage> {
  const [busy, quiet, filler] = [await newApp(store), await newApp(store), await newApp(store)];
  const running = await newApp(store);
  const dispatcher = attachDispatcher(store);
  const subscriptions: Subscription[] = [];
  const add = async (
    app: App,
    callbacks: readonly Callback[],
    owner: Pick<NewSubscription, 'subject' | 'customer'> = {},
  ): Promise<void> => {
    const subscription = newSubscription(app, { callbacks, ...owner });
    const output = await store.edit('subscribe', { subscription, idempotency: undefined });
    assert(output.kind === 'created');
    subscriptions.push(output.subscription);
  };
  await add(busy, [callback(0, '*'), callback(1, 'order.*')]);
  await add(busy, [callback(0, 'user.left')], { customer: 'cus_1' });
  await add(busy, [callback(0, 'orders'), callback(1, 'order.item.*'), callback(2, 'ringback.*')]);
  await add(quiet, [callback(0, '*')], { customer: 'cus_1' });
  await add(running, [callback(0, '*')]);
  await add(busy, [callback(0, 'nothing other')]);
  await add(busy, [callback(0, 'job.*')], { subject: 'one', customer: 'cus_1' });
  await add(busy, [callback(0, 'job.done')], { subject: 'two', customer: 'cus_2' });
  await add(busy, [callback(0, 'job.done')], { subject: 'one' });
  await add(quiet, [callback(0, 'job.done')], { subject: 'one' });
  // More lanes than a search of one customer names.
  const each = limits.callbacksPerSubscriptionMax;
  for (let lanes = 0; lanes <= limits.searchLanesMax; lanes += each) {
    const callbacks = Array.from({ length: each }, (_, at) => callback(at, 'nothing.ever'));
    await add(busy, callbacks, { customer: 'cus_many' });
  }
  await add(busy, [callback(0, 'order.paid')], { customer: 'cus_many' });
  // More deliveries of one event than a search examines at first.
  const many = 2 * limits.searchRowsMin - 70;
  await add(
    busy,
    Array.from({ length: many }, (_, at) => callback(at, 'wide.load')),
  );
  const chance = mulberry32(7);
  const events: { appNo: number; id: string }[] = [];
  const publish = async (app: App, what: string): Promise<void> => {
    clock.ms += Math.floor(chance() * minuteMs);
    const isOld = chance() < 0.05;
    const atMs = isOld ? clock.ms - 30 * minuteMs : clock.ms;
    const id = idAt(atMs);
    const about = ['one', 'two'][Math.floor(chance() * 6)];
    const customer = ['cus_1', 'cus_2', 'cus_many'][Math.floor(chance() * 9)];
    const { fresh } = await dispatcher.publish(
      { room: chance() < 0.8 ? 200 : 0 },
      input(app, [id], what, {
        subject: what === 'job.done' ? (about ?? 'one') : about,
        customer,
      }),
    );
    events.push({ appNo: app.no, id });
    for (const one of fresh) if (chance() < 0.9) await store.settle(outcomeOf(one, chance));
  };
  for (let round = 0; round < 4; round += 1) {
    // In one slice more than a search examines at first.
    const length = round === 0 ? limits.searchRowsMin + 6 : 1;
    const ids = Array.from({ length }, () => idAt(clock.ms));
    await dispatcher.publish({ room: 200, laneRoom: 200 }, input(running, ids, 'order'));
    events.push(...ids.map((id) => ({ appNo: running.no, id })));
    for (let i = 0; i < 45; i += 1) {
      await publish(
        chance() < 0.9 ? busy : quiet,
        names[Math.floor(chance() * names.length)] ?? 'x',
      );
    }
    if (round % 2 === 0) await publish(busy, 'wide.load');
    for (const app of [busy, busy, busy, quiet]) await publish(app, 'job.done');
    await fillSlice(store, filler, clock.ms);
  }
  await retrySome(store, dispatcher, chance);
  const [, ended] = subscriptions;
  await store.edit('unsubscribe', { appNo: busy.no, id: ended?.id ?? '' });
  await store.edit('sweep', { limit: 1_000 });
  await store.edit('sweep', { limit: 1_000 });
  return {
    apps: [busy, quiet, running],
    subscriptions: subscriptions.map(({ id, appNo }) => ({ id, appNo })),
    events,
  };
}

/** Enough rows of another app to start a new slice. */
async function fillSlice(store: Store, app: App, atMs: number): Promise<void> {
  for (let left = limits.sliceRowsMax - 300; left > 0; left -= limits.batchEventsMax) {
    const ids = Array.from({ length: Math.min(left, limits.batchEventsMax) }, () => idAt(atMs));
    await store.edit('publish', input(app, ids, 'filler'));
  }
}

function idAt(ms: number): string {
  return firstIdAt(ms).slice(0, 10) + newId().slice(10);
}

/** Claims some failed deliveries and settles them again. */
async function retrySome(store: Store, dispatcher: TestDispatcher, chance: Chance): Promise<void> {
  const { claimed } = await dispatcher.claim({ room: 40 });
  for (const one of claimed) {
    if (chance() < 0.7) await store.settle(outcomeOf(one, chance));
  }
}

function input(
  app: App,
  ids: readonly string[],
  what: string,
  owner: Pick<NewEvent, 'subject' | 'customer'> = {},
) {
  const payload = Buffer.from('1');
  return {
    appNo: app.no,
    contract: 'Ringback',
    events: ids.map((id) => ({ id, name: what, ...owner, payload })),
    audience: { kind: 'everyone' },
    idempotency: undefined,
  } as const;
}

function outcomeOf(one: Leased, chance: Chance): Settlement {
  const { event, n, lease } = one;
  const name = { event, n, lease };
  const dice = chance();
  if (dice < 0.5) {
    const status = chance() < 0.3 ? 204 : 200;
    return {
      ...name,
      outcome: { kind: 'delivered' },
      attempt: attempt({ status, error: undefined }),
    };
  }
  if (dice < 0.55) return { ...name, outcome: { kind: 'cancelled' }, attempt: undefined };
  if (dice < 0.6) return { ...name, outcome: { kind: 'released', waitMs: 0 }, attempt: undefined };
  if (dice < 0.65)
    return { ...name, outcome: { kind: 'dead', reason: 'expired' }, attempt: undefined };
  const failed = attempt(failures[Math.floor(chance() * failures.length)]);
  const outcome = dice < 0.82 ? deadOutcome : ({ kind: 'retry', waitMs: 0 } as const);
  return { ...name, outcome, attempt: failed };
}

const deadOutcome = { kind: 'dead', reason: 'exhausted' } as const;

const failures: readonly { status: number | undefined; error: AttemptError }[] = [
  { status: undefined, error: 'timeout' },
  { status: undefined, error: 'tls' },
  { status: 301, error: 'redirect' },
  { status: 404, error: 'status' },
  { status: 500, error: 'status' },
  { status: 503, error: 'status' },
];

export async function readAll<K, T>(
  keys: readonly K[],
  read: (key_: K) => Promise<T | undefined>,
): Promise<T[]> {
  const found: T[] = [];
  for (const one of keys) {
    const item = await read(one);
    assert(item !== undefined);
    found.push(item);
  }
  return found;
}

/** Every returned cursor must be one that the API accepts. */
export function positioned<T>(page: Page<T>): Page<T> {
  assert(page.next === undefined || isCursor(page.next, 'position'), `next is "${page.next}"`);
  return page;
}

/** Follows all pages, with a larger limit if there are many items, to save time. */
export async function follow<T>(
  limit: number,
  expected: number,
  read: (page: { limit: number; after: string | undefined }) => Promise<Page<T>>,
): Promise<T[]> {
  const found: T[] = [];
  const most = Math.max(limit, Math.min(500, Math.ceil(expected / 20)));
  let next: string | undefined;
  do {
    const page = await read({ limit: most, after: next });
    assert(page.items.length <= most);
    assert(page.items.length === most || page.next === undefined, 'a short page has a cursor');
    found.push(...page.items);
    next = page.next;
  } while (next !== undefined);
  return found;
}

export function fits(one: Delivery, filter: DeliveryFilter): boolean {
  const { state, name, subject, customer, event, subscription, status, error } = filter;
  const isPending = one.state === 'due' || one.state === 'running';
  const isState =
    state === undefined ||
    one.state === state ||
    (state === 'pending' && isPending) ||
    (state === 'retrying' && isPending && one.attempts > 0) ||
    (state === 'ended' && !isPending);
  const code = String(one.status ?? '');
  const isError =
    error === undefined ||
    one.error === error ||
    (error === 'exhausted' && one.state === 'dead' && one.error !== 'expired');
  return (
    isState &&
    isError &&
    isOf(one.eventName, name) &&
    (subject ?? one.subject) === one.subject &&
    (customer ?? one.customer) === one.customer &&
    isWithin(one.event, filter) &&
    (event ?? one.event) === one.event &&
    (subscription ?? one.subscription) === one.subscription &&
    (status === undefined || code === status || (code !== '' && `${code[0]}xx` === status))
  );
}

export function isOf(name: string, pattern: string | undefined): boolean {
  return pattern === undefined || patternsFor(name).includes(pattern);
}

export function isWithin(
  id: string,
  { fromMs = -Infinity, untilMs = Infinity }: Pick<DeliveryFilter, 'fromMs' | 'untilMs'>,
): boolean {
  return timeOf(id) >= fromMs && timeOf(id) < untilMs;
}

export function hears(
  one: Subscription,
  { state, event, url, subject, customer }: Omit<ReadInput<'subscriptions'>, 'appNo' | 'page'>,
): boolean {
  return (
    (state ?? one.state) === one.state &&
    (subject ?? one.subject) === one.subject &&
    (customer ?? one.customer) === one.customer &&
    (event === undefined ||
      one.callbacks.some((each) =>
        each.events.some((pattern) => matchingPatterns(event).includes(pattern)),
      )) &&
    (url === undefined ||
      one.callbacks.some((each) => each.url.toLowerCase().includes(url.toLowerCase())))
  );
}

export function pick<T>(list: readonly T[], at: number | string | undefined): T | undefined {
  return at === undefined ? undefined : list[Number(at) % list.length];
}

export function newestFirst(a: Delivery, b: Delivery): number {
  return a.event === b.event ? b.n - a.n : a.event < b.event ? 1 : -1;
}

export function key({ event, n }: Delivery): string {
  return `${event} ${n}`;
}

type Chance = () => number;
