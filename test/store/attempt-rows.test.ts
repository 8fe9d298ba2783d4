// How attempts are stored, and that they are read completely, including old ones that have two rows.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { Attempt } from '../../src/core/domain/attempt.ts';
import { realWorld } from '../../src/core/base/world.ts';
import { openCluster } from '../../src/store/open/open.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import { attachDispatcher } from './test-dispatcher.ts';
import { newId, openMemory } from './open-memory.ts';
import { settlementOf } from './settlement.ts';
import { attempt, newApp, newKey, newSubscription } from './subject.ts';

const head = (url: string): string =>
  `{"method":"post","url":"${url}","headers":[["x-a","1"]],"cut":true}`;

function rows(event: string, schema: '' | 'ringback.' = ''): string[] {
  const body = (text: string): string =>
    schema === '' ? `x'${Buffer.from(text).toString('hex')}'` : `'${text}'::bytea`;
  return [
    `insert into ${schema}attempt (event, n, k, node, started_ms, took_ms, code)
     values ('${event}', 0, 1, 1, 5, 6, 200)`,
    `insert into ${schema}response (event, n, k, head, body)
     values ('${event}', 0, 1, '${head('before')}', ${body('old')})`,
    `insert into ${schema}attempt (event, n, k, node, started_ms, took_ms, code, head, body)
     values ('${event}', 0, 2, 1, 7, 8, 201, '${head('since')}', ${body('new')})`,
  ];
}

function assertRead(attempts: readonly Attempt[]): void {
  assert.deepEqual(
    attempts.map(({ k, status, request, response }) => [
      k,
      status,
      request.url,
      response && [...response.headers, Buffer.from(response.body).toString(), response.cut],
    ]),
    [
      [1, 200, 'before', [['x-a', '1'], 'old', true]],
      [2, 201, 'since', [['x-a', '1'], 'new', true]],
    ],
  );
}

function publishOf(appNo: number, id: string) {
  const events = [{ id, name: 'a', payload: Buffer.from('1') }];
  const audience = { kind: 'everyone' } as const;
  return { appNo, events, contract: 'Ringback', audience, idempotency: undefined };
}

describe('an attempt on SQLite', () => {
  for (const { bodyBytes, rowsAside } of [
    { bodyBytes: 100, rowsAside: 0 },
    { bodyBytes: 1_000, rowsAside: 1 },
  ]) {
    it(`has ${rowsAside} overflow rows with a body of ${bodyBytes} bytes`, () => {
      const opened = openMemory();
      const created = opened.edit('createApp', { id: newId(), name: 'a', key: newKey() });
      assert(created.kind === 'created');
      const { app } = created;
      opened.edit('subscribe', { subscription: newSubscription(app), idempotency: undefined });
      const offer = { lease: 1, room: 9, free: new Map(), inFlight: new Map(), laneRoom: 8 };
      const event = newId();
      opened.offering(offer, 'publish', publishOf(app.no, event));
      const body = Buffer.alloc(bodyBytes, 'x');
      const record = attempt({ response: { headers: [], body, cut: false } });
      const settlement = settlementOf({ event, n: 0, lease: 1 }, 'delivered', 0);
      opened.work({ settlements: [{ ...settlement, attempt: record }] });
      assert.equal(opened.db.prepare('select * from response').all().length, rowsAside);
      const [read] = opened.read('attempts', { appNo: app.no, event, n: 0 });
      assert.deepEqual(Buffer.from(read?.response?.body ?? []), body);
      assert.equal(read?.request.url, record.request.url);
    });
  }
});

describe('attempts of earlier releases', () => {
  it('are read on SQLite', () => {
    const opened = openMemory();
    const created = opened.edit('createApp', { id: newId(), name: 'a', key: newKey() });
    assert(created.kind === 'created');
    const { app } = created;
    opened.edit('subscribe', { subscription: newSubscription(app), idempotency: undefined });
    const event = newId();
    opened.edit('publish', publishOf(app.no, event));
    for (const sql of rows(event)) opened.db.exec(sql);
    assertRead(opened.read('attempts', { appNo: app.no, event, n: 0 }));
  });

  it('are read on PostgreSQL', async () => {
    await using database = await freshStoreDatabase();
    const store = await openCluster({ url: database.url, world: realWorld(), clock: 'given' });
    const app = await newApp(store);
    await store.edit('subscribe', { subscription: newSubscription(app), idempotency: undefined });
    const event = newId();
    await store.edit('publish', publishOf(app.no, event));
    for (const sql of rows(event, 'ringback.')) await database.query(sql);
    assertRead(await store.read('attempts', { appNo: app.no, event, n: 0 }));
    await store.close();
  });
});

describe('an attempt on PostgreSQL', () => {
  it('has its start time, however long the database delays the write', async () => {
    await using database = await freshStoreDatabase();
    let lateMs = 0;
    const world = realWorld();
    // The clock advances by a second with each reading.
    const monotonicMs = (): number => world.monotonicMs() + (lateMs += 1_000);
    const store = await openCluster({ url: database.url, world: { ...world, monotonicMs } });
    const dispatcher = attachDispatcher(store);
    const app = await newApp(store);
    await store.edit('subscribe', { subscription: newSubscription(app), idempotency: undefined });
    const { fresh } = await dispatcher.publish({ room: 1 }, publishOf(app.no, newId()));
    const [leased] = fresh;
    assert(leased);
    const startedMs = store.nowMs();
    const delivered = settlementOf(leased, 'delivered', 0);
    await store.settle({ ...delivered, attempt: attempt({ startedMs }) });
    const read = await store.read('attempts', { appNo: app.no, event: leased.event, n: leased.n });
    assert.deepEqual(
      read.map((one) => one.startedMs),
      [startedMs],
    );
    await store.close();
  });
});
