// `ringback doctor`: what each check says about set-ups that are well and about broken ones, and that it
// disturbs nothing. It runs in this process, except beside a service that is a process of its own.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { checkPublicUrl } from '../../src/cli/doctor/address.ts';
import { checkCertificate } from '../../src/cli/doctor/certificate.ts';
import { checkClocks } from '../../src/cli/doctor/clock.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { judgeDisk } from '../../src/cli/doctor/folder.ts';
import { checkNames, nameToLookUp } from '../../src/cli/doctor/names.ts';
import { checkRuntime } from '../../src/cli/doctor/runtime.ts';
import { judgeClock } from '../../src/cli/doctor/store-file.ts';
import { judgeAhead, judgeServer } from '../../src/cli/doctor/store-server.ts';
import { realWorld } from '../../src/core/world.ts';
import { openRing } from '../../src/engine/unlock.ts';
import { openStore } from '../../src/store/open.ts';
import type { ExaminedServer } from '../../src/store/postgres/examine.ts';
import { makeCertificate } from '../egress/certificate.ts';
import { freshDatabase } from '../postgres/database.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import { newFolder, serve, type Env, type Folder } from './child.ts';
import { runHere } from './in-process.ts';

interface Examination {
  findings: Finding[];
  /** As it is printed. */
  text: string;
  failure: string | undefined;
  /** The findings of a check, as `state: message`. */
  of: (check: string) => string[];
}

/** Nothing is looked up and no port taken, unless the test says so. */
const quiet = { RINGBACK_PUBLIC_URL: 'http://localhost:8080', RINGBACK_PORT: '0' };

async function examine(env: Env): Promise<Examination> {
  const { out: text, failure } = await run(env, ['--json']);
  const findings = JSON.parse(text) as Finding[];
  const failures = findings.filter(({ state }) => state === 'failed').length;
  assert.equal(failure !== undefined, failures > 0, 'it fails when something failed');
  for (const { state, message, remedy } of findings) {
    assert.equal(state === 'ok', remedy === null, message);
  }
  const of = (check: string): string[] =>
    findings
      .filter((one) => one.check === check)
      .map(({ state, message }) => `${state}: ${message}`);
  return { findings, text, failure, of };
}

async function run(
  env: Env,
  args: readonly string[],
): Promise<{ out: string; failure: string | undefined }> {
  const { code, out, err } = await runHere(['doctor', ...args], { env: { ...quiet, ...env } });
  assert.ok(code === 0 ? err === '' : code === 1, err);
  return { out, failure: code === 0 ? undefined : failureIn(err, args.includes('--json')) };
}

function failureIn(err: string, isJson: boolean): string {
  if (!isJson) return err.trimEnd();
  const { error } = JSON.parse(err) as { error: { message: string } };
  return error.message;
}

let left: Promise<Folder> | undefined;
after(async () => (await left)?.[Symbol.asyncDispose]());

/** A data folder as a service leaves it: made once, then copied. */
async function settle(dataDir: string): Promise<void> {
  left ??= (async () => {
    const folder = await newFolder();
    const database = { dataDir: folder.path };
    const world = realWorld();
    const store = await openStore({ ...database, world, onFatal: assert.fail });
    await openRing({ database, encryptionKey: undefined }, store, world);
    await store.close();
    return folder;
  })();
  cpSync((await left).path, dataDir, { recursive: true });
}

describe('ringback doctor', () => {
  it('says a line for each check, and below it what to do', async () => {
    await using folder = await newFolder();
    const env = { RINGBACK_DATA: folder.path, RINGBACK_HOST: '192.0.2.1', RINGBACK_PORT: '8080' };
    const { out, failure } = await run(env, []);
    const lines = out.split('\n');
    assert.match(lines[0] ?? '', /^ok {7}runtime {5}Ringback .* on Node /);
    const port = lines.findIndex((line) => line.startsWith('failed   port        Cannot listen'));
    assert.match(lines[port + 1] ?? '', /^ {21}→ Set RINGBACK_HOST to an address of this machine/);
    assert.match(failure ?? '', /^1 of \d+ checks failed\.$/);
  });

  it('finds nothing wrong before the first start, and makes nothing', async () => {
    await using folder = await newFolder();
    const path = join(folder.path, 'data');
    const { findings, failure } = await examine({ RINGBACK_DATA: path });
    assert.deepEqual(
      findings.filter(({ state }) => state !== 'ok'),
      [],
    );
    assert.equal(failure, undefined);
    assert.equal(existsSync(path), false);
    assert.deepEqual(readdirSync(folder.path), []);
  });

  it('finds nothing wrong with what a service left', async () => {
    await using folder = await newFolder();
    await settle(folder.path);
    const { of, failure } = await examine({ RINGBACK_DATA: folder.path });
    assert.match(of('store').join(), /^ok: SQLite, [\d.]+ MB, sound$/);
    assert.deepEqual(of('schema'), ['ok: no migration is due']);
    assert.deepEqual(of('key'), ['ok: the encryption key is that of this database']);
    assert.equal(failure, undefined);
  });

  it('says all mistakes in the settings at once, and shows no secret', async () => {
    const secret = 'postgres://u:CANARY@h/db';
    const env = { RINGBACK_PORT: 'x', RINGBACK_LOG: 'loud', DATABASE_URL: secret };
    const { of, text, failure } = await examine(env);
    assert.equal(of('settings').length, 3);
    assert.match(of('settings').join(), /RINGBACK_PORT "x".*RINGBACK_LOG "loud".*ENCRYPTION_KEY/);
    assert.match(failure ?? '', /^3 of 4 checks failed, and the rest could not be looked at\.$/);
    assert.doesNotMatch(text, /CANARY/);
  });

  it('says mistakes in the variables of OpenTelemetry, with which a start would end', async () => {
    await using folder = await newFolder();
    const { of, text } = await examine({
      RINGBACK_DATA: folder.path,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://u:CANARY@collector',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    });
    assert.equal(of('settings').length, 2);
    assert.match(
      of('settings').join(),
      /^failed: .*OTLP_ENDPOINT.*failed: .*"grpc": expected http\/json/,
    );
    assert.equal(of('contracts').length, 1, 'the rest is looked at');
    assert.doesNotMatch(text, /CANARY/);
  });

  it('shows the warnings of a start, which are no failures', async () => {
    await using folder = await newFolder();
    const env = { RINGBACK_DATA: folder.path, RINGBACK_TYPO: '1' };
    const { of, failure } = await examine(env);
    assert.match(of('settings').join(), /^warning: RINGBACK_TYPO is no setting/);
    assert.equal(failure, undefined);
  });

  it('says that the data folder cannot be written to', async () => {
    await using folder = await newFolder();
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    const { of } = await examine({ RINGBACK_DATA: '/proc/ringback' });
    assert.match(of('folder').join(), /^failed: Cannot write to "\/proc"/);
  });

  it('says that the schema is newer than the program, or older', async () => {
    await using folder = await newFolder();
    await settle(folder.path);
    alter(folder.path, "insert into migration values (9999, 'from_the_future', 1)");
    alter(
      folder.path,
      'update migration set number = (select count(*) from migration) where number = 9999',
    );
    const newer = await examine({ RINGBACK_DATA: folder.path });
    assert.match(newer.of('schema').join(), /^failed: .*start the newer Ringback that wrote it$/);
    alter(
      folder.path,
      'delete from migration where number > (select max(number) - 2 from migration)',
    );
    const older = await examine({ RINGBACK_DATA: folder.path });
    assert.match(older.of('schema').join(), /^warning: Migrations are due: \d+ "/);
    assert.equal(older.failure, undefined);
  });

  it('says that the encryption key is another one, or gone', async () => {
    await using folder = await newFolder();
    await settle(folder.path);
    const other = randomBytes(32).toString('base64');
    const env = { RINGBACK_DATA: folder.path };
    const wrong = await examine({ ...env, RINGBACK_ENCRYPTION_KEY: other });
    assert.match(wrong.of('key').join(), /^failed: The encryption key is another one/);
    rmSync(join(folder.path, 'encryption.key'));
    assert.match((await examine(env)).of('key').join(), /^failed: ".*encryption.key" is not there/);
  });

  it('says that the file is damaged, or no database at all', async () => {
    await using folder = await newFolder();
    await settle(folder.path);
    const path = join(folder.path, 'ringback.db');
    const bytes = readFileSync(path);
    const pageBytes = bytes.readUInt16BE(16);
    bytes.fill(0xff, bytes.length - 8 * pageBytes);
    writeFileSync(path, bytes);
    const damaged = await examine({ RINGBACK_DATA: folder.path });
    assert.match(damaged.of('store').join(), /^failed: .*(is damaged|malformed)/);
    for (const file of readdirSync(folder.path)) {
      if (file !== 'encryption.key') rmSync(join(folder.path, file));
    }
    writeFileSync(path, 'this is no database, and long enough to be seen as what it is'.repeat(50));
    const none = await examine({ RINGBACK_DATA: folder.path });
    assert.match(none.of('store').join(), /^failed: Cannot read ".*": file is not a database/);
  });

  it('says what is wrong with a contract', async () => {
    await using folder = await newFolder();
    const file = join(folder.path, 'broken.yaml');
    writeFileSync(file, 'openapi: 3.0.4\ninfo: [');
    const { of } = await examine({ RINGBACK_DATA: folder.path, RINGBACK_CONTRACT: file });
    assert.match(of('contracts').join(), /^failed: .*broken\.yaml:3:1: Cannot read/);
  });

  it('knows a running service: it disturbs nothing, and its port is not taken by a stranger', async () => {
    await using folder = await newFolder();
    await using child = await serve({ RINGBACK_DATA: folder.path });
    const env = { RINGBACK_DATA: folder.path, RINGBACK_PORT: new URL(child.url).port };
    const { of, failure } = await examine(env);
    assert.match(of('store').join(), /^ok: SQLite, .* MB, in use by a running service, sound$/);
    assert.match(of('port').join(), /^ok: Ringback answers already at http:/);
    assert.equal(failure, undefined);
    assert.equal((await fetch(`${child.url}/readyz`)).status, 200);
  });

  it('says that another program has the port', async () => {
    await using folder = await newFolder();
    await using stranger = createServer(
      (_request, response) => void response.end('{"status":"ok"}'),
    );
    stranger.listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const address = stranger.address();
    assert(typeof address === 'object' && address !== null);
    const env = { RINGBACK_DATA: folder.path, RINGBACK_PORT: String(address.port) };
    const { of } = await examine(env);
    assert.match(of('port').join(), /^failed: Another program has port .* not as Ringback does$/);
    const plain = await examine({ ...env, RINGBACK_TLS_CERT: 'cert', RINGBACK_TLS_KEY: 'key' });
    assert.match(
      plain.of('port').join(),
      /^failed: Another program has port \d+: https:\S+ does not answer \(TLS: wrong version number\)$/,
    );
    const elsewhere = await examine({ ...env, RINGBACK_HOST: '192.0.2.1' });
    assert.match(elsewhere.of('port').join(), /^failed: Cannot listen on 192\.0\.2\.1/);
  });
});

function alter(folder: string, sql: string): void {
  const db = new DatabaseSync(join(folder, 'ringback.db'));
  db.exec(sql);
  db.close();
}

describe('ringback doctor on PostgreSQL', () => {
  const key = randomBytes(32).toString('base64');
  /** The server of the tests does not wait for its disk, which the doctor finds out. */
  const isOfServer = (finding: string): boolean =>
    !/^ok: PostgreSQL \d\d at|^failed: (fsync|full_page_writes) is off/.test(finding);

  it('finds nothing wrong with a database that is used, and knows its key', async () => {
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
    assert.deepEqual(of('schema'), ['ok: no migration is due']);
    assert.deepEqual(of('key'), ['ok: the encryption key is that of this database']);
    assert.deepEqual(of('clock').length, 2);
    const other = randomBytes(32).toString('base64');
    const wrong = await examine({ ...env, RINGBACK_ENCRYPTION_KEY: other });
    assert.match(wrong.of('key').join(), /^failed: The encryption key is another one/);
    await database.query("insert into ringback.migration values (9999, 'from_the_future', 1)");
    await database.query(
      `update ringback.migration set number = (select count(*) from ringback.migration)
       where number = 9999`,
    );
    assert.match((await examine(env)).of('schema').join(), /^failed: .*newer Ringback/);
  });

  it('says what is due in an empty one, and makes nothing there', async () => {
    await using database = await freshDatabase();
    const env = { DATABASE_URL: database.url, RINGBACK_ENCRYPTION_KEY: key };
    const { of } = await examine(env);
    assert.deepEqual(of('store').filter(isOfServer), []);
    assert.match(of('schema').join(), /^warning: Migrations are due: 1 "init"/);
    const [row] = await database.query("select to_regnamespace('ringback') is null as is_empty");
    assert.equal(row?.['is_empty'], true);
  });

  it('says that it cannot be reached, without its password', async () => {
    const env = {
      DATABASE_URL: 'postgres://somebody:CANARY@127.0.0.1:1/nothing',
      RINGBACK_ENCRYPTION_KEY: key,
    };
    const { of, text } = await examine(env);
    assert.match(of('store').join(), /^failed: Cannot connect to "postgres:\/\/somebody@127/);
    assert.doesNotMatch(text, /CANARY/);
  });
});

describe('judgeServer', () => {
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
    [{ versionNumber: 130_011 }, /^failed It is PostgreSQL 13, expected 14 to 18$/],
    [{ versionNumber: 190_000 }, /^warning It is PostgreSQL 19; Ringback was tested up to 18$/],
    [{ fsync: 'off' }, /^failed fsync is off: after a crash/],
    [{ fullPageWrites: 'off' }, /^failed full_page_writes is off: after a crash/],
    [{ synchronousCommit: 'off' }, /^failed synchronous_commit is off in our sessions/],
    [{ mayCreate: false }, /^failed .* may not make tables in the schema ringback$/],
    [{ mayCreate: false, hasSchema: false }, /^failed .* may not make the schema ringback$/],
    [{ connections: 95 }, /^warning The server has 95 of 100 connections$/],
  ];
  for (const [change, expected] of cases) {
    it(`judges ${JSON.stringify(change)}`, () => {
      const found = judgeServer('x', { ...well, ...change });
      assert.match(found.map(({ state, message }) => `${state} ${message}`).join(), expected);
    });
  }
});

describe('checkCertificate', () => {
  const nowMs = Date.UTC(2026, 10, 15);
  const cases: [until: string, publicUrl: string | undefined, found: RegExp][] = [
    ['20271115', undefined, /^ok the certificate is valid for 365 more days, and its key fits$/],
    ['20271115', 'https://hooks.test', /^ok /],
    ['20271115', 'https://127.0.0.1', /^ok /],
    ['20271115', 'https://other.test', /^warning The certificate is not made out to "other.test"/],
    ['20261120', undefined, /^warning The certificate expires in 5 days$/],
    ['20261101', undefined, /^failed The certificate has expired on 2026-11-01$/],
  ];
  for (const [until, publicUrl, expected] of cases) {
    it(`judges one that is valid until ${until}, for ${publicUrl}`, async () => {
      await using folder = await newFolder();
      const { certificate, key } = makeCertificate('hooks.test', { until });
      const [tlsCert, tlsKey] = ['cert.pem', 'key.pem'].map((name) => join(folder.path, name));
      assert(tlsCert !== undefined && tlsKey !== undefined);
      writeFileSync(tlsCert, certificate);
      writeFileSync(tlsKey, key);
      const { state, message } = checkCertificate({ tlsCert, tlsKey, publicUrl }, nowMs);
      assert.match(`${state} ${message}`, expected);
    });
  }

  it('finds out that key and certificate do not belong together, or are none', async () => {
    await using folder = await newFolder();
    const tlsCert = join(folder.path, 'cert.pem');
    const tlsKey = join(folder.path, 'key.pem');
    writeFileSync(tlsCert, makeCertificate('a.test').certificate);
    writeFileSync(tlsKey, makeCertificate('b.test').key);
    const files = { tlsCert, tlsKey, publicUrl: undefined };
    assert.match(checkCertificate(files, nowMs).message, /is not the one of the certificate/);
    writeFileSync(tlsKey, 'no key');
    assert.match(checkCertificate(files, nowMs).message, /^Cannot read the certificate or its key/);
    const early = checkCertificate({ ...files, tlsKey: tlsCert }, Date.UTC(2019, 0, 1));
    assert.equal(early.state, 'failed');
  });
});

describe('a small check', () => {
  it('wants a runtime that is new enough', () => {
    assert.equal(checkRuntime('24.12.0', '24.12').state, 'ok');
    assert.equal(checkRuntime('26.1.0').state, 'ok');
    assert.match(checkRuntime('24.2.0').message, /runs on Node 24\.2\.0, expected 24\.12 or newer/);
  });

  it('wants room on the disk', () => {
    assert.equal(judgeDisk(5e9).state, 'ok');
    assert.equal(judgeDisk(5e8).state, 'warning');
    assert.deepEqual([judgeDisk(5e6).state, judgeDisk(5e6).message], ['failed', '0.0 GB are free']);
  });

  it('wants the clocks to go, and to agree', async () => {
    const world = realWorld();
    assert.equal((await checkClocks(world)).state, 'ok');
    const sleep = async (): Promise<void> => undefined;
    const stuck = { nowMs: () => world.nowMs(), monotonicMs: () => 5, sleep };
    assert.match((await checkClocks(stuck)).message, /monotonic clock went 0 ms/);
    const unset = { ...stuck, nowMs: () => 0 };
    assert.match((await checkClocks(unset)).message, /believes that it is 1970/);
    const states = [100, 5_000, -120_000].map((aheadMs) => judgeAhead(aheadMs));
    assert.deepEqual(
      states.map(({ state }) => state),
      ['ok', 'warning', 'failed'],
    );
    assert.match(states[1]?.message ?? '', /5\.0 s behind the database's/);
    assert.match(states[2]?.message ?? '', /120\.0 s ahead of the database's/);
    assert.equal(judgeClock(1_000_000, 950_000).state, 'ok');
    assert.match(judgeClock(1_000_000, 0).message, /last there 1000 s later/);
  });

  it('wants names to be looked up, and goes on without', async () => {
    const answering = (kind: 'missing' | 'failed' | 'addresses') => ({
      resolve: async () => {
        if (kind === 'missing') return { kind };
        if (kind === 'failed') return { kind, reason: 'timeout' } as const;
        return { kind, addresses: ['192.0.2.7'] };
      },
    });
    const say = async (kind: 'missing' | 'failed' | 'addresses'): Promise<string> => {
      const { state, message } = await checkNames(answering(kind), 'a.test');
      return `${state} ${message}`;
    };
    assert.equal(await say('addresses'), 'ok "a.test" is 192.0.2.7');
    assert.equal(await say('missing'), 'warning The name server knows no address of "a.test"');
    assert.match(await say('failed'), /^warning The name server does not answer in time/);
    assert.equal(nameToLookUp('x.test', 'https://y.test'), 'x.test');
    assert.equal(nameToLookUp(undefined, 'https://y.test/'), 'y.test');
    assert.equal(nameToLookUp(undefined, 'https://[::1]:8080'), 'example.com');
    assert.equal(nameToLookUp(undefined, undefined), 'example.com');
  });

  it('wants a public URL that clients can use safely', () => {
    const judge = (publicUrl: string | undefined, host: string): string =>
      checkPublicUrl({ publicUrl, host }).state;
    assert.equal(judge(undefined, '127.0.0.1'), 'ok');
    assert.equal(judge(undefined, '0.0.0.0'), 'warning');
    assert.equal(judge('http://hooks.example.com', '0.0.0.0'), 'warning');
    assert.equal(judge('https://hooks.example.com', '0.0.0.0'), 'ok');
  });
});
