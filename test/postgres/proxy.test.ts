// The proxy breaks connections exactly at the requested message, and nowhere else. Other tests rely on this for
// connections that are lost at COMMIT.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, beforeEach, describe, it } from 'node:test';
import { Client, type ClientConfig } from 'pg';
import { freshDatabase } from './database.ts';
import { backendReader, frontendReader } from './wire-messages.ts';
import {
  asksToCommit,
  hasCommitted,
  nthOfAll,
  nthOfConnection,
  startProxy,
  type PostgresProxy,
  type When,
} from './proxy.ts';

/** A safety net for tests that would hang: passing tests take far less. */
const net = { timeout: 300_000 };

const database = await freshDatabase();
after(async () => database[Symbol.asyncDispose]());
await database.query('create table t (n int)');
beforeEach(async () => void (await database.query('delete from t')));

const commit = { text: 'commit' };
const preparedCommit = { name: 'commit', text: 'commit' };

describe('startProxy', net, () => {
  it('passes everything on and counts it', async () => {
    await using proxy = await startProxy(database.url);
    await using client = await connected(proxy);
    const bytes = randomBytes(3_000_000);
    const { rows } = await client.query('select $1::bytea as bytes, 1 as n', [bytes]);
    assert.deepEqual(rows, [{ bytes, n: 1 }]);
    const before = { ...proxy.counts };
    await client.query('select 1');
    // Query; row description, data row, command complete, ready for query.
    const { frontend, backend } = before;
    assert.deepEqual(proxy.counts, { frontend: frontend + 1, backend: backend + 4 });
    assert.equal(proxy.connections, 1);
  });

  it('ends one side when the other has ended', async () => {
    await using proxy = await startProxy(database.url);
    await using client = await connected(proxy);
    const ended = endOf(client);
    await database.query('select pg_terminate_backend($1)', [await backendOf(client)]);
    await ended;
    const other = await connected(proxy);
    const backend = await backendOf(other);
    await other.end();
    await untilGone(backend);
    assert.equal(proxy.connections, 0);
  });

  it('refuses encryption', async () => {
    await using proxy = await startProxy(database.url);
    const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
    socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
    const [answer] = await once(socket, 'data');
    assert.equal(String(answer), 'N');
    assert.deepEqual(proxy.counts, { frontend: 0, backend: 0 });
    socket.destroy();
  });
});

describe('cut', net, () => {
  for (const [name, query] of Object.entries({ simple: commit, prepared: preparedCommit })) {
    it(`before a ${name} COMMIT: nothing is committed`, async () => {
      assert.deepEqual(await cutAt('before', asksToCommit, query), { kept: false, told: false });
    });

    it(`before a ${name} COMMIT, after all other responses: nothing is committed`, async () => {
      assert.deepEqual(await cutAt('answered', asksToCommit, query), { kept: false, told: false });
    });

    it(`after a ${name} COMMIT: it is committed, without a response to the client`, async () => {
      assert.deepEqual(await cutAt('after', asksToCommit, query), { kept: true, told: false });
    });

    it(`before the response to a ${name} COMMIT: it is committed, and the client does not know`, async () => {
      assert.deepEqual(await cutAt('before', hasCommitted, query), { kept: true, told: false });
    });
  }

  it('before a COMMIT, after all other responses, including those of the same write', async () => {
    await using proxy = await startProxy(database.url);
    await using client = await connected(proxy, { pipeline: true });
    void proxy.cut('answered', asksToCommit);
    const { stream } = client.connection;
    stream.cork();
    const written = ['begin', 'insert into t values (1)'].map(async (sql) => client.query(sql));
    const committed = assert.rejects(client.query(commit));
    stream.uncork();
    assert.equal((await Promise.all(written)).length, 2);
    await committed;
    await untilGone();
    assert.deepEqual(await database.query('select n from t'), []);
  });

  it('cuts once: the next connection passes', async () => {
    await using proxy = await startProxy(database.url);
    const cut = proxy.cut('before', nthOfConnection('frontend', 1));
    await assert.rejects(connected(proxy));
    assert.equal((await cut).type, 'startup');
    await using client = await connected(proxy);
    await client.query('select 1');
  });

  it('cuts all open connections', async () => {
    await using proxy = await startProxy(database.url);
    await using one = await connected(proxy);
    await using two = await connected(proxy);
    const ended = Promise.all([endOf(one), endOf(two)]);
    proxy.cutAll();
    await ended;
    await using three = await connected(proxy);
    await three.query('select 1');
  });

  it('at every message of a transaction: it is kept exactly from the commit on', async () => {
    const whole = await messagesOfTransaction();
    for (const side of ['frontend', 'backend'] as const) {
      const messages = whole.filter((message) => message.side === side);
      const isCommit = side === 'frontend' ? asksToCommit : hasCommitted;
      const commitAt = messages.findIndex(isCommit) + 1;
      assert.ok(commitAt > 0 && messages.length > 5);
      for (let k = 1; k <= messages.length; k += 1) {
        for (const when of ['before', 'after'] as const) {
          const { kept, told } = await cutAt(when, nthOfAll(side, k), commit);
          // The server commits before it responds, so the commit is kept even if the response is cut.
          const passed = when === 'after' || side === 'backend' ? k : k - 1;
          const place = `cut ${when} ${side} message ${k} (${messages[k - 1]?.type})`;
          assert.equal(kept, passed >= commitAt, place);
          assert.ok(kept || !told, `${place}: the client got a false confirmation`);
        }
      }
    }
  });
});

describe('hold', net, () => {
  it('holds one connection at its message until it is resumed', async () => {
    await using proxy = await startProxy(database.url);
    await using one = await connected(proxy);
    await using two = await connected(proxy);
    await one.query('begin');
    await one.query('insert into t values (1)');
    const held = proxy.hold('before', asksToCommit);
    const answer = one.query('commit');
    await held;
    assert.deepEqual((await two.query('select * from t')).rows, []);
    proxy.resume();
    await answer;
    assert.deepEqual((await two.query('select * from t')).rows, [{ n: 1 }]);
  });
});

describe('blackHole', net, () => {
  it('passes nothing, on old and new connections, and everything once resumed', async () => {
    await using proxy = await startProxy(database.url);
    await using client = await connected(proxy);
    proxy.blackHole();
    const seen = { ...proxy.counts };
    const answer = client.query('select 1 as n');
    const other = new Client({ connectionString: proxy.url, connectionTimeoutMillis: 100 });
    await assert.rejects(other.connect(), /timeout/);
    assert.deepEqual(proxy.counts, seen);
    proxy.resume();
    assert.deepEqual((await answer).rows, [{ n: 1 }]);
  });

  const ways = {
    'has disconnected': async (client: Client) => client.end(),
    'was destroyed': async (client: Client) => void client.connection.stream.destroy(),
  };
  for (const [how, leave] of Object.entries(ways)) {
    it(`hides from the server that the client ${how}: its transaction stays open`, async () => {
      await using proxy = await startProxy(database.url);
      await using client = await connected(proxy);
      const backend = await backendOf(client);
      await client.query('begin');
      await client.query('insert into t values (1)');
      const ended = endOf(client);
      proxy.blackHole();
      await leave(client);
      await ended;
      // Gives a wrongly passed message time to arrive: each look is a round trip to the server.
      for (let looks = 0; looks < 20; looks += 1) {
        assert.equal(await stateOf(backend), 'idle in transaction');
      }
      proxy.resume();
      await untilGone(backend);
      assert.deepEqual(await database.query('select n from t'), []);
    });
  }
});

describe('frontendReader, backendReader', net, () => {
  it('find the same messages wherever the bytes are cut', async () => {
    const messages = await messagesOfTransaction();
    for (const [side, read] of [
      ['frontend', frontendReader(() => assert.fail('no encryption was requested'))],
      ['backend', backendReader()],
    ] as const) {
      const sent = messages.filter((message) => message.side === side);
      const bytes = Buffer.concat(sent.map((message) => message.bytes));
      const found = [...bytes].flatMap((byte) => read(Buffer.from([byte])));
      const shape = ({ type, sql, tag }: (typeof found)[number]): unknown[] => [type, sql, tag];
      assert.deepEqual(found.map(shape), sent.map(shape));
      assert.deepEqual(Buffer.concat(found.map((message) => message.bytes)), bytes);
    }
  });
});

type Query = typeof commit | typeof preparedCommit;
type Matches = Parameters<PostgresProxy['cut']>[1];
type Passing = Parameters<Matches>[0];

interface Left {
  /** Whether the row exists. */
  kept: boolean;
  /** Whether the client got a confirmation. */
  told: boolean;
}

/** Cuts a transaction, and returns what is left once the server has noticed. */
async function cutAt(when: When, matches: Matches, query: Query): Promise<Left> {
  await database.query('delete from t');
  await using proxy = await startProxy(database.url);
  let wasCut = false;
  const cut = proxy.cut(when, query === preparedCommit ? second(matches) : matches);
  void cut.then(() => (wasCut = true));
  const told = await runTransaction(proxy, query).then(
    () => true,
    () => false,
  );
  await untilGone();
  assert.ok(wasCut, 'the message was seen');
  assert.equal(proxy.connections, 0);
  return { kept: (await database.query('select n from t')).length === 1, told };
}

function second(matches: Matches): Matches {
  let found = 0;
  return (message) => matches(message) && (found += 1) === 2;
}

async function runTransaction(proxy: PostgresProxy, query: Query): Promise<void> {
  await using client = await connected(proxy);
  if (query === preparedCommit) await client.query(query); // Later executions need no Parse message.
  await client.query('begin');
  await client.query('insert into t values ($1)', [1]);
  await client.query(query);
}

async function messagesOfTransaction(): Promise<Passing[]> {
  await using proxy = await startProxy(database.url);
  const seen: Passing[] = [];
  void proxy.cut('after', (message) => {
    seen.push(message);
    return false;
  });
  await using client = await connected(proxy);
  await client.query('begin');
  await client.query('insert into t values ($1)', [1]);
  await client.query(commit);
  return [...seen];
}

class PassingClient extends Client implements AsyncDisposable {
  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

async function connected(proxy: PostgresProxy, options: ClientConfig = {}): Promise<PassingClient> {
  const name = 'behind the proxy';
  const client = new PassingClient({
    ...options,
    connectionString: proxy.url,
    application_name: name,
  });
  client.on('error', () => undefined); // The proxy cuts it.
  await client.connect();
  return client;
}

async function endOf(client: Client): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  client.once('end', resolve);
  return promise;
}

async function backendOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

async function stateOf(backend: number): Promise<unknown> {
  const sql = 'select state from pg_stat_activity where pid = $1';
  return (await database.query(sql, [backend]))[0]?.['state'];
}

/** Resolves when the server has ended this backend, or all backends of the proxy's connections. */
async function untilGone(pid?: number): Promise<void> {
  for (let tries = 0; tries < 10_000; tries += 1) {
    const found = await database.query(
      `select from pg_stat_activity where datname = current_database()
         and application_name = 'behind the proxy' and ($1::int is null or pid = $1)`,
      [pid ?? null],
    );
    if (found.length === 0) return;
  }
  assert.fail('The server did not notice');
}
