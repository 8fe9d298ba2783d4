// The lost wake-up, step by step on a real PostgreSQL: a claim cannot see an uncommitted delivery, but it must be found
// later. Each step sets its own time.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { never } from '../../src/core/domain/lane.ts';
import { rescue } from '../../src/store/postgres/cluster/nodes.ts';
import type { Tx } from '../../src/store/postgres/connection/tx.ts';
import { settleAll } from '../../src/store/postgres/deliver/settle.ts';
import { makeDeliveriesSql } from '../../src/store/postgres/publish/make-deliveries.ts';
import { createSweep } from '../../src/store/postgres/upkeep/sweep.ts';
import { retryDelivery } from '../../src/store/verbs/deliveries/retry-delivery.ts';
import { unsubscribe } from '../../src/store/verbs/subscriptions/end-subscription.ts';
import { keepApart } from '../postgres/shared-server.ts';
import { claimOn, openStage, publishOn, type Stage, type Step } from './postgres-stage.ts';
import { settlementOf } from './settlement.ts';

const sweep = createSweep();

/** A safety timeout, far longer than any passing test. */
const net = { timeout: 300_000 };
const startMs = 1_700_000_000_000;

keepApart();

let stage: Stage;
let lane: { id: string; lane: number };
beforeEach(async () => {
  stage = await openStage();
  lane = await stage.subscribe('a');
});
afterEach(async () => stage[Symbol.asyncDispose]());

describe('a publish that commits late', net, () => {
  it('is found by a claim after its commit, however many came before', async () => {
    await readyLane();
    const publish = await published(startMs);
    // The publish found the lane ready, so it did not write to it.
    assert.deepEqual(await look(startMs), { took: 1, isClosed: false });
    for (const nowMs of [50, 100, 200, 400, 800]) {
      assert.deepEqual(await look(startMs + nowMs), { took: 0, isClosed: false });
    }
    await publish.commit();
    assert.deepEqual(await look(startMs + 2_000), { took: 1, isClosed: false });
  });

  it('is found although its transaction is newer than that of the first claim', async () => {
    await readyLane();
    const first = await stage.begin();
    const publish = await published(startMs);
    await claimOn(first.tx, { nowMs: startMs });
    await first.commit();
    for (const nowMs of [50, 100, 200, 400]) {
      assert.deepEqual(await look(startMs + nowMs), { took: 0, isClosed: false });
    }
    await publish.commit();
    assert.deepEqual(await look(startMs + 1_000), { took: 1, isClosed: false });
  });

  it('is found although it came after the quiet mark, when the lane was ready again', async () => {
    await readyLane();
    for (const nowMs of [0, 50]) await look(startMs + nowMs);
    const publish = await published(startMs + 200);
    assert.deepEqual(await look(startMs + 200), { took: 0, isClosed: false });
    await publish.commit();
    assert.deepEqual(await look(startMs + 300), { took: 1, isClosed: false });
  });

  it('is found although its transaction is newer than that of the claim that would set the mark', async () => {
    await readyLane();
    // This claim has the oldest transaction id, but reads last, because it writes outcomes first.
    const slow = await stage.begin();
    const publish = await published(startMs);
    await look(startMs);
    assert.equal((await claimOn(slow.tx, { nowMs: startMs + 50 })).deliveries.length, 0);
    await slow.commit();
    for (const nowMs of [150, 300, 600, 1_200]) {
      assert.deepEqual(await look(startMs + nowMs), { took: 0, isClosed: false });
    }
    await publish.commit();
    assert.deepEqual(await look(startMs + 3_000), { took: 1, isClosed: false });
  });

  for (const looks of [1, 2, 3]) {
    it(`is found when it wakes the lane after ${looks} of the claims`, async () => {
      await readyLane();
      const publish = await stage.begin();
      const { held, reached, release } = holding(publish.tx, makeDeliveriesSql.wake);
      const publishing = publishOn(held, startMs, [stage.publishing('a')]);
      await reached;
      let nowMs = startMs;
      for (let i = 0; i < looks; i += 1, nowMs = startMs + 50 * 2 ** i) await look(nowMs);
      release();
      await publishing;
      // The publish has locked the lane, so claims skip it.
      assert.deepEqual(await look(nowMs), { took: 0, isClosed: false });
      await publish.commit();
      assert.deepEqual(await look(nowMs), { took: 1, isClosed: false });
    });
  }

  it('that is rolled back leaves a lane that closes', async () => {
    await readyLane();
    const publish = await published(startMs);
    for (const nowMs of [0, 50, 100, 200]) await look(startMs + nowMs);
    await publish.rollback();
    assert.deepEqual(await look(startMs + 400), { took: 0, isClosed: false });
    assert.deepEqual(await look(startMs + 800), { took: 0, isClosed: true });
  });
});

describe('an idle lane', net, () => {
  it('closes at the third claim that finds nothing', async () => {
    await readyLane();
    assert.deepEqual(await look(startMs), { took: 1, isClosed: false });
    assert.deepEqual(await look(startMs + 50), { took: 0, isClosed: false });
    assert.deepEqual(await look(startMs + 100), { took: 0, isClosed: true });
  });

  it('stays open for a delivery that returns while it is being closed', async () => {
    const ways: [string, (tx: Tx, event: string) => Promise<unknown>][] = [
      ['a retry', async (tx, event) => settleBack(tx, event, 'retry')],
      ['a release', async (tx, event) => settleBack(tx, event, 'released')],
      ['a rescue', async (tx) => rescue(tx, { silentMs: 1 }, { givenMs: startMs, nowMs: startMs })],
    ];
    for (const [name, goesBack] of ways) {
      await readyLane();
      const { deliveries } = await claimed(startMs);
      const [{ event } = { event: '' }] = deliveries;
      await look(startMs + 50);
      const back = await stage.begin();
      await goesBack(back.tx, event);
      assert.deepEqual(await look(startMs + 100), { took: 0, isClosed: false }, name);
      await back.commit();
      assert.equal(await isClosed(lane.lane), false, name);
      assert.deepEqual(await look(startMs + 200), { took: 1, isClosed: false }, name);
      await closed(startMs + 1_000);
    }
  });

  it('reopens for a delivery that returns after a claim has ended', async () => {
    await readyLane();
    const { deliveries } = await claimed(startMs);
    const [{ event } = { event: '' }] = deliveries;
    await look(startMs + 50);
    const closing = await stage.begin();
    await claimOn(closing.tx, { nowMs: startMs + 100 });
    const back = await stage.begin();
    const settling = settleBack(back.tx, event, 'retry');
    await stage.untilSomebodyWaits(1);
    await closing.commit();
    assert.equal(await isClosed(lane.lane), true, 'nothing is pending in it yet');
    await settling;
    await back.commit();
    assert.deepEqual(await look(startMs + 200), { took: 1, isClosed: false });
  });

  it('reopens for a retry by hand', async () => {
    await readyLane();
    const { deliveries } = await claimed(startMs);
    const [{ event } = { event: '' }] = deliveries;
    await delivered(event);
    await look(startMs + 50);
    const retry = await stage.begin();
    await retry.tx.run(retryDelivery({ appNo: stage.appNo, event, n: 0 }, startMs, []));
    assert.deepEqual(await look(startMs + 100), { took: 0, isClosed: false });
    await retry.commit();
    assert.deepEqual(await look(startMs + 150), { took: 1, isClosed: false });
  });
});

describe('a lane that ends', net, () => {
  it('is swept of deliveries from a late commit that found it open', async () => {
    await readyLane();
    const publish = await published(startMs);
    await end();
    for (let i = 0; i < 4; i += 1) {
      assert.equal(await swept(), i === 0 ? 1 : 0);
      assert.equal(await isDone(), false, `sweep ${i}`);
    }
    await publish.commit();
    assert.equal(await swept(), 1);
    for (let i = 0; i < 2; i += 1) await swept();
    assert.equal(await isDone(), true);
  });

  it('is swept of them even if the sweep has the oldest transaction id', async () => {
    await readyLane();
    const slow = await stage.begin();
    const publish = await published(startMs);
    await end();
    assert.equal((await sweep(slow.tx, { limit: 10 }, { nowMs: startMs, facts: [] })).cancelled, 1);
    await slow.commit();
    for (let i = 0; i < 3; i += 1) await swept();
    assert.equal(await isDone(), false);
    await publish.commit();
    assert.equal(await swept(), 1);
  });

  it('is swept again of deliveries from a transaction that still saw it listed', async () => {
    const publish = await stage.begin();
    const { held, reached, release } = holding(publish.tx, makeDeliveriesSql.wake);
    const publishing = publishOn(held, startMs, [stage.publishing('a')]);
    await reached;
    await end();
    for (let i = 0; i < 2; i += 1) await swept();
    release();
    await publishing;
    await publish.commit();
    assert.equal(await swept(), 1);
    for (let i = 0; i < 2; i += 1) await swept();
    assert.equal(await isDone(), true);
  });

  async function end(): Promise<void> {
    const step = await stage.begin();
    await step.tx.run(unsubscribe({ appNo: stage.appNo, id: lane.id }, startMs, []));
    await step.commit();
  }

  async function swept(): Promise<number> {
    const step = await stage.begin();
    const { cancelled } = await sweep(step.tx, { limit: 10 }, { nowMs: startMs, facts: [] });
    await step.commit();
    return cancelled;
  }

  async function isDone(): Promise<boolean> {
    const [row] = await stage.database.query('select swept from ringback.lane where no = $1', [
      lane.lane,
    ]);
    return row?.['swept'] === 1;
  }
});

/** A lane woken by a publish, with one pending delivery. */
async function readyLane(event = 'a'): Promise<void> {
  await (await published(startMs, event)).commit();
}

async function published(nowMs: number, event = 'a'): Promise<Step> {
  const step = await stage.begin();
  await publishOn(step.tx, nowMs, [stage.publishing(event)]);
  return step;
}

async function look(nowMs: number): Promise<{ took: number; isClosed: boolean }> {
  const { deliveries } = await claimed(nowMs);
  return { took: deliveries.length, isClosed: await isClosed(lane.lane) };
}

async function claimed(nowMs: number): ReturnType<typeof claimOn> {
  const step = await stage.begin();
  const result = await claimOn(step.tx, { nowMs });
  await step.commit();
  return result;
}

async function closed(nowMs: number): Promise<void> {
  await stage.database.query('delete from ringback.delivery_live');
  for (let i = 0; !(await isClosed(lane.lane)); i += 1) await look(nowMs + 50 * 2 ** i);
}

async function isClosed(no: number): Promise<boolean> {
  const sql = 'select ready_ms from ringback.lane where no = $1';
  const [row] = await stage.database.query(sql, [no]);
  return Number(row?.['ready_ms']) === never;
}

async function settleBack(tx: Tx, event: string, kind: 'retry' | 'released'): Promise<void> {
  const { replies } = await settleAll(
    tx,
    [settlementOf({ event, n: 0, lease: 1 }, kind, startMs)],
    startMs,
  );
  assert.deepEqual(replies, [{ kind: 'settled' }]);
}

async function delivered(event: string): Promise<void> {
  const step = await stage.begin();
  const settlement = settlementOf({ event, n: 0, lease: 1 }, 'delivered', startMs);
  await settleAll(step.tx, [settlement], startMs);
  await step.commit();
}

/** Delays one statement until it is released; earlier ones are sent as usual. */
function holding(tx: Tx, sql: string): { held: Tx; reached: Promise<void>; release: () => void } {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const held: Tx = {
    run: async (script) => tx.run(script),
    query: async (text, values) => {
      if (text === sql) {
        await tx.query('select 1', []); // Waits for the earlier statements.
        asked.resolve();
        await gate.promise;
      }
      return tx.query(text, values);
    },
  };
  return { held, reached: asked.promise, release: () => gate.resolve() };
}
