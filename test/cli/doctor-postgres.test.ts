// `ringback doctor` on PostgreSQL: a database in use, an empty one, and none; and the checks of a server.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { assessServer } from '../../src/cli/doctor/store-server.ts';
import { realWorld } from '../../src/core/base/world.ts';
import { openRing } from '../../src/engine/access/check-encryption-key.ts';
import { openStore } from '../../src/store/open/open.ts';
import type { ExaminedServer } from '../../src/store/postgres/connection/examine.ts';
import { freshDatabase } from '../postgres/database.ts';
import { startPooler } from '../postgres/pooler.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import { examine } from './run-doctor.ts';

describe('ringback doctor on PostgreSQL', () => {
  const key = randomBytes(32).toString('base64');
  /** The test server runs with fsync off, which the doctor reports. */
  const isOfServer = (finding: string): boolean =>
    !/^ok: PostgreSQL \d\d at|^failed: (fsync|full_page_writes) is off/.test(finding);

  it('finds no problem in a database in use, and recognizes its key', async () => {
    await using database = await freshStoreDatabase();
    const { url } = database;
    const world = realWorld();
    const store = await openStore({ url, world, onFatal: assert.fail });
    await openRing(
      { database: { url }, encryptionKey: [Buffer.from(key, 'base64')] },
      store,
      world,
    );
    await store.close();
    const env = { DATABASE_URL: url, RINGBACK_ENCRYPTION_KEY: key };
    const { of } = await examine(env);
    assert.deepEqual(of('store').filter(isOfServer), []);
    assert.deepEqual(of('schema'), ['ok: up to date, no migration pending']);
    assert.deepEqual(of('key'), ['ok: the encryption key matches this database']);
    assert.deepEqual(of('clock').length, 2);
    const other = randomBytes(32).toString('base64');
    const wrong = await examine({ ...env, RINGBACK_ENCRYPTION_KEY: other });
    assert.match(wrong.of('key').join(), /^failed: The encryption key does not match/);
    await database.query("insert into ringback.migration values (9999, 'from_the_future', 1)");
    await database.query(
      `update ringback.migration set number = (select count(*) from ringback.migration)
       where number = 9999`,
    );
    assert.match((await examine(env)).of('schema').join(), /^failed: .*newer Ringback/);
  });

  it('lists the pending migrations of an empty one, and changes nothing', async () => {
    await using database = await freshDatabase();
    const env = { DATABASE_URL: database.url, RINGBACK_ENCRYPTION_KEY: key };
    const { of } = await examine(env);
    assert.deepEqual(of('store').filter(isOfServer), []);
    assert.match(of('schema').join(), /^warning: Migrations are pending: 1 "init"/);
    const [row] = await database.query("select to_regnamespace('ringback') is null as is_empty");
    assert.equal(row?.['is_empty'], true);
  });

  it('reports that it cannot connect, without the password', async () => {
    const env = {
      DATABASE_URL: 'postgres://somebody:CANARY@127.0.0.1:1/nothing',
      RINGBACK_ENCRYPTION_KEY: key,
    };
    const { of, text } = await examine(env);
    assert.match(of('store').join(), /^failed: Cannot connect to "postgres:\/\/somebody@127/);
    assert.doesNotMatch(text, /CANARY/);
  });

  it('refuses a pooler in transaction mode, and suggests a remedy', async () => {
    await using database = await freshStoreDatabase();
    await using pooler = await startPooler(database.url, { mode: 'transaction', servers: 2 });
    const env = { DATABASE_URL: pooler.url, RINGBACK_ENCRYPTION_KEY: key };
    const { findings, of } = await examine(env);
    assert.match(
      of('store').join(),
      /^failed: Cannot open .*: a setting of a session was replaced/,
    );
    const [remedy] = findings.flatMap((one) => (one.check === 'store' ? one.remedy : []));
    assert.match(remedy ?? '', /PostgreSQL directly, or to a pooler in session mode .*PgBouncer$/);
    assert.deepEqual(of('schema'), []);
  });
});

describe('assessServer', () => {
  const well: ExaminedServer = {
    versionNumber: 180_001,
    fsync: 'on',
    fullPageWrites: 'on',
    synchronousCommit: 'on',
    hasSchema: true,
    mayCreate: true,
    connectionsMax: 100,
    connections: 20,
    aheadMs: 0,
    encryptionCheck: undefined,
  };
  const cases: [change: Partial<ExaminedServer>, found: RegExp][] = [
    [{}, /^ok PostgreSQL 18 at x$/],
    [{ versionNumber: 130_011 }, /^failed PostgreSQL 13 found, expected 14 to 18$/],
    [{ versionNumber: 190_000 }, /^warning PostgreSQL 19 found; Ringback is tested up to 18$/],
    [{ fsync: 'off' }, /^failed fsync is off: a server crash/],
    [{ fullPageWrites: 'off' }, /^failed full_page_writes is off: a server crash/],
    [{ synchronousCommit: 'off' }, /^failed synchronous_commit is off in Ringback’s sessions/],
    [{ mayCreate: false }, /^failed .* is not allowed to create tables in the schema ringback$/],
    [
      { mayCreate: false, hasSchema: false },
      /^failed .* is not allowed to create the schema ringback$/,
    ],
    [{ connections: 95 }, /^warning The server uses 95 of 100 connections$/],
  ];
  for (const [change, expected] of cases) {
    it(`checks ${JSON.stringify(change)}`, () => {
      const found = assessServer('x', { ...well, ...change });
      assert.match(found.map(({ state, message }) => `${state} ${message}`).join(), expected);
    });
  }
});
