// Failures of the store: nothing may be acknowledged, every caller must get an error, and the store must recover.
import { strict as assert } from 'node:assert';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { ReadCall, Transport } from '../../src/store/port/transport-protocol.ts';
import {
  CannotOpenStore,
  type EditInput,
  type Store,
  StoreUnavailable,
} from '../../src/store/port/store.ts';
import { storeOver } from '../../src/store/open/open.ts';
import { adapterOn, inProcess } from '../../src/store/sqlite/batch/adapter.ts';
import { applyMigrations } from '../../src/store/sqlite/schema/apply-migrations.ts';
import { connect } from '../../src/store/sqlite/connection/connect.ts';
import { startThreads } from '../../src/store/sqlite/thread/thread.ts';
import { attempt, newApp, newSubscription } from './subject.ts';
import { settlementOf } from './settlement.ts';
import { migrationsDir, newId } from './open-memory.ts';
import { attachDispatcher } from './test-dispatcher.ts';

const unavailable = { name: 'StoreUnavailable' };

describe('a full database', () => {
  it('refuses edits, still reads, and accepts edits again when there is space', async () => {
    const { db, store } = setUp();
    const app = await newApp(store);
    const pages = Number(db.prepare('pragma page_count').get()?.['page_count']);
    db.exec(`pragma max_page_count = ${pages}`);
    const acked: string[] = [];
    const fill = async () => {
      for (;;) acked.push(await subscribe(store, app));
    };
    await assert.rejects(fill(), { ...unavailable, message: /full/ });
    assert.deepEqual(await idsOf(store, app), acked.toReversed());
    db.exec('pragma max_page_count = 1000000');
    acked.push(await subscribe(store, app));
    assert.deepEqual(await idsOf(store, app), acked.toReversed());
  });

  it('fails all edits of a batch, not only the one without space', async () => {
    const { db, store } = setUp();
    const app = await newApp(store);
    const pages = Number(db.prepare('pragma page_count').get()?.['page_count']);
    db.exec(`pragma max_page_count = ${pages}`);
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, async () => subscribe(store, app)),
    );
    // The first was sent alone and had space; the rest was one batch.
    assert.equal(results[0]?.status, 'fulfilled');
    for (const result of results.slice(1)) {
      assert(result.status === 'rejected' && result.reason instanceof StoreUnavailable);
    }
    assert.equal((await idsOf(store, app)).length, 1);
  });
});

describe('a read-only database', () => {
  it('refuses edits until it is writable', async () => {
    const { db, store } = setUp();
    const app = await newApp(store);
    db.exec('pragma query_only = on');
    await assert.rejects(subscribe(store, app), { ...unavailable, message: /readonly/ });
    db.exec('pragma query_only = off');
    await subscribe(store, app);
  });
});

describe('a database that another connection has locked', () => {
  it('refuses edits until it is free', async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'ringback-'));
    t.after(() => rmSync(dir, { recursive: true }));
    const path = join(dir, 'x.db');
    const { db, store } = setUp(connect({ path, access: 'write' }));
    const app = await newApp(store);
    db.exec('pragma busy_timeout = 0');
    const other = new DatabaseSync(path);
    other.exec('begin immediate');
    await assert.rejects(subscribe(store, app), { ...unavailable, message: /locked/ });
    assert.deepEqual(await idsOf(store, app), []);
    other.exec('rollback');
    other.close();
    await subscribe(store, app);
    await store.close();
  });
});

describe('a failed fsync', () => {
  it('is fatal: it is reported, and nothing is acknowledged afterwards', async () => {
    const db = new FailingCommit(':memory:');
    const { store, fatal } = setUp(db);
    const app = await newApp(store);
    db.failure = Object.assign(new Error('disk I/O error'), { errcode: 1034 });
    await assert.rejects(subscribe(store, app), { ...unavailable, message: /disk I\/O error/ });
    assert.equal(fatal.length, 1);
    db.failure = undefined; // The next fsync would succeed, but the data of the failed one is lost.
    await assert.rejects(subscribe(store, app), unavailable);
    assert.deepEqual(await idsOf(store, app), []);
  });
});

describe('a commit that fails', () => {
  it('rolls back its batch, and the next one is written', async () => {
    const db = new FailingCommit(':memory:');
    const { store, fatal } = setUp(db);
    const app = await newApp(store);
    db.failure = Object.assign(new Error('disk I/O error'), { errcode: 778 });
    await assert.rejects(subscribe(store, app), unavailable);
    db.failure = undefined;
    assert.deepEqual(await idsOf(store, app), []);
    const id = await subscribe(store, app);
    assert.deepEqual(await idsOf(store, app), [id]);
    assert.deepEqual(fatal, []);
  });
});

describe('work that cannot be written', () => {
  it('settles and leases nothing, and succeeds the next time', async () => {
    const db = new FailingCommit(':memory:');
    const { store } = setUp(db);
    const dispatcher = attachDispatcher(store);
    const app = await newApp(store);
    await subscribe(store, app);
    const input = publishInput(app);
    const [fresh] = (await dispatcher.publish({ room: 1 }, input)).fresh;
    assert(fresh);
    await store.edit('publish', publishInput(app));
    db.failure = Object.assign(new Error('disk I/O error'), { errcode: 778 });
    await assert.rejects(store.settle(settlementOf(fresh, 'delivered', 1)), unavailable);
    await assert.rejects(dispatcher.publish({ room: 9 }, publishInput(app)), unavailable);
    db.failure = undefined;
    assert.deepEqual(await pending(store), { due: 1, running: 1, delivered: 0 });
    await store.settle(settlementOf(fresh, 'delivered', 1));
    assert.equal((await dispatcher.claim({ room: 9 })).claimed.length, 1);
    assert.deepEqual(await pending(store), { due: 0, running: 1, delivered: 1 });
  });

  it('fails only a settlement that violates a constraint', async () => {
    const { store } = setUp();
    const dispatcher = attachDispatcher(store);
    const app = await newApp(store);
    await subscribe(store, app);
    const fresh = [];
    for (let i = 0; i < 3; i += 1) {
      fresh.push(...(await dispatcher.publish({ room: 1 }, publishInput(app))).fresh);
    }
    const results = await Promise.allSettled(
      fresh.map(async (leased, index) => {
        const settlement = settlementOf(leased, 'delivered', 1);
        const bad = { ...settlement, attempt: attempt({ status: 99 }) };
        return store.settle(index === 2 ? bad : settlement);
      }),
    );
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected'],
    );
    assert.deepEqual(await pending(store), { due: 0, running: 1, delivered: 2 });
  });

  it('is fatal if a claim violates an invariant, which is a bug', async () => {
    const { db, store, fatal } = setUp();
    const dispatcher = attachDispatcher(store);
    const app = await newApp(store);
    await subscribe(store, app);
    await store.edit('publish', publishInput(app));
    db.exec(`create trigger broken before update of lease on delivery_live
      begin select raise(abort, 'broken'); end`);
    await assert.rejects(dispatcher.claim({ room: 9 }));
    assert.equal(fatal.length, 1);
    await assert.rejects(store.edit('publish', publishInput(app)), unavailable);
  });
});

describe('threads that were started', () => {
  const options = { migrationsDir, nowMs: 1, onFatal: (error: Error) => assert.fail(error) };

  it('do nothing before they are told to, and can be ended', async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'ringback-'));
    t.after(() => rmSync(dir, { recursive: true }));
    const threads = startThreads();
    await threads[Symbol.asyncDispose]();
    assert.deepEqual(readdirSync(dir), []);
    await assert.rejects(threads.open({ ...options, path: join(dir, 'x.db') }), CannotOpenStore);
    assert.deepEqual(readdirSync(dir), []);
  });

  it('end both when the store cannot be opened', async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'ringback-'));
    t.after(() => rmSync(dir, { recursive: true }));
    const threads = startThreads();
    await assert.rejects(
      threads.open({ ...options, path: join(dir, 'no', 'x.db') }),
      CannotOpenStore,
    );
    await threads[Symbol.asyncDispose](); // Waits for both.
  });
});

describe('a thread that dies', () => {
  it('rejects pending and further calls, and is reported', async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'ringback-'));
    t.after(() => rmSync(dir, { recursive: true }));
    const died = Promise.withResolvers<Error>();
    const transport = await startThreads().open({
      path: join(dir, 'x.db'),
      migrationsDir,
      nowMs: 1,
      onFatal: died.resolve,
    });
    const poison: ReadCall = JSON.parse('null'); // An invalid call, which crashes the thread.
    const health = { verb: 'health', input: {} } as const;
    const waiting = [transport.read(poison), transport.read(health)];
    for (const each of waiting) await assert.rejects(each, unavailable);
    const error = await died.promise;
    assert(error instanceof StoreUnavailable && error.cause instanceof TypeError);
    await assert.rejects(transport.read(health), unavailable);
    await transport.close();
  });
});

describe('an overloaded thread', () => {
  it('refuses at once', async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'ringback-'));
    t.after(() => rmSync(dir, { recursive: true }));
    const onFatal = (error: Error) => {
      throw error;
    };
    const path = join(dir, 'x.db');
    const transport = await startThreads().open({ path, migrationsDir, nowMs: 1, onFatal });
    const reads = Array.from({ length: 5_000 }, async () =>
      transport.read({ verb: 'health', input: {} }),
    );
    const results = await Promise.allSettled(reads);
    const refused = results.filter(({ status }) => status === 'rejected');
    assert.equal(refused.length, 5_000 - 4_096);
    await transport.close();
  });
});

class FailingCommit extends DatabaseSync {
  failure: Error | undefined;

  override exec(sql: string): void {
    if (sql === 'commit' && this.failure !== undefined && this.isTransaction) throw this.failure;
    super.exec(sql);
  }
}

interface SetUp {
  db: DatabaseSync;
  store: Store;
  transport: Transport;
  fatal: Error[];
}

function setUp(db: DatabaseSync = connect({ path: ':memory:', access: 'write' })): SetUp {
  applyMigrations(db, { database: ':memory:', migrationsDir, nowMs: 1 });
  const fatal: Error[] = [];
  const transport = inProcess(adapterOn(db), { onFatal: (error) => fatal.push(error) });
  return { db, transport, fatal, store: storeOver(transport, { nowMs: () => 1 }) };
}

type AppOf = Awaited<ReturnType<typeof newApp>>;

async function subscribe(store: Store, app: AppOf): Promise<string> {
  const subscription = newSubscription(app);
  const output = await store.edit('subscribe', { subscription, idempotency: undefined });
  assert.equal(output.kind, 'created');
  return subscription.id;
}

function publishInput(app: AppOf): EditInput<'publish'> {
  return {
    appNo: app.no,
    contract: 'Ringback',
    events: [{ id: newId(), name: 'a', payload: Buffer.from('1') }],
    audience: { kind: 'everyone' },
    idempotency: undefined,
  };
}

async function pending(store: Store) {
  const { due, running, delivered } = await store.read('tally', {});
  return { due, running, delivered };
}

async function idsOf(store: Store, app: AppOf): Promise<string[]> {
  const page = { limit: 500, after: undefined };
  const listed = await store.read('subscriptions', { appNo: app.no, page, state: undefined });
  return listed.items.map(({ id }) => id);
}
