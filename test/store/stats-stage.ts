// Common steps of the suites about statistics.
import { strict as assert } from 'node:assert';
import type { App } from '../../src/core/domain/app.ts';
import type { Leased } from '../../src/core/domain/delivery.ts';
import {
  addStatistics,
  type Counts,
  minuteMs,
  noStatistics,
  type Span,
  spanOf,
  type Statistics,
} from '../../src/core/telemetry/statistics.ts';
import type { Subscription } from '../../src/core/domain/subscription.ts';
import type { AppStatistics, StepStatistics } from '../../src/store/port/statistics-verbs.ts';
import type { NewSubscription } from '../../src/store/port/store.ts';
import { newApp, newSubscription, type OpenSubject } from './subject.ts';
import { keptStage } from './store-stage.ts';
import type { StoreStage } from './store-stage.ts';
import type { SubscriptionStatistics } from '../../src/store/port/statistics-verbs.ts';

export const dayMs = 24 * 60 * minuteMs;

export function sumOf(steps: readonly StepStatistics[]): Statistics {
  const sum = noStatistics();
  for (const { figures } of steps) addStatistics(sum, figures);
  return sum;
}

export function nonZero(counts: Counts): Partial<Counts> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

export function buckets({ took }: Statistics): Record<number, number> {
  return Object.fromEntries([...took.entries()].filter(([, count]) => count > 0));
}

export interface StatsStage {
  on: StoreStage;
  staged: (callbacks: NewSubscription['callbacks']) => Promise<{
    app: App;
    one: Subscription;
  }>;
  subscribed: (app: App, changes: Partial<NewSubscription>) => Promise<Subscription>;
  edit: (one: Subscription, state: 'disabled' | 'paused') => Promise<void>;
  newEvent: (event?: string) => {
    id: string;
    name: string;
    payload: Buffer<ArrayBuffer>;
  };
  publishing: (
    one: Subscription,
    event?: string,
  ) => {
    appNo: number;
    contract: string;
    idempotency: undefined;
    audience: {
      readonly kind: 'subscription';
      readonly id: string;
    };
    events: {
      id: string;
      name: string;
      payload: Buffer<ArrayBuffer>;
    }[];
  };
  leased: (
    one: Subscription,
    more: {
      room: number;
      event?: string;
    },
  ) => Promise<Leased[]>;
  countsOf: (app: App) => Promise<Counts>;
  some: (app: App) => Promise<Partial<Counts>>;
  read: (app: App, span?: Span) => Promise<AppStatistics>;
  statisticsOf: (app: App) => Promise<Statistics>;
  attentionOf: (app: App) => Promise<unknown[]>;
  ofSubscriptions: (
    app: App,
    ids: readonly string[],
    pendingMax?: number,
  ) => Promise<readonly SubscriptionStatistics[]>;
  keep: () => Promise<void>;
  tidy: (keepMs?: number) => Promise<void>;
}

/** What suites about figures do on their stage. */
export function statsStage(open: OpenSubject): StatsStage {
  const on = keptStage(open);
  const { clock, newId } = on;

  async function staged(callbacks: NewSubscription['callbacks']) {
    const app = await newApp(on.store);
    return { app, one: await subscribed(app, { callbacks }) };
  }

  async function subscribed(app: App, changes: Partial<NewSubscription>): Promise<Subscription> {
    const subscription = newSubscription(app, changes);
    const output = await on.store.edit('subscribe', { subscription, idempotency: undefined });
    assert(output.kind === 'created');
    return output.subscription;
  }

  async function edit(
    { appNo, id, version }: Subscription,
    state: 'disabled' | 'paused',
  ): Promise<void> {
    const input = { appNo, id, version, state, urls: [], secrets: undefined };
    assert.equal((await on.store.edit('editSubscription', input)).kind, 'edited');
  }

  function newEvent(event = 'a') {
    return { id: newId(), name: event, payload: Buffer.from('{"message":"hello"}') };
  }

  function publishing({ appNo, id }: Subscription, event = 'a') {
    const audience = { kind: 'subscription', id } as const;
    const common = { appNo, contract: 'Ringback', idempotency: undefined };
    return { ...common, audience, events: [newEvent(event)] };
  }

  /** Publishes to one subscription; returns its deliveries in flight. */
  async function leased(
    one: Subscription,
    { room, event }: { room: number; event?: string },
  ): Promise<Leased[]> {
    const { fresh } = await on.dispatcher.publish({ room }, publishing(one, event));
    assert.equal(fresh.length, room);
    return fresh;
  }

  async function countsOf(app: App): Promise<Counts> {
    return on.store.read('counts', { appNo: app.no });
  }

  async function some(app: App): Promise<Partial<Counts>> {
    return nonZero(await countsOf(app));
  }

  async function read(app: App, span: Span = spanOf('1h', clock.ms)): Promise<AppStatistics> {
    return on.store.read('appStatistics', { appNo: app.no, span });
  }

  async function statisticsOf(app: App): Promise<Statistics> {
    return sumOf((await read(app)).steps);
  }

  async function attentionOf(app: App): Promise<unknown[]> {
    const { attention } = await read(app);
    return attention.map(({ kind, subscription, failures }) => [kind, subscription, failures]);
  }

  async function ofSubscriptions(app: App, ids: readonly string[], pendingMax = 99) {
    const span = spanOf('1h', clock.ms);
    return on.store.read('subscriptionStatistics', { appNo: app.no, ids, span, pendingMax });
  }

  async function keep(): Promise<void> {
    while ((await on.store.edit('keepStatistics', { limit: 500 })).isMore);
  }

  async function tidy(keepMs = 400 * dayMs): Promise<void> {
    const kept = { appKeepMs: keepMs, subscriptionKeepMs: keepMs };
    const input = { ...kept, subscriptionFineMs: 2 * 60 * minuteMs, limit: 2 };
    while ((await on.store.edit('tidyStatistics', input)).isMore);
  }
  return {
    on,
    staged,
    subscribed,
    edit,
    newEvent,
    publishing,
    leased,
    countsOf,
    some,
    read,
    statisticsOf,
    attentionOf,
    ofSubscriptions,
    keep,
    tidy,
  };
}
