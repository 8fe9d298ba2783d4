// Deadlocks: lanes and keys must always be locked in the same order, whatever their order in the batch. On a real
// PostgreSQL, step by step and at random.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createStalledFanOuts } from '../../src/store/rules/fan-outs.ts';
import type { EditCall } from '../../src/store/port/transport-protocol.ts';
import type { Settlement } from '../../src/store/port/delivery-verbs.ts';
import { createPendingStatistics } from '../../src/store/statistics/pending-statistics.ts';
import { fanOut } from '../../src/store/postgres/deliver/fan-out.ts';
import { settleAll } from '../../src/store/postgres/deliver/settle.ts';
import type { Tx } from '../../src/store/postgres/connection/tx.ts';
import { createSlices } from '../../src/store/postgres/publish/slices.ts';
import { createSweep } from '../../src/store/postgres/upkeep/sweep.ts';
import { writeBatch } from '../../src/store/postgres/batch/write.ts';
import { insertLeasesFor } from '../../src/store/rules/offer-slots.ts';
import type { EditInput, Store } from '../../src/store/port/store.ts';
import { callback, digest, newApp, newSubscription } from './subject.ts';
import { settlementOf } from './settlement.ts';
import { newId } from './open-memory.ts';
import type { Stage } from './postgres-stage.ts';
import { claimOn, insist, openStage, publishOn, world } from './postgres-stage.ts';
import { startTestNode } from './test-node.ts';

/** A safety timeout, far longer than any passing test. */
const net = { timeout: 300_000 };

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => stage[Symbol.asyncDispose]());

describe('nodes that use the same lanes', net, () => {
  it('do not deadlock', async (t) => {
    const subscriptions: { id: string }[] = [];
    for (const _ of upTo(5)) {
      subscriptions.push(await stage.subscribe('all', 24));
      await stage.subscribeOrdered('all');
    }
    // Stop the nodes in any case, because running ones would keep the process alive.
    await using running = new AsyncDisposableStack();
    const nodes = await Promise.all(
      upTo(3).map(async () =>
        running.use(await startTestNode(await stage.node(), { outcome: oftenRetry, pollMs: 5 })),
      ),
    );
    let answered = 0;
    for (const round of upTo(20)) {
      const asked = nodes.flatMap(({ store }) => [
        ...shuffled(upTo(64)).map(async (i) => {
          const key = digest(`${round} ${i}`);
          const idempotency = { key, print: key };
          const input = stage.publishing(i < 2 ? 'all' : 'none', { idempotency });
          return insist(async () => store.edit('publish', input));
        }),
        insist(async () => store.edit('rescue', { silentMs: 60_000 })),
        endEachFifth(store, subscriptions, round),
        insist(async () => store.edit('publish', stage.publishing('all'))),
      ]);
      answered += (await Promise.all<unknown>(asked)).length; // Throws if a call failed.
    }
    const refused = nodes.map(({ counts }) => counts.refused);
    const settled = nodes.map(({ counts }) => counts.settled);
    await running.disposeAsync();
    for (const { store } of nodes) await store.close(); // Closed connections flush their statistics.
    const [row] = await stage.database.query(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    t.diagnostic(JSON.stringify({ answered, settled, refused, ...row }));
    assert.deepEqual(row, { deadlocks: 0 });
  });
});

describe('nodes that subscribe for one app at the same time', net, () => {
  it('enforce its quota exactly', async () => {
    const app = await newApp(stage.store);
    const nodes = await Promise.all(upTo(3).map(async () => stage.node()));
    const outputs = await Promise.all(
      nodes.flatMap((store) =>
        upTo(8).map(async () =>
          store.edit('subscribe', {
            subscription: newSubscription(app, { callbacks: [callback(0, 'counted')] }),
            idempotency: undefined,
            subscriptionsMax: 10,
          }),
        ),
      ),
    );
    assert.equal(outputs.filter(({ kind }) => kind === 'created').length, 10);
    assert.equal(outputs.filter(({ kind }) => kind === 'full').length, 14);
    const seen = await stage.store.read('app', { id: app.id });
    assert.equal(seen?.subscriptions, 10);
  });
});

describe('nodes that publish and subscribe at the same time', net, () => {
  it('do not deadlock', async () => {
    for (const i of upTo(8)) await stage.subscribe(`e${i}`);
    const nodes = await Promise.all(upTo(3).map(async () => stage.node()));
    const other = (): EditInput<'subscribe'> => {
      const app = { no: stage.appNo };
      const subscription = newSubscription(app, { callbacks: [callback(0, 'other')] });
      return { subscription, idempotency: undefined };
    };
    for (const round of upTo(4)) {
      // Lanes sleep, as after an idle minute, so that publishes lock them.
      await stage.database.query('update ringback.lane set ready_ms = 9007199254740991');
      await Promise.all<unknown>(
        nodes.flatMap((store, k) =>
          upTo(24).map(async (i) =>
            i % 4 === 3
              ? store.edit('subscribe', other())
              : store.edit('publish', stage.publishing(`e${(i * 7 + k * 5 + round) % 8}`)),
          ),
        ),
      );
    }
    for (const store of nodes) await store.close(); // Closed connections flush their statistics.
    const [row] = await stage.database.query(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    assert.deepEqual(row, { deadlocks: 0 });
  });
});

describe('transactions that need the same lanes in different orders', net, () => {
  it('lock everything that several edits need before the first edit', async () => {
    const one = await stage.subscribe('l0');
    const two = await stage.subscribe('l1');
    const nowMs = world.nowMs();
    const { appNo } = stage;
    const edits = [two, one].map(
      ({ id }) => ({ verb: 'unsubscribe', input: { appNo, id } }) as const,
    );
    const between = await stage.begin();
    await between.tx.query('select no from lane where no = $1 for update', [one.lane]);
    const publishing = stage.once(async (tx) =>
      publishOn(tx, nowMs, [stage.publishing('l0'), stage.publishing('l1')]),
    );
    await stage.untilSomebodyWaits(1);
    const ending = stage.once(async (tx) => write(tx, edits));
    await stage.untilSomebodyWaits(2);
    await between.commit();
    await assert.doesNotReject(Promise.all([publishing, ending]));
  });

  it('lock an ordered lane in the same order as the others', async () => {
    const { lane } = await stage.subscribe('all');
    await stage.subscribeOrdered('all');
    const nowMs = world.nowMs();
    await stage.once(async (tx) => publishOn(tx, nowMs, [stage.publishing('all')]));
    await stage.once(async (tx) => claimOn(tx, { nowMs }));
    // The lane sleeps, so that a publish wakes it.
    await stage.database.query('update ringback.lane set ready_ms = 9007199254740991');
    const between = await stage.begin();
    await between.tx.query('select no from lane where no = $1 for update', [lane]);
    const settling = stage.once(async (tx) => settleAll(tx, await retries(['all']), nowMs));
    await stage.untilSomebodyWaits(1);
    const publishing = stage.once(async (tx) => publishOn(tx, nowMs, [stage.publishing('all')]));
    await stage.untilSomebodyWaits(2);
    await between.commit();
    await assert.doesNotReject(Promise.all([settling, publishing]));
  });

  it('wait for each other in only one direction', async () => {
    const events = ['l0', 'l1', 'l2'];
    const lanes: number[] = [];
    for (const event of events) lanes.push((await stage.subscribe(event)).lane);
    const nowMs = world.nowMs();
    const ways: [string, (tx: Tx, order: readonly string[]) => Promise<unknown>][] = [
      [
        'publish',
        async (tx, order) =>
          publishOn(
            tx,
            nowMs,
            order.map((e) => stage.publishing(e)),
          ),
      ],
      ['settle', async (tx, order) => settleAll(tx, await retries(order), nowMs)],
    ];
    for (const [name, act] of ways) {
      await stage.once(async (tx) =>
        publishOn(
          tx,
          nowMs,
          events.map((e) => stage.publishing(e)),
        ),
      );
      await stage.once(async (tx) => claimOn(tx, { nowMs, room: 3 }));
      // Both proceed to the lane in the middle.
      const between = await stage.begin();
      await between.tx.query('select no from lane where no = $1 for update', [lanes[1] ?? 0]);
      const one = stage.once(async (tx) => act(tx, events));
      await stage.untilSomebodyWaits(1);
      const other = stage.once(async (tx) => act(tx, events.toReversed()));
      await stage.untilSomebodyWaits(2);
      await between.commit();
      await assert.doesNotReject(Promise.all([one, other]), name);
    }
  });

  for (const verb of ['advanceReplay', 'retryDelivery'] as const) {
    it(`lock a fan-out in progress before its lanes: ${verb}`, async () => {
      const { lane } = await stage.subscribe('all', 2);
      const { appNo } = stage;
      const event = await endedWhileFanningOut();
      const edit = verb === 'retryDelivery' ? retrying(event) : await replaying(event);
      // The fan-out proceeds to its first lane; the other edit needs its second.
      const between = await stage.begin();
      await between.tx.query('select no from lane where no = $1 for update', [lane]);
      const nowMs = world.nowMs();
      const insertLeases = insertLeasesFor(undefined);
      const step = {
        insertLeases,
        nowMs,
        stalled: createStalledFanOuts(),
        mode: 'together',
      } as const;
      const fanningOut = stage.once(async (tx) => fanOut(tx, { ...step, facts: [] }));
      await stage.untilSomebodyWaits(1);
      const sending = stage.once(async (tx) => write(tx, [edit]));
      await stage.untilSomebodyWaits(2);
      await between.commit();
      await assert.doesNotReject(Promise.all([fanningOut, sending]));
      const made = await stage.database.query('select n from ringback.delivery_live order by n');
      assert.deepEqual(
        made.map(({ n }) => n),
        [2, 3, 4],
      );
      const store = await stage.node();
      assert.equal((await store.read('event', { appNo, id: event }))?.deliveries, 5);
    });
  }

  /** An event with two delivered deliveries, whose fan-out has two more to create. */
  async function endedWhileFanningOut(): Promise<string> {
    const publishing = stage.publishing('all');
    await stage.once(async (tx) => publishOn(tx, world.nowMs(), [publishing]));
    for (const sql of [
      `insert into ringback.delivery_done
         (event, n, app, lane, callback, state, attempts, slice, ended_ms)
       select event, n, app, lane, callback, 1, 1, slice, 1 from ringback.delivery_live`,
      'delete from ringback.delivery_live',
      'update ringback.event set deliveries = null',
      'update ringback.lane set ready_ms = 9007199254740991',
      `insert into ringback.fanout (event, app, contract, version, names, made)
       select event.id, app, 'Ringback', app.version, '["all"]', 2
       from ringback.event join ringback.app on app.no = event.app`,
    ]) {
      await stage.database.query(sql);
    }
    return publishing.events[0]?.id ?? '';
  }

  function retrying(event: string): EditCall {
    return { verb: 'retryDelivery', input: { event, n: 1, appNo: stage.appNo } };
  }

  async function replaying(event: string): Promise<EditCall> {
    const none = { event: undefined, subscription: undefined, status: undefined };
    const owner = { subject: undefined, customer: undefined };
    const rest = { ...owner, error: undefined, fromMs: undefined, untilMs: undefined };
    const filter = { state: 'delivered', ...none, ...rest } as const;
    const replay = { id: newId(), appNo: stage.appNo, filter, ratePerSecond: 9 };
    const input = { replay, runningMax: 9, idempotency: undefined };
    assert.equal((await stage.store.edit('createReplay', input)).kind, 'created');
    const [from, to] = [-1, 1].map((n) => ({ event, n }));
    assert(from && to);
    const step = { id: replay.id, from, to, names: [to], isLast: true };
    return { verb: 'advanceReplay', input: step };
  }

  /** Retry outcomes for the running deliveries of these events. */
  async function retries(events: readonly string[]): Promise<Settlement[]> {
    const rows = await stage.database.query(
      `select event.id, n, event.name, lease::float8 from ringback.event
       join ringback.delivery_live on event = id where lease is not null`,
    );
    return events.flatMap((name) =>
      rows
        .filter((row) => row['name'] === name)
        .map(({ id, n, lease }) => ({ event: String(id), n: Number(n), lease: Number(lease) }))
        .map((leased) => settlementOf(leased, 'retry', world.nowMs())),
    );
  }
});

async function write(tx: Tx, edits: readonly EditCall[]): Promise<unknown> {
  const memory = {
    slices: createSlices(),
    sweep: createSweep(),
    pending: createPendingStatistics(),
  };
  const context = {
    nowMs: world.nowMs(),
    givenMs: null,
    writer: 1,
    listenerCache: undefined,
    ...memory,
  };
  const input = { edits, offer: undefined, stalled: createStalledFanOuts(), world, context };
  return (await writeBatch(tx, input, 'together')).whole;
}

async function endEachFifth(
  store: Store,
  subscriptions: readonly { id: string }[],
  round: number,
): Promise<unknown> {
  const id = subscriptions[round / 5]?.id;
  if (id === undefined) return undefined;
  return insist(async () => store.edit('unsubscribe', { appNo: stage.appNo, id }));
}

function oftenRetry(leased: Parameters<typeof settlementOf>[0]): Settlement {
  const kind = random(3) === 0 ? 'retry' : 'delivered';
  return settlementOf(leased, kind, world.nowMs());
}

function random(below: number): number {
  return (world.randomBytes(1)[0] ?? 0) % below;
}

function shuffled<T>(items: readonly T[]): T[] {
  const keyed = items.map((item) => ({ item, key: random(256) }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
