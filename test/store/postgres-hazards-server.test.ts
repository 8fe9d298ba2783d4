// The server is killed, as by a power cut, or frozen, and comes back. Every call must return in time, nothing acknowledged
// may be lost, and the store must recover by itself.
import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { openCluster } from '../../src/store/open/open.ts';
import type { EditInput, Store } from '../../src/store/port/store.ts';
import { StoreUnavailable } from '../../src/store/port/store.ts';
import type { Database } from '../postgres/database.ts';
import { openDatabase } from '../postgres/database.ts';
import type { Postgres } from '../postgres/server.ts';
import { startPostgres } from '../postgres/server.ts';
import { callback, newApp, newSubscription } from './subject.ts';
import { newId } from './open-memory.ts';
import { until, world } from './postgres-stage.ts';
import type { TestNode } from './test-node.ts';
import { startTestNode } from './test-node.ts';

/** A safety timeout, far longer than any passing test. */
const net = { timeout: 300_000 };
/** The longest that a call may take while the server is down; see `limits`. */
const answerMaxMs = limits.databaseConnectMs + limits.commitUnknownMs + limits.databaseConnectMs;

let server: Postgres;
let database: Database;
let appNo: number;
let one: TestNode;
let other: TestNode;

before(async () => {
  server = await startPostgres();
  const url = await server.createDatabase('hazards');
  database = openDatabase(url);
  const open = async (): Promise<Store> => openCluster({ url, world });
  one = await startTestNode(await open(), { claims: false });
  other = await startTestNode(await open(), { pollMs: limits.databasePollMs });
  const app = await newApp(one.store);
  appNo = app.no;
  const subscription = newSubscription(app, { callbacks: [callback(0, 'a')] });
  await one.store.edit('subscribe', { subscription, idempotency: undefined });
});
after(async () => {
  await one[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await one.store.close();
  await other.store.close();
  await database[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe('a server outage', net, () => {
  it('killed: calls are refused in time, and succeed when it is back', async (t) => {
    const accepted: string[] = [];
    const publishing = { isOn: true };
    const load = publishOnAndOn(publishing, accepted);
    await until(() => accepted.length > 20);
    await server.kill();
    await until(() => load.refused > 5);
    await refused(async () => one.store.read('health', {}));
    await refused(async () => one.store.edit('heartbeat', { node: one.no }));
    const beforeStart = { ...load };
    await server.start();
    const count = accepted.length;
    await until(() => accepted.length > count + 20);
    publishing.isOn = false;
    await load.done;
    t.diagnostic(JSON.stringify({ ...beforeStart, slowestMs: Math.round(load.slowestMs) }));
    assert(load.slowestMs < answerMaxMs, `a call took ${load.slowestMs} ms`);
    await allDelivered(accepted);
  });

  it('frozen: calls wait or are refused, and succeed when it resumes', async (t) => {
    const accepted: string[] = [];
    const publishing = { isOn: true };
    const load = publishOnAndOn(publishing, accepted);
    await until(() => accepted.length > 20);
    server.freeze();
    // Opening another store is refused while there is no connection.
    const closed = openCluster({ url: database.url, world });
    await assert.rejects(closed);
    const frozenAt = accepted.length;
    server.thaw();
    await until(() => accepted.length > frozenAt + 20);
    publishing.isOn = false;
    await load.done;
    t.diagnostic(JSON.stringify({ refused: load.refused, slowestMs: Math.round(load.slowestMs) }));
    await allDelivered(accepted);
  });

  it('frozen: a store can still be closed', async () => {
    const store = await openCluster({ url: database.url, world });
    await store.read('health', {});
    await store.edit('forget', { idempotencyBeforeMs: 0, limit: 1 });
    server.freeze();
    const closing = store.close();
    await closing;
    server.thaw();
  });

  it('nodes notify each other again', async () => {
    await using made = new AsyncDisposableStack();
    const deaf = await startTestNode(await openCluster({ url: database.url, world }));
    made.defer(async () => deaf.store.close());
    made.use(deaf);
    await server.kill();
    await server.start();
    // The LISTEN connection recovers by itself; this node only claims after a notification.
    const { notified } = deaf.counts;
    await until(() => deaf.counts.notified > notified);
    // Those of the other nodes recover at their own time.
    await until(async () => {
      const [row] = await database.query(
        `select count(*)::int as ears from pg_stat_activity
         where application_name = 'ringback listen' and datname = current_database()`,
      );
      return row?.['ears'] === 3;
    });
  });
});

/** Waits until every acknowledged event is delivered. */
async function allDelivered(ids: readonly string[]): Promise<void> {
  const sql = `select count(*)::int as found from ringback.delivery_done
    where event = any($1) and state = 1`;
  await until(async () => (await database.query(sql, [ids]))[0]?.['found'] === ids.length);
}

interface Load {
  refused: number;
  slowestMs: number;
  done: Promise<void>;
}

/** Four clients that publish one event after the other. */
function publishOnAndOn(publishing: { isOn: boolean }, accepted: string[]): Load {
  const load: Load = { refused: 0, slowestMs: 0, done: Promise.resolve() };
  const publish = async (): Promise<void> => {
    while (publishing.isOn) {
      const input = newPublish();
      const startedMs = world.monotonicMs();
      try {
        const output = await one.store.edit('publish', input);
        assert(output.kind === 'accepted');
        accepted.push(...output.events.map(({ id }) => id));
      } catch (error) {
        assert(error instanceof StoreUnavailable, String(error));
        load.refused += 1;
        await world.sleep(5);
      }
      load.slowestMs = Math.max(load.slowestMs, world.monotonicMs() - startedMs);
    }
  };
  load.done = Promise.all([1, 2, 3, 4].map(publish)).then(() => undefined);
  return load;
}

function newPublish(): EditInput<'publish'> {
  return {
    appNo,
    contract: 'Ringback',
    events: [{ id: newId(), name: 'a', payload: Buffer.from('{}') }],
    audience: { kind: 'everyone' },
    idempotency: undefined,
  };
}

async function refused(ask: () => Promise<unknown>): Promise<void> {
  await assert.rejects(ask(), StoreUnavailable);
}
