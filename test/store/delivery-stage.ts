// Common steps of the suites about deliveries: subscribe, publish, claim, settle and read.
import { strict as assert } from 'node:assert';
import type { App } from '../../src/core/domain/app.ts';
import type { DeliveryState, Leased } from '../../src/core/domain/delivery.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Callback, Subscription } from '../../src/core/domain/subscription.ts';
import type {
  Audience,
  Delivery,
  DeliveryFilter,
  Settlement,
} from '../../src/store/port/delivery-verbs.ts';
import type { EditInput, EditOutput, Idempotency } from '../../src/store/port/store.ts';
import { callback, newSubscription, type OpenSubject } from './subject.ts';
import { settlementOf } from './settlement.ts';
import { newId } from './open-memory.ts';
import { freshStage } from './store-stage.ts';
import type { StoreStage } from './store-stage.ts';
import type { Accepted, Settled, Worked } from '../../src/store/port/delivery-verbs.ts';
import type { Event } from '../../src/core/domain/event.ts';
import type { Attempt } from '../../src/core/domain/attempt.ts';

const everyone: Audience = { kind: 'everyone' };
export const page = { limit: 50, after: undefined };
export const none: DeliveryFilter = {
  state: undefined,
  name: undefined,
  event: undefined,
  subscription: undefined,
};

export interface PublishOptions {
  app?: App;
  contract?: string;
  payload?: Uint8Array;
  audience?: Audience;
  idempotency?: Idempotency;
}

export interface DeliveryStage {
  on: StoreStage;
  clock: {
    ms: number;
  };
  subscribed: (
    callbacks?: readonly Callback[],
    one?: {
      app?: App;
      contract?: string;
    },
  ) => Promise<Subscription>;
  crowd: () => Promise<Subscription[]>;
  unsubscribe: (one: Subscription) => Promise<void>;
  edit: (one: Subscription, state: 'active' | 'paused') => Promise<Subscription>;
  publishInput: (names: readonly string[], options?: PublishOptions) => EditInput<'publish'>;
  publish: (what: string, options?: PublishOptions) => Promise<readonly Accepted[]>;
  publishMany: (count: number) => Promise<void>;
  assertNothingDue: (readyMs: number | undefined) => void;
  startAgain: () => Promise<{
    node: number;
    freed: number;
  }>;
  claim: () => Promise<Worked>;
  leased: (callbacks?: Callback[]) => Promise<
    Leased & {
      subscription: string;
    }
  >;
  settle: (
    one: Pick<Leased, 'event' | 'n' | 'lease'>,
    kind: Settlement['outcome']['kind'],
    changes?: {
      dueMs?: number;
      attempt?: Settlement['attempt'];
    },
  ) => Promise<Settled>;
  retry: (one: Leased) => Promise<EditOutput<'retryDelivery'>>;
  eventOf: (id: string) => Promise<Event>;
  events_: (what?: string) => Promise<string[]>;
  pagesOf: (what: string | undefined, limit: number) => Promise<string[][]>;
  deliveryOf: (one: Pick<Leased, 'event' | 'n'>) => Promise<Delivery>;
  attemptsOf: (one: Pick<Leased, 'event' | 'n'>) => Promise<readonly Attempt[]>;
  deliveries: (filter?: Partial<DeliveryFilter>) => Promise<Delivery[]>;
  allPages: (filter: DeliveryFilter, limit: number) => Promise<Delivery[]>;
  tally: () => Promise<Partial<Record<DeliveryState, number>>>;
}

/** Uses a fresh store for each test. */
export function deliveryStage(open: OpenSubject): DeliveryStage {
  const on = freshStage(open);
  const { clock } = on;

  async function subscribed(
    callbacks: readonly Callback[] = [callback(0, '*')],
    { app: owner = on.app, contract = 'Ringback' }: { app?: App; contract?: string } = {},
  ): Promise<Subscription> {
    const subscription = newSubscription(owner, { callbacks, contract });
    const output = await on.store.edit('subscribe', { subscription, idempotency: undefined });
    assert(output.kind === 'created');
    return output.subscription;
  }

  /** More matching callbacks than a publish can insert at once. */
  async function crowd(): Promise<Subscription[]> {
    const made: Subscription[] = [];
    for (let i = 0; i < 5; i += 1) {
      const { callbacksPerSubscriptionMax: length } = limits;
      const pattern = i % 2 === 0 ? 'a' : '*';
      made.push(await subscribed(Array.from({ length }, (_, at) => callback(at, pattern))));
    }
    return made;
  }

  async function unsubscribe({ id }: Subscription): Promise<void> {
    await on.store.edit('unsubscribe', { appNo: on.app.no, id });
  }

  async function edit(
    { id, version }: Subscription,
    state: 'active' | 'paused',
  ): Promise<Subscription> {
    const input = { appNo: on.app.no, id, version, state, urls: [], secrets: undefined };
    const output = await on.store.edit('editSubscription', input);
    assert(output.kind === 'edited');
    return output.subscription;
  }

  function publishInput(
    names: readonly string[],
    options: PublishOptions = {},
  ): EditInput<'publish'> {
    const { app: owner = on.app, contract = 'Ringback', ...rest } = options;
    const { payload, audience = everyone, idempotency } = rest;
    return {
      appNo: owner.no,
      contract,
      events: names.map((one) => newEvent(one, payload)),
      audience,
      idempotency,
    };
  }

  async function publish(what: string, options: PublishOptions = {}) {
    const output = await on.store.edit('publish', publishInput([what], options));
    assert(output.kind === 'accepted');
    return output.events;
  }

  async function publishMany(count: number): Promise<void> {
    const names = Array.from({ length: count }, () => 'a');
    await on.store.edit('publish', publishInput(names));
  }

  /** A cluster cannot know at once that nothing is left, so it checks again with growing delays. */
  function assertNothingDue(readyMs: number | undefined): void {
    if (on.store.isShared && readyMs !== undefined) assert(readyMs > clock.ms);
    else assert.equal(readyMs, undefined);
  }

  /** On SQLite, a start releases all leases; in a cluster, a recovery must. */
  async function startAgain(): Promise<{ node: number; freed: number }> {
    const input = { name: 'here', role: 'all', version: '1.0.0' } as const;
    const started = await on.store.edit('startNode', { ...input, aloneHere: !on.store.isShared });
    if (!on.store.isShared) return started;
    const { freed } = await on.store.edit('rescue', { silentMs: 1_000 });
    return { ...started, freed };
  }

  async function claim() {
    return on.dispatcher.claim({ room: 99 });
  }

  /** A delivery in flight, for a new subscription. */
  async function leased(
    callbacks = [callback(0, 'a')],
  ): Promise<Leased & { subscription: string }> {
    const { id } = await subscribed(callbacks);
    const input = publishInput(['a'], { audience: { kind: 'subscription', id } });
    const [one] = (await on.dispatcher.publish({ room: 1 }, input)).fresh;
    assert(one);
    return { ...one, subscription: id };
  }

  async function settle(
    one: Pick<Leased, 'event' | 'n' | 'lease'>,
    kind: Settlement['outcome']['kind'],
    { dueMs = clock.ms, ...changes }: { dueMs?: number; attempt?: Settlement['attempt'] } = {},
  ) {
    const settlement = settlementOf(one, kind, dueMs, clock.ms);
    return on.store.settle('attempt' in changes ? { ...settlement, ...changes } : settlement);
  }

  async function retry(one: Leased) {
    return on.store.edit('retryDelivery', { appNo: on.app.no, ...nameOf(one) });
  }

  async function eventOf(id: string) {
    const event = await on.store.read('event', { appNo: on.app.no, id });
    assert(event !== undefined);
    return event;
  }

  async function events_(what?: string): Promise<string[]> {
    return (await pagesOf(what, 50)).flat();
  }

  async function pagesOf(what: string | undefined, limit: number): Promise<string[][]> {
    const pages: string[][] = [];
    let after: string | undefined;
    do {
      const input = { appNo: on.app.no, page: { limit, after }, name: what };
      const { items, next } = await on.store.read('events', input);
      if (items.length > 0) pages.push(items.map(({ id }) => id));
      after = next;
    } while (after !== undefined);
    return pages;
  }

  async function deliveryOf(one: Pick<Leased, 'event' | 'n'>): Promise<Delivery> {
    const found = await on.store.read('delivery', { appNo: on.app.no, ...nameOf(one) });
    assert(found !== undefined);
    return structuredClone(found);
  }

  async function attemptsOf(one: Pick<Leased, 'event' | 'n'>) {
    return structuredClone(await on.store.read('attempts', { appNo: on.app.no, ...nameOf(one) }));
  }

  async function deliveries(filter: Partial<DeliveryFilter> = {}): Promise<Delivery[]> {
    return allPages({ ...none, ...filter }, 50);
  }

  async function allPages(filter: DeliveryFilter, limit: number): Promise<Delivery[]> {
    const all: Delivery[] = [];
    let after: string | undefined;
    do {
      const input = { appNo: on.app.no, page: { limit, after }, filter };
      const { items, next } = await on.store.read('deliveries', input);
      assert(items.length <= limit);
      all.push(...items);
      after = next;
    } while (after !== undefined);
    return all;
  }

  /** Counts by state, without zeros. */
  async function tally(): Promise<Partial<Record<DeliveryState, number>>> {
    const counts = Object.entries(await on.store.read('tally', {}));
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }
  return {
    on,
    clock,
    subscribed,
    crowd,
    unsubscribe,
    edit,
    publishInput,
    publish,
    publishMany,
    assertNothingDue,
    startAgain,
    claim,
    leased,
    settle,
    retry,
    eventOf,
    events_,
    pagesOf,
    deliveryOf,
    attemptsOf,
    deliveries,
    allPages,
    tally,
  };
}

type NewEvent = EditInput<'publish'>['events'][number];

export function newEvent(
  name: string,
  payload: Uint8Array = Buffer.from('{"message":"hello"}'),
): NewEvent {
  return { id: newId(), name, payload };
}

export function nameOf({ event, n }: { event: string; n: number }): { event: string; n: number } {
  return { event, n };
}

export function key({ event, n }: { event: string; n: number }): string {
  return `${event} ${n}`;
}
