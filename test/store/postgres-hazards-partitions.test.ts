// Partitions of days are created and dropped while events are published, delivered and read, through the store on a real
// PostgreSQL. A long reader of a day may only delay the drop of that day.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Client } from 'pg';
import { idMaker } from '../../src/core/base/id.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { EditInput, Store } from '../../src/store/port/store.ts';
import { StoreUnavailable } from '../../src/store/port/store.ts';
import { settlementOf } from './settlement.ts';
import type { Stage } from './postgres-stage.ts';
import { openStage, until, world } from './postgres-stage.ts';
import type { TestNode } from './test-node.ts';
import { startTestNode } from './test-node.ts';

/** A safety timeout, far longer than any passing test. */
const net = { timeout: 300_000 };
const dayMs = 24 * 60 * 60 * 1000;
const oldMs = Math.floor(world.nowMs() / dayMs) * dayMs - 40 * dayMs;
const partitionsOfDay = 4;

let stage: Stage;
let store: Store;
beforeEach(async () => {
  stage = await openStage();
  store = await stage.node();
  await stage.subscribe('a');
});
afterEach(async () => stage[Symbol.asyncDispose]());

describe('an event of a day without partitions', net, () => {
  it('creates the partitions, and is delivered', async () => {
    await using node = await startTestNode(store);
    assert.deepEqual(await daysOf(), []);
    const id = await publishOld(node);
    assert.equal((await daysOf()).length, partitionsOfDay);
    node.store.work();
    await node.until(1);
    await until(async () => (await stateOf(id)) === 'delivered');
  });

  it('creates them on several nodes at once', async () => {
    await using node = await startTestNode(store);
    await using other = await startTestNode(await stage.node());
    const both = [node, other, node, other];
    const ids = await Promise.all(both.map(async (each) => publishOld(each)));
    assert.equal(new Set(ids).size, 4);
    assert.equal((await daysOf()).length, partitionsOfDay);
  });

  it('creates them even while the drop of another day waits', async () => {
    await using node = await startTestNode(store);
    await publishOld(node);
    await deliverAll(node, 1);
    await using reader = await readerOf('delivery_done');
    const retaining = retain();
    await until(async () => isDetaching());
    await publishOld(node, oldMs + 7 * dayMs);
    assert.equal(await isDetaching(), true);
    await reader.end();
    await retaining;
    await untilDropped();
  });
});

describe('a day past the retention', net, () => {
  it('is dropped while other events are published, delivered and read', async (t) => {
    await using node = await startTestNode(store);
    await using other = await startTestNode(await stage.node());
    const old = await publishOld(node);
    await deliverAll(node, 1, other);
    await using reader = await readerOf('event', 'delivery_done');
    const retaining = retain();
    await until(async () => isDetaching());
    // The detach waits for the reader, and everything else continues.
    const ids: string[] = [];
    for (let i = 0; i < 20; i += 1) ids.push(await publishNow([node, other][i % 2] ?? node));
    await deliverAll(node, 20, other); // The old event is no longer visible.
    for (const id of ids) await until(async () => (await stateOf(id)) === 'delivered');
    const all = { limit: 50, after: undefined };
    const { items } = await store.read('events', { appNo: stage.appNo, page: all, name: 'a' });
    t.diagnostic(`${items.length} events can be read`);
    assert.equal(await isDetaching(), true);
    await reader.end();
    await retaining;
    await untilDropped();
    assert.equal(await store.read('event', { appNo: stage.appNo, id: old }), undefined);
    await publishNow(node);
  });

  it('is dropped when its pending deliveries have expired', async () => {
    await using node = await startTestNode(store, { claims: false });
    const id = await publishOld(node);
    const { expired } = await retain();
    assert.equal(expired, 1);
    const [row] = await stage.database.query(
      'select state, error from ringback.delivery_done where event = $1',
      [id],
    );
    if (row !== undefined) assert.deepEqual(row, { state: 2, error: 'expired' });
    await untilDropped();
    assert.equal((await store.read('tally', {})).due, 0);
  });

  it('is kept while one of its deliveries is in flight', async () => {
    await using node = await startTestNode(store, { outcome: () => undefined });
    await publishOld(node);
    node.store.work();
    await node.until(1);
    // The next day has nothing in flight and is dropped, which shows that this day was checked before.
    const nextMs = oldMs + dayMs;
    await store.edit('publish', {
      ...stage.publishing('none'),
      events: [oldEvent(nextMs, 'none')],
    });
    assert.equal((await daysOf(nextMs)).length, partitionsOfDay);
    await untilDropped(nextMs);
    assert.equal((await daysOf()).length, partitionsOfDay);
    const [leased] = node.taken;
    assert(leased);
    const settlement = settlementOf(leased, 'delivered', world.nowMs());
    assert.deepEqual(await store.settle(settlement), { kind: 'settled' });
    await untilDropped();
  });

  it('does not block the close of a store that waits to drop it', async () => {
    const another = await stage.node();
    await using node = await startTestNode(store);
    await publishOld(node);
    await deliverAll(node, 1);
    await using reader = await readerOf('delivery_done');
    const retaining = another.edit('retain', { beforeMs: oldMs + dayMs, limit: 100 });
    retaining.catch(() => undefined);
    await until(async () => isDetaching());
    await another.close();
    await assert.rejects(retaining, StoreUnavailable);
    await reader.end();
    await untilDropped();
  });
});

async function publishOld(node: TestNode, atMs = oldMs): Promise<string> {
  return publish(node, stage.publishing('a', { events: [oldEvent(atMs, 'a')] }));
}

async function publishNow(node: TestNode): Promise<string> {
  return publish(node, stage.publishing('a'));
}

async function publish(node: TestNode, input: EditInput<'publish'>): Promise<string> {
  const output = await node.store.edit('publish', input);
  assert(output.kind === 'accepted');
  return output.events[0]?.id ?? '';
}

function oldEvent(atMs: number, name: string): EditInput<'publish'>['events'][number] {
  const id = idMaker({ nowMs: () => atMs, randomBytes: (n) => world.randomBytes(n) })();
  return { id, name, payload: Buffer.from('{}') };
}

/** Waits until the nodes have claimed and settled that many in total. */
async function deliverAll(node: TestNode, count: number, ...others: TestNode[]): Promise<void> {
  const all = [node, ...others];
  await until(async () => {
    for (const each of all) each.store.work();
    const { delivered } = await store.read('tally', {});
    return delivered === count;
  });
}

/** Runs retention up to the end of this day. */
async function retain(atMs = oldMs): Promise<{ expired: number; deleted: number }> {
  return store.edit('retain', { beforeMs: atMs + dayMs, limit: limits.retentionRowsMax });
}

async function untilDropped(atMs = oldMs): Promise<void> {
  await until(async () => {
    await retain(atMs);
    return (await daysOf(atMs)).length === 0;
  });
}

/** The partitions of a day that still exist. */
async function daysOf(atMs = oldMs): Promise<string[]> {
  const name = new Date(atMs).toISOString().slice(0, 10).replaceAll('-', '');
  const rows = await stage.database.query(
    `select relname from pg_class where relkind = 'r' and relname like '%' || $1`,
    [name],
  );
  return rows.map(({ relname }) => String(relname));
}

async function isDetaching(): Promise<boolean> {
  const sql = 'select from pg_inherits where inhdetachpending';
  return (await stage.database.query(sql)).length > 0;
}

async function stateOf(event: string): Promise<string | undefined> {
  return (await store.read('delivery', { appNo: stage.appNo, event, n: 0 }))?.state;
}

/** A long transaction of another program that has read these tables. */
async function readerOf(
  ...tables: readonly string[]
): Promise<AsyncDisposable & { end(): Promise<void> }> {
  const client = new Client({ connectionString: stage.database.url });
  await client.connect();
  await client.query('begin');
  for (const table of tables) await client.query(`select count(*) from ringback.${table}`);
  const end = async (): Promise<void> => client.end();
  return { end, [Symbol.asyncDispose]: end };
}
