// Costs of edits on PostgreSQL: publishes do not wait for them, an edit withdrawn by its caller does not happen, and a
// subscribe or an unsubscribe takes one pipeline and a commit, whatever it does.
import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import type { World } from '../../src/core/base/world.ts';
import { Deadlines } from '../../src/egress/http/deadlines.ts';
import { withStoreTimeout, StoreTimedOut } from '../../src/engine/store-timeout.ts';
import type { EditOutput, NewSubscription, Store } from '../../src/store/port/store.ts';
import { startProxy } from '../postgres/proxy.ts';
import { openStage, world, type Stage, type Step } from './postgres-stage.ts';
import { countTrips, type Trips } from './round-trips.ts';
import { callback, digest, newSubscription } from './subject.ts';

/** A safety timeout, far longer than any passing test. */
const net = { timeout: 300_000 };

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(async () => stage[Symbol.asyncDispose]());

function fresh(...events: string[]): NewSubscription {
  const callbacks = events.map((event, i) => callback(i, event));
  return newSubscription({ no: stage.appNo }, { callbacks });
}

async function subscribe(
  store: Pick<Store, 'edit'>,
  subscription: NewSubscription,
): Promise<EditOutput<'subscribe'>> {
  return store.edit('subscribe', { subscription, idempotency: undefined });
}

async function isThere({ id }: NewSubscription): Promise<boolean> {
  const { appNo } = stage;
  return (await stage.store.read('subscription', { appNo, id })) !== undefined;
}

/** Starts a transaction that locks the row of the app. */
async function holdApp(): Promise<Step> {
  const step = await stage.begin();
  await step.tx.query('select from app where no = $1 for update', [stage.appNo]);
  return step;
}

describe('an edit that waits for a lock', net, () => {
  it('does not block publishes, and takes effect for those after its response', async () => {
    await stage.subscribe('busy');
    const holding = await holdApp();
    let isAnswered = false;
    const edit = subscribe(stage.store, fresh('busy')).finally(() => (isAnswered = true));
    await stage.untilSomebodyWaits(1);
    const beside = await stage.store.edit('publish', stage.publishing('busy'));
    assert.equal(isAnswered, false, 'the publish was answered first');
    assert.ok(beside.kind === 'accepted' && beside.events[0]?.deliveries === 1);
    await holding.commit();
    assert.equal((await edit).kind, 'created');
    const behind = await stage.store.edit('publish', stage.publishing('busy'));
    assert.ok(behind.kind === 'accepted' && behind.events[0]?.deliveries === 2);
  });

  it('still happens when it is withdrawn, but one queued behind it does not', async () => {
    const patience = Promise.withResolvers<void>();
    const sleepy: Pick<World, 'sleep' | 'monotonicMs'> = {
      sleep: async () => {
        await patience.promise;
        nowMs.ms = 1;
      },
      monotonicMs: () => nowMs.ms,
    };
    const nowMs = { ms: 0 };
    const deadlines = new Deadlines(sleepy);
    const store = withStoreTimeout(stage.store, { deadlines, answerMs: 1 });
    const holding = await holdApp();
    const [first, second] = [fresh('first'), fresh('second')];
    const asked = [subscribe(store, first)];
    await stage.untilSomebodyWaits(1);
    asked.push(subscribe(store, second));
    patience.resolve();
    const given = await Promise.allSettled(asked);
    const inDoubt = given.map((one) => {
      assert(one.status === 'rejected' && one.reason instanceof StoreTimedOut);
      return one.reason.mayHappen;
    });
    assert.deepEqual(inDoubt, [true, false]);
    await holding.commit();
    const third = fresh('third');
    assert.equal((await subscribe(stage.store, third)).kind, 'created');
    const found = await Promise.all([first, second, third].map(isThere));
    assert.deepEqual(found, [true, false, true]);
    deadlines.close();
  });
});

describe('a batch of edits', net, () => {
  it('ends when its time is over, and the rest moves to the next one', async () => {
    let ms = 0;
    /** Each reading of the clock takes longer than a batch may. */
    const slow = { ...world, monotonicMs: () => (ms += 1_000) };
    const store = await stage.node({ world: slow });
    const { appNo } = stage;
    const made = await Promise.all(
      Array.from({ length: 6 }, async () => subscribe(store, fresh('paused'))),
    );
    const edits = made.map(async (one) => {
      assert(one.kind === 'created');
      const { id, version } = one.subscription;
      const change = { state: 'paused', urls: [], secrets: undefined } as const;
      return store.edit('editSubscription', { appNo, id, version, ...change });
    });
    for (const { kind } of await Promise.all(edits)) assert.equal(kind, 'edited');
    const rows = await stage.database.query(
      `select distinct xmin from ringback.subscription where state = 'paused'`,
    );
    assert.equal(rows.length, edits.length, 'each in a transaction of its own');
  });
});

describe('a round trip', net, () => {
  /** Runs a node through a counting proxy, on a connection with prepared statements. */
  async function counted(body: (store: Store, trips: Trips) => Promise<void>): Promise<void> {
    await using proxy = await startProxy(stage.database.url);
    const trips = countTrips(proxy);
    const store = await stage.node({ url: proxy.url });
    await unsubscribe(store, [await made(store, fresh('warm'))]);
    trips.reset();
    await body(store, trips);
    await store.close();
  }

  async function made(store: Store, subscription: NewSubscription): Promise<string> {
    const output = await subscribe(store, subscription);
    assert(output.kind === 'created');
    return output.subscription.id;
  }

  async function unsubscribe(store: Store, ids: readonly string[]): Promise<void> {
    const { appNo } = stage;
    const ended = ids.map(async (id) => store.edit('unsubscribe', { appNo, id }));
    for (const { kind } of await Promise.all(ended)) assert.equal(kind, 'ended');
  }

  it('plus one for the commit is all that any number of subscribes takes', async () => {
    await counted(async (store, trips) => {
      await made(store, fresh('one'));
      const ofOne = trips.of('insert into subscription');
      assert.equal(ofOne.trips, 2);
      trips.reset();
      const many = Array.from({ length: 20 }, async () => made(store, fresh('a', 'b', 'c', 'd')));
      await Promise.all(many);
      assert.deepEqual(trips.of('insert into subscription'), ofOne);
      trips.reset();
      const idempotency = { key: digest('a key of mine'), print: digest('a request') };
      const input = { subscription: fresh('keyed'), idempotency };
      assert.equal((await store.edit('subscribe', input)).kind, 'created');
      assert.equal(trips.of('insert into subscription').trips, 2);
      trips.reset();
      const again = { ...input, subscription: fresh('keyed') };
      assert.equal((await store.edit('subscribe', again)).kind, 'repeated');
      assert.equal(trips.of('insert into subscription').trips, 2);
    });
  });

  it('is not added by the audit trail: all entries of a batch travel with the commit', async () => {
    await counted(async (store, trips) => {
      const recorded = async (): Promise<void> => {
        const subscription = fresh('a');
        const by = { kind: 'cli' } as const;
        const object = `sub_${subscription.id}`;
        const audit = { appNo: stage.appNo, by, action: 'subscription.created', object } as const;
        const input = { subscription, idempotency: undefined, audit };
        assert.equal((await store.edit('subscribe', input)).kind, 'created');
      };
      await made(store, fresh('one'));
      const { trips: plain, statements } = trips.of('insert into subscription');
      trips.reset();
      await Promise.all(Array.from({ length: 20 }, recorded));
      assert.deepEqual(trips.of('insert into subscription'), {
        trips: plain,
        statements: statements + 1,
      });
    });
  });

  it('plus one for the commit is all that unsubscribes take, whatever is pending', async () => {
    await counted(async (store, trips) => {
      const ids = await Promise.all(
        Array.from({ length: 20 }, async () => made(store, fresh('x', 'y', 'z'))),
      );
      const [first = '', ...others] = ids;
      trips.reset();
      await unsubscribe(store, [first]);
      const ofOne = trips.of("set state = 'ended'");
      assert.equal(ofOne.trips, 2);
      for (let i = 0; i < 50; i += 1) await store.edit('publish', stage.publishing('x'));
      trips.reset();
      await unsubscribe(store, others);
      assert.deepEqual(trips.of("set state = 'ended'"), ofOne);
    });
  });
});
