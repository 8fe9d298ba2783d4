// Common steps of the suites about apps and subscriptions.
import { strict as assert } from 'node:assert';
import type { App } from '../../src/core/domain/app.ts';
import type { EditOutput, NewSubscription, Page } from '../../src/store/port/store.ts';
import { keptStage } from './store-stage.ts';
import { newSubscription, type OpenSubject } from './subject.ts';
import type { StoreStage } from './store-stage.ts';
import type { Subscription } from '../../src/core/domain/subscription.ts';

export const migrationsDir = new URL('../../migrations/sqlite', import.meta.url);

export interface SubscriptionStage {
  on: StoreStage;
  paused: {
    readonly state: 'paused';
    readonly urls: readonly [];
    readonly secrets: undefined;
  };
  find: (app: App, id: string) => Promise<Subscription | undefined>;
  list: (
    app: App,
    page: {
      limit: number;
      after: string | undefined;
    },
    state?: 'active' | 'paused' | 'ended',
  ) => Promise<
    Page<{
      id: string;
    }>
  >;
  subscribed: (app: App, changes?: Partial<NewSubscription>) => Promise<Subscription>;
  edit: (
    one: {
      appNo: number;
      id: string;
      version: number;
    },
    changes: {
      state?: 'active' | 'paused' | 'disabled';
      urls?: {
        position: number;
        url: string;
      }[];
    },
  ) => Promise<EditOutput<'editSubscription'>>;
}

/** What suites about apps and subscriptions do on their stage. */
export function subscriptionStage(open: OpenSubject): SubscriptionStage {
  const on = keptStage(open);

  const paused = { state: 'paused', urls: [], secrets: undefined } as const;

  async function find(app: App, id: string) {
    return on.store.read('subscription', { appNo: app.no, id });
  }

  async function list(
    app: App,
    page: { limit: number; after: string | undefined },
    state?: 'active' | 'paused' | 'ended',
  ): Promise<Page<{ id: string }>> {
    return on.store.read('subscriptions', { appNo: app.no, page, state });
  }

  async function subscribed(app: App, changes: Partial<NewSubscription> = {}) {
    const subscription = newSubscription(app, changes);
    const output = await on.store.edit('subscribe', { subscription, idempotency: undefined });
    assert(output.kind === 'created');
    return output.subscription;
  }

  async function edit(
    { appNo, id, version }: { appNo: number; id: string; version: number },
    changes: {
      state?: 'active' | 'paused' | 'disabled';
      urls?: { position: number; url: string }[];
    },
  ) {
    const { state, urls = [] } = changes;
    return on.store.edit('editSubscription', {
      appNo,
      id,
      version,
      state,
      urls,
      secrets: undefined,
    });
  }
  return { on, paused, find, list, subscribed, edit };
}
