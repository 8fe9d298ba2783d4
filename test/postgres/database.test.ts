import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ensureTemplate, freshDatabase, openDatabase } from './database.ts';
import { sharedPostgres } from './shared-server.ts';

const execute = promisify(execFile);

describe('freshDatabase', () => {
  it('gives each caller an empty database of its own', async () => {
    await using one = await freshDatabase();
    await using two = await freshDatabase();
    await one.query('create table t (n int)');
    await one.query('insert into t values ($1)', [7]);
    assert.deepEqual(await one.query('select n from t'), [{ n: 7 }]);
    await assert.rejects(two.query('select n from t'), /relation "t" does not exist/);
  });

  it('drops it afterwards, even with open connections', async () => {
    const database = await freshDatabase();
    await using other = openDatabase(database.url);
    await other.query('select 1');
    await using server = openDatabase(await sharedPostgres());
    const name = new URL(database.url).pathname.slice(1);
    const find = async (): Promise<unknown[]> =>
      server.query('select datname from pg_database where datname = $1', [name]);
    assert.deepEqual(await find(), [{ datname: name }]);
    await database[Symbol.asyncDispose]();
    assert.deepEqual(await find(), []);
  });
});

describe('ensureTemplate', () => {
  it('prepares it once, and every copy has its content', async () => {
    const name = `ringback_test_template_${process.pid}`;
    let prepared = 0;
    const prepare = async (url: string): Promise<void> => {
      prepared += 1;
      await using database = openDatabase(url);
      await database.query('create table t as select 7 as n');
    };
    await Promise.all([ensureTemplate(name, prepare), ensureTemplate(name, prepare)]);
    assert.equal(prepared, 1);
    await using one = await freshDatabase({ template: name });
    await using two = await freshDatabase({ template: name });
    await one.query('update t set n = 8');
    assert.deepEqual(await two.query('select n from t'), [{ n: 7 }]);
  });

  it('prepares it once for several processes', async () => {
    const name = `ringback_test_processes_${process.pid}`;
    const source = `
      import { ensureTemplate } from ${JSON.stringify(join(import.meta.dirname, 'database.ts'))};
      await ensureTemplate('${name}', async () => console.log('prepared'));`;
    const env = { ...process.env, TEST_DATABASE_URL: await sharedPostgres() };
    const args = ['--input-type=module', '--eval', source];
    const asked = Array.from({ length: 4 }, async () => execute(process.execPath, args, { env }));
    const said = (await Promise.all(asked)).map(({ stdout, stderr }) => stdout + stderr);
    assert.equal(said.join(''), 'prepared\n');
    await using copy = await freshDatabase({ template: name });
    assert.deepEqual(await copy.query('select 1 as n'), [{ n: 1 }]);
  });

  it('does not use a template whose preparation failed', async () => {
    const name = `ringback_test_half_${process.pid}`;
    const failing = async (): Promise<void> => Promise.reject(new Error('no'));
    await assert.rejects(ensureTemplate(name, failing), /no/);
    await assert.rejects(freshDatabase({ template: name }), /does not exist/);
    await ensureTemplate(name, async () => undefined);
    await using copy = await freshDatabase({ template: name });
    assert.deepEqual(await copy.query('select 1 as n'), [{ n: 1 }]);
  });
});

/** Leaves no test databases on the user's server. */
after(async () => {
  await using server = openDatabase(await sharedPostgres());
  const made = await server.query('select datname as name from pg_database where datname like $1', [
    `ringback\\_test\\_%\\_${process.pid}%`,
  ]);
  for (const { name } of made) await server.query(`drop database "${String(name)}" with (force)`);
});
