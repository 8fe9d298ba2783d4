// Nodes that do not know that they were declared gone, and long transactions of other programs: neither may lose a
// delivery or stop the cluster.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Client } from 'pg';
import type { Leased } from '../../src/core/domain/delivery.ts';
import { never } from '../../src/core/domain/lane.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { settleAll } from '../../src/store/postgres/deliver/settle.ts';
import { keepFloors } from '../../src/store/postgres/batch/work.ts';
import type { Store } from '../../src/store/port/store.ts';
import { keepApart } from '../postgres/shared-server.ts';
import { settlementOf } from './settlement.ts';
import type { Looking, Stage } from './postgres-stage.ts';
import { claimOn, openStage, publishOn, until, world } from './postgres-stage.ts';
import type { NodeOptions, TestNode } from './test-node.ts';
import { startTestNode } from './test-node.ts';

/** A safety timeout, far longer than any passing test. */
const net = { timeout: 300_000 };
const startMs = 1_700_000_000_000;
const silentMs = 60_000;

keepApart();

let stage: Stage;
let lane: number;
beforeEach(async () => {
  stage = await openStage();
  ({ lane } = await stage.subscribe('a'));
});
afterEach(async () => stage[Symbol.asyncDispose]());

describe('a node that was declared gone', net, () => {
  it('continues to publish, claim and settle, and nothing is lost or duplicated', async () => {
    await using zombie = await holdingNode(await stage.node());
    await using alive = await startTestNode(await stage.node(), { hears: false });
    const before = await published(zombie);
    await silence(zombie);
    assert.deepEqual(await rescue(alive), { gone: 1, freed: 1 });
    await works(alive, 1);
    // It does not know this, so its publishes are leased to a dead node number.
    const fresh = await published(zombie);
    assert.equal(Math.floor(fresh.lease / 2 ** 32), zombie.no);
    // It must not settle deliveries that were taken from it.
    assert.deepEqual(await settle(zombie, before), { kind: 'stale' });
    assert.deepEqual(await rescue(alive), { gone: 0, freed: 1 });
    assert.deepEqual(await settle(zombie, fresh), { kind: 'stale' });
    await works(alive, 2);
    assert.deepEqual(
      alive.taken.map(({ event }) => event),
      [before.event, fresh.event],
    );
    await settledAll({ delivered: 2 });
    const beats = [zombie, alive].map(async ({ no, store }) =>
      store.edit('heartbeat', { node: no }),
    );
    assert.deepEqual(await Promise.all(beats), [{ kind: 'gone' }, { kind: 'alive' }]);
  });

  it('claims deliveries, which the next recovery releases', async () => {
    await using zombie = await holdingNode(await stage.node(), { claims: true, hears: false });
    await using alive = await startTestNode(await stage.node(), { hears: false });
    await silence(zombie);
    await rescue(alive);
    await stage.once(async (tx) => publishOn(tx, world.nowMs(), [stage.publishing('a')]));
    await works(zombie, 1);
    assert.deepEqual(await rescue(alive), { gone: 0, freed: 1 });
    await works(alive, 1);
    await settledAll({ delivered: 1 });
  });

  it('may still settle its deliveries, as long as they were not released', async () => {
    await using zombie = await holdingNode(await stage.node());
    await using alive = await startTestNode(await stage.node(), { hears: false });
    await silence(zombie);
    await rescue(alive);
    const fresh = await published(zombie);
    assert.deepEqual(await settle(zombie, fresh), { kind: 'settled' });
    assert.deepEqual(await rescue(alive), { gone: 0, freed: 0 });
    await settledAll({ delivered: 1 });
  });

  it('may commit a claim after the recovery, and the next recovery finds it', async () => {
    await using alive = await startTestNode(await stage.node(), { hears: false });
    const dead = 999 * 2 ** 32 + 1;
    const late = await stage.begin();
    await publishOn(late.tx, world.nowMs(), [stage.publishing('a')], dead);
    assert.deepEqual(await rescue(alive), { gone: 0, freed: 0 });
    await late.commit();
    assert.deepEqual(await rescue(alive), { gone: 0, freed: 1 });
    await works(alive, 1);
  });

  /** Repeats it until the node has enough, because the nodes' clocks may differ by a millisecond. */
  async function works(node: TestNode, count: number): Promise<void> {
    await until(async () => {
      if (node.taken.length < count) await node.work();
      return node.taken.length >= count;
    });
  }

  /** A node that takes fresh deliveries and does not settle them. */
  async function holdingNode(store: Store, options: NodeOptions = {}): Promise<TestNode> {
    const outcome = (): undefined => undefined;
    return startTestNode(store, { takesFresh: true, claims: false, outcome, ...options });
  }

  /** Inserted with the node's lease, because the lane is idle. */
  async function published({ store, taken }: TestNode): Promise<Leased> {
    await stage.database.query(`update ringback.lane set ready_ms = ${never}, quiet_ms = null`);
    const input = stage.publishing('a');
    await store.edit('publish', input);
    const leased = taken.at(-1);
    assert(leased !== undefined && leased.event === input.events[0]?.id);
    return leased;
  }

  async function silence({ no }: TestNode): Promise<void> {
    const sql = 'update ringback.node set seen_ms = seen_ms - $1 where no = $2';
    await stage.database.query(sql, [silentMs + 1, no]);
  }

  async function rescue({ store }: TestNode): Promise<{ gone: number; freed: number }> {
    return store.edit('rescue', { silentMs });
  }

  async function settle({ store }: TestNode, leased: Leased): Promise<unknown> {
    return store.settle(settlementOf(leased, 'delivered', world.nowMs()));
  }

  async function settledAll(expected: Record<string, number>): Promise<void> {
    const all = { due: 0, running: 0, delivered: 0, dead: 0, cancelled: 0, ...expected };
    // The last settlement may still be in flight.
    await until(async () => (await stage.store.read('tally', {})).running === 0);
    assert.deepEqual(await stage.store.read('tally', {}), all);
  }
});

describe('a transaction that stays open', net, () => {
  it('with a transaction id: lanes linger meanwhile and close afterwards', async () => {
    await using open = await longTransaction('select pg_current_xact_id()');
    await publish(startMs);
    for (const ms of [0, 50, 100, 200, 400, 800, 1_600]) await look({ nowMs: startMs + ms });
    assert.notEqual(await readyMs(), never);
    await open.end();
    for (const ms of [3_200, 6_400]) await look({ nowMs: startMs + ms });
    assert.equal(await readyMs(), never);
  });

  it('with only an old snapshot: lanes close as usual', async () => {
    await using _open = await longTransaction('select from ringback.lane');
    await publish(startMs);
    for (const ms of [0, 50, 100]) await look({ nowMs: startMs + ms });
    assert.equal(await readyMs(), never);
  });

  it('leaves dead rows that claims skip, because floors rise with the pending deliveries', async () => {
    const laterMs = startMs + 3 * limits.floorMs;
    await publish(startMs);
    await look({ nowMs: laterMs, room: 1 });
    assert.equal(await floorMs(), 0, 'an idle lane has none');
    for (let i = 0; i < 3; i += 1) await publish(laterMs);
    await look({ nowMs: laterMs, room: 1 });
    assert.equal(await floorMs(), laterMs - limits.floorMs);
    // A late commit with an old due time: below the floor.
    await publish(startMs);
    assert.deepEqual(await look({ nowMs: laterMs, room: 1 }), [laterMs]);
    const floors = { readyMs: 0, isDropped: true };
    assert.deepEqual(await look({ nowMs: laterMs, room: 1, floors }), [startMs]);
  });

  it('lanes that became ready long ago are claimed in time, too', async () => {
    const keeper = keepFloors();
    const nowMs = startMs + 10 * limits.floorMs;
    assert.deepEqual(keeper.next(nowMs), { readyMs: 0, isDropped: true });
    keeper.observed(nowMs);
    assert.deepEqual(keeper.next(nowMs + 1), { readyMs: nowMs - limits.floorMs, isDropped: false });
    await publish(startMs);
    const floors = keeper.next(nowMs + limits.floorDropMs - 1);
    assert.deepEqual(await look({ nowMs, floors }), []);
    const dropped = keeper.next(nowMs + limits.floorDropMs);
    assert.deepEqual(await look({ nowMs, floors: dropped }), [startMs]);
  });

  it('floors do not hide a fresh delivery in a lane that sleeps until a distant retry', async () => {
    await publish(startMs);
    const leased = await claimed({ nowMs: startMs });
    const farMs = startMs + 10 * limits.floorMs;
    const [first] = leased;
    assert(first);
    const released = settlementOf(first, 'released', farMs, startMs);
    await stage.once(async (tx) => settleAll(tx, [released], startMs));
    for (const ms of [0, 50, 100, 200, 400]) await look({ nowMs: startMs + ms });
    assert.equal(await readyMs(), farMs, 'it sleeps');
    await publish(startMs + 1_000);
    assert.deepEqual(await look({ nowMs: startMs + 1_000 }), [startMs + 1_000]);
  });

  async function publish(nowMs: number): Promise<void> {
    await stage.once(async (tx) => publishOn(tx, nowMs, [stage.publishing('a')]));
  }

  async function claimed(looking: Looking): Promise<Leased[]> {
    return stage.once(async (tx) => (await claimOn(tx, looking)).deliveries);
  }

  /** Claims, and returns the due times. */
  async function look(looking: Looking): Promise<number[]> {
    const events = (await claimed(looking)).map(({ event }) => event);
    const rows = await stage.database.query(
      'select due_ms from ringback.delivery_live where event = any($1)',
      [events],
    );
    return rows.map((row) => Number(row['due_ms']));
  }

  async function readyMs(): Promise<number> {
    return laneNumber('ready_ms');
  }

  async function floorMs(): Promise<number> {
    return laneNumber('floor_ms');
  }

  async function laneNumber(column: string): Promise<number> {
    const sql = `select ${column} as value from ringback.lane where no = $1`;
    const [row] = await stage.database.query(sql, [lane]);
    return Number(row?.['value']);
  }

  /** A long transaction of another program in the same database. */
  async function longTransaction(sql: string): Promise<AsyncDisposable & { end(): Promise<void> }> {
    const client = new Client({ connectionString: stage.database.url });
    await client.connect();
    await client.query('begin isolation level repeatable read');
    await client.query(sql);
    const end = async (): Promise<void> => client.end();
    return { end, [Symbol.asyncDispose]: end };
  }
});
