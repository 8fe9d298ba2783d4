import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ensureTemplate, freshDatabase, openDatabase } from './database.ts';
import { sharedPostgres } from './shared.ts';

describe('freshDatabase', () => {
  it('gives each caller an empty database of its own', async () => {
    await using one = await freshDatabase();
    await using two = await freshDatabase();
    await one.query('create table t (n int)');
    await one.query('insert into t values ($1)', [7]);
    assert.deepEqual(await one.query('select n from t'), [{ n: 7 }]);
    await assert.rejects(two.query('select n from t'), /relation "t" does not exist/);
  });

  it('drops it afterwards, whoever is still connected', async () => {
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
  it('prepares it once, and every copy has what it has', async () => {
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
});
