// Common steps of the suites about retention.
import { strict as assert } from 'node:assert';
import type { DeliveryState, Leased } from '../../src/core/domain/delivery.ts';
import type { Subscription } from '../../src/core/domain/subscription.ts';
import type { Delivery, Settlement } from '../../src/store/port/delivery-verbs.ts';
import type { EditInput, EditOutput, Idempotency, Store } from '../../src/store/port/store.ts';
import { callback, newSubscription, type OpenSubject } from './subject.ts';
import { settlementOf } from './settlement.ts';
import { freshStage } from './store-stage.ts';
import type { StoreStage } from './store-stage.ts';
import type { Callback } from '../../src/core/domain/subscription.ts';

export const dayMs = 24 * 60 * 60 * 1000;
export const retentionMs = 30 * dayMs;

export function nameOf({ event, n }: { event: string; n: number }): { event: string; n: number } {
  return { event, n };
}

export interface RetentionStage {
  on: StoreStage;
  retain: (limit?: number) => Promise<EditOutput<'retain'>>;
  retainAll: (limit?: number) => Promise<{
    expired: number;
    deleted: number;
  }>;
  subscribed: (callbacks?: Callback[], idempotency?: Idempotency) => Promise<Subscription>;
  edit: (one: Subscription, state: 'active' | 'paused') => Promise<Subscription>;
  unsubscribe: (one: Subscription) => Promise<void>;
  find: (one: Subscription) => Promise<Subscription | undefined>;
  publishInput: (what: string) => Omit<EditInput<'publish'>, 'audience'>;
  published: (what: string) => Promise<number | undefined>;
  publish: (one: Subscription, what?: string) => Promise<string>;
  leasedMany: (one: Subscription, room: number) => Promise<Leased[]>;
  leased: (one: Subscription) => Promise<Leased>;
  leasedClaim: () => Promise<Leased>;
  settle: (
    one: Leased,
    kind: Settlement['outcome']['kind'],
    dueMs?: number,
  ) => ReturnType<Store['settle']>;
  eventIds: () => Promise<string[]>;
  deliveries: () => Promise<readonly Delivery[]>;
  everything: (events: readonly string[]) => Promise<unknown>;
  tally: () => Promise<Partial<Record<DeliveryState, number>>>;
}

/** The steps of the retention suites: age events, end deliveries, and count the remaining rows. */
export function retentionStage(open: OpenSubject): RetentionStage {
  const on = freshStage(open);
  const { clock, newId } = on;

  async function retain(limit = 500): Promise<EditOutput<'retain'>> {
    return on.store.edit('retain', { beforeMs: clock.ms - retentionMs, limit });
  }

  /** Repeats it until there is no more to delete. */
  async function retainAll(limit = 500): Promise<{ expired: number; deleted: number }> {
    const all = { expired: 0, deleted: 0 };
    for (let step = 0; ; step += 1) {
      assert(step < 100, 'it does not end');
      const { expired, deleted, isMore } = await retain(limit);
      all.expired += expired;
      all.deleted += deleted;
      if (!isMore) return all;
    }
  }

  async function subscribed(
    callbacks = [callback(0, '*')],
    idempotency?: Idempotency,
  ): Promise<Subscription> {
    const subscription = newSubscription(on.app, { callbacks });
    const output = await on.store.edit('subscribe', { subscription, idempotency });
    assert(output.kind === 'created');
    return output.subscription;
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

  async function unsubscribe({ id }: Subscription): Promise<void> {
    await on.store.edit('unsubscribe', { appNo: on.app.no, id });
    // A cluster needs a second sweep to be sure that no transaction still adds to the lane.
    for (let looks = 0; looks < 2; looks += 1) await on.store.edit('sweep', { limit: 99 });
  }

  async function find({ id }: Subscription): Promise<Subscription | undefined> {
    return on.store.read('subscription', { appNo: on.app.no, id });
  }

  function publishInput(what: string): Omit<EditInput<'publish'>, 'audience'> {
    const events = [{ id: newId(), name: what, payload: Buffer.from('{"message":"hello"}') }];
    return { appNo: on.app.no, contract: 'Ringback', events, idempotency: undefined };
  }

  /** Publishes to all; returns the number of deliveries. */
  async function published(what: string): Promise<number | undefined> {
    const input = { ...publishInput(what), audience: { kind: 'everyone' } } as const;
    const output = await on.store.edit('publish', input);
    assert(output.kind === 'accepted');
    return output.events[0]?.deliveries;
  }

  /** Publishes to one subscription, where it stays pending; returns the event id. */
  async function publish({ id }: Subscription, what = 'a'): Promise<string> {
    const audience = { kind: 'subscription', id } as const;
    const output = await on.store.edit('publish', { ...publishInput(what), audience });
    assert(output.kind === 'accepted');
    return output.events[0]?.id ?? '';
  }

  /** Publishes to one subscription; returns its deliveries in flight. */
  async function leasedMany({ id }: Subscription, room: number): Promise<Leased[]> {
    const audience = { kind: 'subscription', id } as const;
    const { fresh } = await on.dispatcher.publish({ room }, { ...publishInput('a'), audience });
    assert.equal(fresh.length, room);
    return fresh;
  }

  async function leased(one: Subscription): Promise<Leased> {
    const [delivery] = await leasedMany(one, 1);
    assert(delivery);
    return delivery;
  }

  async function leasedClaim(): Promise<Leased> {
    const [delivery] = (await on.dispatcher.claim({ room: 1 })).claimed;
    assert(delivery);
    return delivery;
  }

  async function settle(
    one: Leased,
    kind: Settlement['outcome']['kind'],
    dueMs = clock.ms,
  ): ReturnType<Store['settle']> {
    return on.store.settle(settlementOf(one, kind, dueMs, clock.ms));
  }

  async function eventIds(): Promise<string[]> {
    const page = { limit: 500, after: undefined };
    const { items } = await on.store.read('events', { appNo: on.app.no, page, name: undefined });
    return items.map(({ id }) => id);
  }

  async function deliveries(): Promise<readonly Delivery[]> {
    const filter = {
      state: undefined,
      name: undefined,
      event: undefined,
      subscription: undefined,
    };
    const page = { limit: 500, after: undefined };
    return (await on.store.read('deliveries', { appNo: on.app.no, page, filter })).items;
  }

  async function everything(events: readonly string[]): Promise<unknown> {
    const attempts = events.map(async (event) =>
      on.store.read('attempts', { appNo: on.app.no, event, n: 0 }),
    );
    return structuredClone([await eventIds(), await deliveries(), await Promise.all(attempts)]);
  }

  /** Counts by state, without zeros. */
  async function tally(): Promise<Partial<Record<DeliveryState, number>>> {
    const counts = Object.entries(await on.store.read('tally', {}));
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }
  return {
    on,
    retain,
    retainAll,
    subscribed,
    edit,
    unsubscribe,
    find,
    publishInput,
    published,
    publish,
    leasedMany,
    leased,
    leasedClaim,
    settle,
    eventIds,
    deliveries,
    everything,
    tally,
  };
}
