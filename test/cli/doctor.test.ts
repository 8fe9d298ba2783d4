// `ringback doctor`: the findings of each check for working and broken set-ups, and that it changes nothing.
// It runs in this process; the running service beside it is a separate process.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { realWorld } from '../../src/core/base/world.ts';
import { openRing } from '../../src/engine/access/check-encryption-key.ts';
import { openStore } from '../../src/store/open/open.ts';
import { newFolder, serve, type Folder } from './ringback-process.ts';
import { examine, runDoctor } from './run-doctor.ts';
import { isColoured, noTerminal, runOnTerminal } from './pty.ts';

let left: Promise<Folder> | undefined;
after(async () => (await left)?.[Symbol.asyncDispose]());

/** Fills a data folder as a service leaves it; created once, then copied. */
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
  it('prints one line per check, followed by the remedy', async () => {
    await using folder = await newFolder();
    const env = { RINGBACK_DATA: folder.path, RINGBACK_HOST: '192.0.2.1', RINGBACK_PORT: '8080' };
    const { out, failure } = await runDoctor(env, []);
    const lines = out.split('\n');
    assert.match(lines[0] ?? '', /^ok {7}runtime {5}Ringback .* on Node /);
    const port = lines.findIndex((line) => line.startsWith('failed   port        Cannot listen'));
    assert.match(lines[port + 1] ?? '', /^ {21}→ Set RINGBACK_HOST to an address of this machine/);
    assert.match(failure ?? '', /^1 of \d+ checks failed\.$/);
  });

  it('fits the terminal, in colours', { skip: noTerminal }, async () => {
    await using folder = await newFolder();
    const env = { RINGBACK_DATA: folder.path, RINGBACK_PUBLIC_URL: 'http://localhost:8080' };
    const args = ['doctor', '--port', '0', '--lenient', 'perhaps'];
    const wide = await runOnTerminal(args, { env, columns: 100 });
    assert.equal(wide.code, 1);
    assert.ok(isColoured(wide.raw));
    assert.match(wide.text, /^failed {3}settings {4}Cannot read RINGBACK_LENIENT "perhaps"/m);
    const narrow = await runOnTerminal(args.slice(0, 3), {
      env: { ...env, NO_COLOR: '1' },
      columns: 60,
    });
    assert.ok(!isColoured(narrow.raw));
    assert.equal(narrow.code, 0, narrow.text);
    const states = narrow.history.filter((line) => /^(ok|warning) {2,}\S/.test(line));
    assert.ok(states.length > 8);
    for (const line of narrow.history)
      assert.match(line, /^(ok|warning| {21}\S)/, 'aligned in its column');
  });

  it('finds no problem before the first start, and creates nothing', async () => {
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

  it('finds no problem in the data of a stopped service', async () => {
    await using folder = await newFolder();
    await settle(folder.path);
    const { of, failure } = await examine({ RINGBACK_DATA: folder.path });
    assert.match(of('store').join(), /^ok: SQLite, [\d.]+ MB, intact$/);
    assert.deepEqual(of('schema'), ['ok: up to date, no migration pending']);
    assert.deepEqual(of('key'), ['ok: the encryption key matches this database']);
    assert.equal(failure, undefined);
  });

  it('reports all invalid settings at once, without secrets', async () => {
    const secret = 'postgres://u:CANARY@h/db';
    const env = { RINGBACK_PORT: 'x', RINGBACK_LOG: 'loud', DATABASE_URL: secret };
    const { of, text, failure } = await examine(env);
    assert.equal(of('settings').length, 3);
    assert.match(of('settings').join(), /RINGBACK_PORT "x".*RINGBACK_LOG "loud".*ENCRYPTION_KEY/);
    assert.match(
      failure ?? '',
      /^3 of 4 checks failed; the remaining checks need valid settings and were skipped\.$/,
    );
    assert.doesNotMatch(text, /CANARY/);
  });

  it('reports invalid OpenTelemetry variables, which would prevent a start', async () => {
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
    assert.equal(of('contracts').length, 1, 'the other checks run');
    assert.doesNotMatch(text, /CANARY/);
  });

  it('shows the warnings of a start, which are not failures', async () => {
    await using folder = await newFolder();
    const env = { RINGBACK_DATA: folder.path, RINGBACK_TYPO: '1' };
    const { of, failure } = await examine(env);
    assert.match(of('settings').join(), /^warning: RINGBACK_TYPO is not a setting/);
    assert.equal(failure, undefined);
  });

  it('reports that the data folder is not writable', async () => {
    await using folder = await newFolder();
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    const { of } = await examine({ RINGBACK_DATA: '/proc/ringback' });
    assert.match(of('folder').join(), /^failed: Cannot write to "\/proc"/);
  });

  it('reports a schema that is newer or older than the program', async () => {
    await using folder = await newFolder();
    await settle(folder.path);
    alter(
      folder.path,
      "insert into migration (number, name, applied_ms) values (9999, 'from_the_future', 1)",
    );
    alter(
      folder.path,
      'update migration set number = (select count(*) from migration) where number = 9999',
    );
    const newer = await examine({ RINGBACK_DATA: folder.path });
    assert.match(newer.of('schema').join(), /^failed: .*Start the newer Ringback that wrote it$/);
    alter(
      folder.path,
      'delete from migration where number > (select max(number) - 2 from migration)',
    );
    const older = await examine({ RINGBACK_DATA: folder.path });
    assert.match(older.of('schema').join(), /^warning: Migrations are pending: \d+ "/);
    assert.equal(older.failure, undefined);
  });

  it('reports an encryption key that does not match or is missing', async () => {
    await using folder = await newFolder();
    await settle(folder.path);
    const other = randomBytes(32).toString('base64');
    const env = { RINGBACK_DATA: folder.path };
    const wrong = await examine({ ...env, RINGBACK_ENCRYPTION_KEY: other });
    assert.match(wrong.of('key').join(), /^failed: The encryption key does not match/);
    rmSync(join(folder.path, 'encryption.key'));
    assert.match((await examine(env)).of('key').join(), /^failed: ".*encryption.key" is missing/);
  });

  it('reports a damaged file, and one that is not a database', async () => {
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

  it('reports an invalid contract', async () => {
    await using folder = await newFolder();
    const file = join(folder.path, 'broken.yaml');
    writeFileSync(file, 'openapi: 3.0.4\ninfo: [');
    const { of } = await examine({ RINGBACK_DATA: folder.path, RINGBACK_CONTRACT: file });
    assert.match(of('contracts').join(), /^failed: .*broken\.yaml:3:1: Cannot read/);
  });

  it('recognizes a running service and its port, and does not disturb it', async () => {
    await using folder = await newFolder();
    await using child = await serve({ RINGBACK_DATA: folder.path });
    const env = { RINGBACK_DATA: folder.path, RINGBACK_PORT: new URL(child.url).port };
    const { of, failure } = await examine(env);
    assert.match(of('store').join(), /^ok: SQLite, .* MB, in use by a running service, intact$/);
    assert.match(of('port').join(), /^ok: Ringback is already running at http:/);
    assert.equal(failure, undefined);
    assert.equal((await fetch(`${child.url}/readyz`)).status, 200);
  });

  it('reports that another program uses the port', async () => {
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
    assert.match(
      of('port').join(),
      /^failed: Port .* is in use by another program.* not like Ringback$/,
    );
    const plain = await examine({ ...env, RINGBACK_TLS_CERT: 'cert', RINGBACK_TLS_KEY: 'key' });
    assert.match(
      plain.of('port').join(),
      /^failed: Port \d+ is in use by another program: https:\S+ does not respond \(TLS: wrong version number\)$/,
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
