// A pooler between the store and PostgreSQL: transaction pooling must be refused, whatever the size of the pool and the
// order of its connections; session pooling must be accepted.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { Client } from 'pg';
import { realWorld } from '../../src/core/base/world.ts';
import { CannotOpenStore } from '../../src/store/port/store.ts';
import { openStore } from '../../src/store/open/open.ts';
import { checkSession } from '../../src/store/postgres/connection/examine.ts';
import { freshDatabase, type Database } from '../postgres/database.ts';
import { findPgBouncer, startPgBouncer, type PgBouncerOptions } from '../postgres/pgbouncer.ts';
import { startPooler, type Pooler, type PoolerOptions } from '../postgres/pooler.ts';
import { startProxy } from '../postgres/proxy.ts';

/** A safety timeout, far longer than any passing test. */
const net = { timeout: 300_000 };

describe('openStore behind a pooler in transaction mode', net, () => {
  const orders = ['last used', 'longest free'] as const;
  for (const order of orders) {
    for (const servers of [1, 2, 3, 8]) {
      for (const resets of [false, true]) {
        const what = `${servers} server connections, ${order} first${resets ? ', reset' : ''}`;
        it(`refuses it: ${what}`, async () => {
          await using database = await freshDatabase();
          const options = { mode: 'transaction', servers, order, resets } as const;
          await using pooler = await startPooler(database.url, options);
          await fill(pooler, servers);
          await refuses(pooler.url, database);
        });
      }
    }
  }

  it('does not change settings of other clients', async () => {
    await using database = await freshDatabase();
    await using pooler = await startPooler(database.url, { mode: 'transaction', servers: 1 });
    await refuses(pooler.url, database);
    const client = new Client({ connectionString: pooler.url });
    await client.connect();
    const names = "name in ('search_path', 'statement_timeout', 'enable_seqscan')";
    const { rows } = await client.query(
      `select name from pg_settings where ${names} and setting is distinct from reset_val`,
    );
    await client.end();
    assert.deepEqual(rows, []);
  });

  it('refuses it while other clients use the pooler', async () => {
    await using database = await freshDatabase();
    await using pooler = await startPooler(database.url, { mode: 'transaction', servers: 3 });
    const over = new AbortController();
    const others = [1, 2, 3, 4].map(async () => {
      const client = new Client({ connectionString: pooler.url });
      await client.connect();
      while (!over.signal.aborted) await client.query('select 1');
      await client.end();
    });
    try {
      await refuses(pooler.url, database);
    } finally {
      over.abort();
      await Promise.all(others);
    }
  });

  it('refuses several poolers behind one address', async () => {
    await using database = await freshDatabase();
    await using cleanup = new AsyncDisposableStack();
    const urls: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const options = { mode: 'transaction', servers: 4 } as const;
      urls.push(cleanup.use(await startPooler(database.url, options)).url);
    }
    await using address = await startBalancer(urls);
    await refuses(address.url, database);
  });
});

describe('openStore with a server connection per session', net, () => {
  it('works behind a pooler in session mode', async () => {
    await using database = await freshDatabase();
    const options: PoolerOptions = { mode: 'session', servers: 20, resets: true };
    await using pooler = await startPooler(database.url, options);
    await works(pooler.url);
  });

  it('probes two sessions through a proxy, and more through a pooler', async () => {
    await using database = await freshDatabase();
    await using proxy = await startProxy(database.url);
    let came = 0;
    const nothing = proxy.hold('before', ({ type }) => {
      if (type === 'startup') came += 1;
      return false;
    });
    nothing.catch(assert.fail);
    await checkSession(proxy.url);
    assert.equal(came, 2);
    await using pooler = await startPooler(database.url, { mode: 'session', servers: 20 });
    await checkSession(pooler.url);
    assert.equal(pooler.clients(), 8);
  });

  it('names the problem if the server cannot be reached', async () => {
    await assert.rejects(checkSession('postgres://somebody:CANARY@127.0.0.1:1/x'), (error) => {
      assert(error instanceof CannotOpenStore);
      assert.match(error.message, /^Cannot connect to "postgres:\/\/somebody@127\.0\.0\.1:1\/x": /);
      return error.code === 'failed';
    });
  });
});

const program = findPgBouncer();
const skip = program === undefined ? 'no pgbouncer on this machine' : false;

describe('a real PgBouncer', { ...net, skip }, () => {
  const refused: PgBouncerOptions[] = [
    { mode: 'statement' },
    { mode: 'transaction' },
    { mode: 'transaction', settings: { default_pool_size: 1 } },
    { mode: 'transaction', settings: { min_pool_size: 5, server_round_robin: 1 } },
    { mode: 'transaction', settings: { server_reset_query_always: 1 } },
    { mode: 'transaction', settings: { ignore_startup_parameters: 'options' } },
  ];
  for (const options of refused) {
    it(`is refused: ${JSON.stringify(options)}`, async () => {
      await using database = await freshDatabase();
      await using pgbouncer = await startPgBouncer(program ?? '', database.url, options);
      await refuses(pgbouncer.url, database);
    });
  }

  for (const settings of [{}, { ignore_startup_parameters: 'options' }]) {
    it(`is accepted in session mode: ${JSON.stringify(settings)}`, async () => {
      await using database = await freshDatabase();
      const options: PgBouncerOptions = { mode: 'session', settings };
      await using pgbouncer = await startPgBouncer(program ?? '', database.url, options);
      await works(pgbouncer.url);
    });
  }
});

/** Opens all server connections of the pooler, and releases them. */
async function fill(pooler: Pooler, servers: number): Promise<void> {
  const clients = Array.from({ length: servers }, () => new Client(pooler.url));
  for (const client of clients) await client.connect();
  await Promise.all(clients.map(async (client) => client.query('begin')));
  await Promise.all(clients.map(async (client) => client.query('commit')));
  await Promise.all(clients.map(async (client) => client.end()));
}

/** Checks that the store is refused with a helpful message, before anything is created. */
async function refuses(url: string, database: Database): Promise<void> {
  const opening = openStore({ url, world: realWorld(), onFatal: assert.fail });
  const error = await opening.then(
    async (store) => store.close(),
    (reason: unknown) => reason,
  );
  assert(error instanceof CannotOpenStore, String(error));
  assert.equal(error.code, 'shared_session', error.message);
  assert.match(error.message, /a setting of a session was (lost|replaced by that of another) /);
  assert.match(error.message, /expected a session that keeps its server connection/);
  assert.match(error.message, /PostgreSQL directly, or to a pooler in session mode/);
  const [row] = await database.query("select to_regnamespace('ringback') is null as is_empty");
  assert.equal(row?.['is_empty'], true);
}

async function works(url: string): Promise<void> {
  const store = await openStore({ url, world: realWorld(), onFatal: assert.fail });
  try {
    const input = { name: 'first', role: 'all', version: '0', aloneHere: false } as const;
    const { node } = await store.edit('startNode', input);
    assert.deepEqual(await store.edit('heartbeat', { node }), { kind: 'alive' });
  } finally {
    await store.close();
  }
}

/** Distributes new connections round-robin. */
async function startBalancer(urls: readonly string[]): Promise<{ url: string } & AsyncDisposable> {
  let count = 0;
  const listener = createServer((socket) => {
    const { hostname, port } = new URL(urls[count % urls.length] ?? '');
    count += 1;
    const upstream = connect({ host: hostname, port: Number(port) });
    for (const one of [socket, upstream]) one.on('error', () => undefined);
    socket.pipe(upstream).pipe(socket);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(urls[0] ?? '');
  url.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      listener.close();
      await once(listener, 'close');
    },
  };
}
