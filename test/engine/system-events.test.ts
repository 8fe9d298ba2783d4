// System events on a clock that the test moves, over real SQL; and two publishers of them over one PostgreSQL.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { App } from '../../src/core/domain/app.ts';
import { idMaker } from '../../src/core/base/id.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { realWorld } from '../../src/core/base/world.ts';
import { createApp } from '../../src/engine/access/apps.ts';
import { noChanges } from '../../src/engine/live/changes.ts';
import { SystemEvents } from '../../src/engine/upkeep/system-events.ts';
import type { Accepted } from '../../src/store/port/delivery-verbs.ts';
import { openCluster } from '../../src/store/open/open.ts';
import { memoryStore } from '../store/migrated-memory.ts';
import { StoreUnavailable, type Store } from '../../src/store/port/store.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import { callback, newSubscription } from '../store/subject.ts';
import { settlementOf } from '../store/settlement.ts';
import { attachDispatcher } from '../store/test-dispatcher.ts';
import { virtualWorld, type VirtualWorld } from './virtual-world.ts';

const dead = 'ringback.delivery.dead';

interface Stage extends AsyncDisposable {
  world: VirtualWorld;
  app: App;
  store: Store;
  /** How a publish of a notice fails: not at all, or before or after it is written. */
  faults: { publish: 'none' | 'before' | 'after' };
  errors: unknown[];
  told: Accepted[];
  /** Makes this many deliveries die, with a notice each. */
  die: (count: number) => Promise<void>;
  start: (changes?: Partial<Store>) => SystemEvents;
}

async function stage(): Promise<Stage> {
  const world = virtualWorld();
  const onFatal = (error: Error): never => assert.fail(error);
  const inner = memoryStore({ world, onFatal });
  const newId = idMaker(world);
  const { app } = await createApp({ world, store: inner, newId }, 'app');
  const dispatcher = attachDispatcher(inner);
  for (const pattern of ['a', dead]) {
    const subscription = newSubscription(app, { callbacks: [callback(0, pattern)] });
    await inner.edit('subscribe', { subscription, idempotency: undefined });
  }
  const faults: Stage['faults'] = { publish: 'none' };
  const store: Store = {
    ...inner,
    edit: async (verb, input) => {
      const isOurs = 'notice' in input && faults.publish !== 'none';
      if (isOurs && faults.publish === 'before') throw new StoreUnavailable('away');
      const output = await inner.edit(verb, input);
      if (isOurs) throw new StoreUnavailable('the answer was lost');
      return output;
    },
  };
  const errors: unknown[] = [];
  const told: Accepted[] = [];
  const notifiers: SystemEvents[] = [];
  return {
    world,
    app,
    store,
    faults,
    errors,
    told,
    die: async (count) => {
      const payload = Buffer.from('{}');
      const events = Array.from({ length: count }, () => ({ id: newId(), name: 'a', payload }));
      const audience = { kind: 'everyone' } as const;
      const input = { appNo: app.no, contract: 'Ringback', events, audience };
      const room = { room: count, laneRoom: count };
      const { fresh } = await dispatcher.publish(room, { ...input, idempotency: undefined });
      assert.equal(fresh.length, count);
      await Promise.all(fresh.map(async (one) => inner.settle(settlementOf(one, 'dead', 0))));
    },
    start: (changes = {}) => {
      const systemEvents = new SystemEvents({
        world,
        store: { ...store, ...changes },
        newId,
        changes: { published: (_app, events) => void told.push(...events) },
        onError: (error) => errors.push(error),
      });
      notifiers.push(systemEvents);
      return systemEvents;
    },
    [Symbol.asyncDispose]: async () => {
      for (const systemEvents of notifiers) await systemEvents[Symbol.asyncDispose]();
      await inner.close();
    },
  };
}

/** The deliveries that published notices are about. */
async function deliveriesTold(store: Store, { no: appNo }: App): Promise<string[]> {
  const all: string[] = [];
  let after: string | undefined;
  do {
    const page = { limit: 100, after };
    const { items, next } = await store.read('events', { appNo, page, name: dead });
    for (const { payload } of items) {
      const told = JSON.parse(Buffer.from(payload).toString()) as { deliveryId: string };
      all.push(told.deliveryId);
    }
    after = next;
  } while (after !== undefined);
  return all;
}

async function waiting(store: Store): Promise<number> {
  const limit = limits.noticesAtOnce;
  return (await store.read('notices', { writtenByMs: Number.MAX_SAFE_INTEGER, limit })).length;
}

describe('SystemEvents', () => {
  it('publishes notices from before its start, and new ones at once when woken', async () => {
    await using on = await stage();
    await on.die(2);
    const systemEvents = on.start();
    await on.world.settle();
    assert.equal((await deliveriesTold(on.store, on.app)).length, 2);
    assert.deepEqual(
      on.told.map(({ deliveries }) => deliveries),
      [1, 1],
      'one subscription matches by name',
    );
    await on.die(1);
    systemEvents.wake();
    await on.world.settle();
    assert.equal((await deliveriesTold(on.store, on.app)).length, 3);
    assert.equal(await waiting(on.store), 0);
    assert.deepEqual(on.errors, []);
  });

  it('publishes more than one round may take in several rounds', async () => {
    await using on = await stage();
    const count = limits.noticesAtOnce + 10;
    await on.die(count);
    on.start();
    await on.world.pass(10);
    const told = await deliveriesTold(on.store, on.app);
    assert.deepEqual([told.length, new Set(told).size], [count, count]);
  });

  it('neither loses nor duplicates notices when the store fails, before or after it has written', async () => {
    await using on = await stage();
    await on.die(3);
    on.faults.publish = 'before';
    const systemEvents = on.start();
    await on.world.settle();
    assert.equal((await deliveriesTold(on.store, on.app)).length, 0);
    assert(on.errors.length > 0);
    on.faults.publish = 'after';
    await on.world.pass(limits.noticeAgainMs);
    assert.equal((await deliveriesTold(on.store, on.app)).length, 3);
    on.faults.publish = 'none';
    systemEvents.wake();
    await on.world.pass(60_000);
    const told = await deliveriesTold(on.store, on.app);
    assert.deepEqual([told.length, new Set(told).size], [3, 3]);
  });

  it('leaves what it could not publish to its successor', async () => {
    await using on = await stage();
    await on.die(2);
    on.faults.publish = 'before';
    await using first = on.start();
    await on.world.settle();
    await first[Symbol.asyncDispose]();
    on.faults.publish = 'none';
    on.start();
    await on.world.settle();
    assert.equal((await deliveriesTold(on.store, on.app)).length, 2);
  });

  it('gives the node that wrote a notice some time to publish it, if there are others', async () => {
    await using on = await stage();
    on.start({ isShared: true });
    await on.world.settle();
    await on.die(1);
    await on.world.pass(limits.noticePatienceMs - 1);
    assert.equal(await waiting(on.store), 1, 'it was written by another node');
    await on.world.pass(limits.noticePollMs + 1);
    assert.equal(await waiting(on.store), 0);
  });

  it('publishes each notice once with two nodes on PostgreSQL', async () => {
    await using database = await freshStoreDatabase();
    const world = realWorld();
    await using cleanup = new AsyncDisposableStack();
    const open = async (): Promise<Store> => {
      const opened = await openCluster({ url: database.url, world });
      cleanup.defer(async () => opened.close());
      return opened;
    };
    const stores = [await open(), await open()];
    const [store] = stores;
    assert(store);
    const newId = idMaker(world);
    const { app } = await createApp({ world, store, newId }, 'app');
    const subscription = newSubscription(app, { callbacks: [callback(0, 'ringback.*')] });
    await store.edit('subscribe', { subscription, idempotency: undefined });
    const count = 2 * limits.noticesAtOnce + 5;
    await database.query(`
      insert into ringback.notice (app, name, payload, created_ms)
      select ${app.no}, '${dead}', json_build_object('deliveryId', 'dlv_' || i)::text, 0
      from generate_series(1, ${count}) as i`);
    const onError = (error: unknown): never => assert.fail(String(error));
    // Both have read the same notices before either publishes any.
    const met = Promise.withResolvers<void>();
    let readers = 0;
    const meeting = (one: Store): Store => ({
      ...one,
      read: async (verb, input) => {
        const output = await one.read(verb, input);
        readers += 1;
        if (readers === stores.length) met.resolve();
        await met.promise;
        return output;
      },
    });
    const notifiers = stores
      .map(meeting)
      .map((one) => new SystemEvents({ world, store: one, newId, changes: noChanges, onError }));
    for (let left = 1; left > 0;) left = await waiting(store);
    for (const systemEvents of notifiers) await systemEvents[Symbol.asyncDispose]();
    const told = await deliveriesTold(store, app);
    assert.deepEqual([told.length, new Set(told).size], [count, count]);
    const { due } = await store.read('tally', {});
    assert.equal(due, count, 'each has its delivery');
  });
});
