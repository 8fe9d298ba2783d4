// Connections to a real PostgreSQL: each setting must be in force, whatever a role, a URL or a pooler sets.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as dial, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { Client } from 'pg';
import { connect, type ConnectOptions } from '../../src/store/postgres/connection/connect.ts';
import { failureKind, isConnectionLost } from '../../src/store/postgres/connection/failure.ts';
import { statement } from '../../src/store/postgres/connection/pipeline.ts';
import { freshDatabase } from '../postgres/database.ts';

const promises = {
  synchronous_commit: 'on',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  search_path: 'ringback',
  client_encoding: 'UTF8',
  TimeZone: 'UTC',
  statement_timeout: '10s',
  lock_timeout: '3s',
  idle_in_transaction_session_timeout: '5s',
  application_name: 'ringback test',
};
const plans = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
};

describe('connect', () => {
  it('applies every setting', async () => {
    await using database = await freshDatabase();
    await holds(database.url, { ...promises, enable_seqscan: 'on' });
    await holds(database.url, { ...promises, ...plans }, { kind: 'engine' });
    const patience = { statement_timeout: '0', lock_timeout: '1min' };
    await holds(database.url, { ...promises, ...patience }, { kind: 'schema' });
  });

  it('applies them by start options, before any statement', async () => {
    await using database = await freshDatabase();
    const client = await open(database.url, { kind: 'engine' });
    const settings = { ...promises, ...plans };
    const { rows } = await client.query(
      "select name from pg_settings where name = any($1) and source <> 'client'",
      [Object.keys(settings)],
    );
    await client.end();
    assert.deepEqual(rows, []);
  });

  it('overrides defaults of a role, a database or a URL', async () => {
    await using database = await freshDatabase();
    const role = `ringback_test_${randomBytes(6).toString('hex')}`;
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`create role ${role} login password 'plain-password'`);
    try {
      await database.query(`alter role ${role} set synchronous_commit = off`);
      await database.query(`alter role ${role} set default_transaction_read_only = on`);
      await database.query(`alter database ${name} set timezone = 'Asia/Tokyo'`);
      await database.query(`alter database ${name} set client_encoding = 'LATIN1'`);
      const url = new URL(database.url);
      Object.assign(url, { username: role, password: 'plain-password' });
      url.searchParams.set('statement_timeout', '1');
      url.searchParams.set('lock_timeout', '1');
      url.searchParams.set('application_name', 'stranger');
      url.searchParams.set('options', '-c synchronous_commit=local -c work_mem=5MB');
      await holds(url.href, { ...promises, work_mem: '5MB' });
    } finally {
      await database.query(`drop role ${role}`);
    }
  });

  it('uses statements for start options that a pooler refuses or drops', async () => {
    await using database = await freshDatabase();
    for (const manner of ['refuses', 'drops'] as const) {
      await using pooler = await startPooler(database.url, manner);
      await holds(pooler.url, { ...promises, ...plans }, { kind: 'engine' });
      assert.equal(pooler.seen(), manner === 'refuses' ? 2 : 1);
    }
  });

  it('returns counts, times and sums as numbers, and bytes as bytes', async () => {
    await using database = await freshDatabase();
    const client = await open(database.url);
    const { rows } = await client.query(`
      select count(*), 9007199254740991::bigint as never, sum(1::bigint), '\\x00ff'::bytea as bytes,
        0.5::float8 as real, null::bigint as nothing`);
    assert.deepEqual(rows, [
      {
        count: 1,
        never: Number.MAX_SAFE_INTEGER,
        sum: 1,
        bytes: Buffer.from([0, 255]),
        real: 0.5,
        nothing: null,
      },
    ]);
    for (const value of ['9007199254740992', '0.5::numeric']) {
      await assert.rejects(client.query(`select ${value}`), /expected a safe integer/);
    }
    await client.query('select 1');
    await client.end();
  });

  it('reports when an idle connection breaks, and only then', async () => {
    await using database = await freshDatabase();
    const lost: Error[] = [];
    const client = await open(database.url, { onLost: (error) => lost.push(error) });
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const ended = new Promise((resolve) => client.once('end', resolve));
    await database.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await ended;
    assert.equal(lost.length, 1);
    assert(isConnectionLost(lost[0]));
    await assert.rejects(client.query('select 1'), (error) => failureKind(error) === 'unavailable');

    const other = await open(database.url, {
      onLost: () => assert.fail('the test itself has closed it'),
    });
    await other.end();
  });

  it('times out on a server that accepts the connection but does not respond', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await assert.rejects(open(`postgres://someone@127.0.0.1:${port}/x`), (error) => {
      assert.equal(failureKind(error), 'unavailable');
      return true;
    });
    server.close();
  });
});

describe('statement', () => {
  it('has a name derived from its text, short enough for the server', () => {
    const one = statement('select 1');
    assert.equal(statement('select 1'), one);
    assert.equal(one.text, 'select 1');
    assert.match(one.name, /^rb_[0-9a-f]{16}$/);
    assert.notEqual(statement('select 2').name, one.name);
  });

  it('is prepared once per connection', async () => {
    await using database = await freshDatabase();
    const client = await open(database.url);
    const add = statement('select $1::int + 1 as sum');
    for (const value of [1, 2]) {
      const { rows } = await client.query({ ...add, values: [value] });
      assert.deepEqual(rows, [{ sum: value + 1 }]);
    }
    const { rows } = await client.query(
      'select name, (generic_plans + custom_plans)::int as runs from pg_prepared_statements',
    );
    await client.end();
    assert.deepEqual(rows, [{ name: add.name, runs: 2 }]);
  });
});

async function open(url: string, changes: Partial<ConnectOptions> = {}): Promise<Client> {
  return connect({ url, kind: 'plain', purpose: 'test', onLost: () => {}, ...changes });
}

async function holds(
  url: string,
  settings: Readonly<Record<string, string>>,
  changes: Partial<ConnectOptions> = {},
): Promise<void> {
  const client = await open(url, changes);
  try {
    const { rows } = await client.query<{ name: string; value: string }>(
      'select name, current_setting(name) as value from unnest($1::text[]) as name',
      [Object.keys(settings)],
    );
    assert.deepEqual(Object.fromEntries(rows.map(({ name, value }) => [name, value])), settings);
  } finally {
    await client.end();
  }
}

interface Pooler extends AsyncDisposable {
  url: string;
  /** The number of connections opened. */
  seen: () => number;
}

/** Simulates a pooler that does not support the start parameter `options`. */
async function startPooler(target: string, manner: 'refuses' | 'drops'): Promise<Pooler> {
  const { hostname, port } = new URL(target);
  let seen = 0;
  const server = createServer((socket) => {
    seen += 1;
    socket.on('error', () => {});
    socket.once('data', (start: Buffer) => {
      const fields = start.subarray(8).toString().split('\0').slice(0, -2);
      const at = fields.findIndex((field, index) => index % 2 === 0 && field === 'options');
      if (at >= 0 && manner === 'refuses') {
        socket.end(refusal('unsupported startup parameter: options'));
        return;
      }
      if (at >= 0) fields.splice(at, 2);
      pass(socket, startMessage(fields), Number(port), hostname);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    seen: () => seen,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

function pass(socket: Socket, start: Buffer, port: number, host: string): void {
  const upstream = dial({ port, host });
  upstream.on('error', () => socket.destroy());
  upstream.write(start);
  socket.pipe(upstream).pipe(socket);
}

function startMessage(fields: readonly string[]): Buffer {
  const text = Buffer.from(`${fields.join('\0')}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + text.length, 0);
  head.writeInt32BE(196_608, 4);
  return Buffer.concat([head, text]);
}

function refusal(message: string): Buffer {
  const text = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(4 + text.length, 1);
  return Buffer.concat([head, text]);
}
