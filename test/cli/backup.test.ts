// `ringback backup` as a real process beside a real service: the copy contains everything acknowledged before,
// the service keeps running, and a service restored from the copy delivers.
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { realWorld } from '../../src/core/base/world.ts';
import { openEmbedded } from '../../src/store/open/open.ts';
import { header, receive } from '../e2e/receiver.ts';
import { Tally } from '../e2e/awaitable-count.ts';
import { migrationsDir } from '../store/open-memory.ts';
import { newFolder, runChild, serve, type Serving } from './ringback-process.ts';
import { runHere } from './in-process.ts';
import { isColoured, noTerminal, runOnTerminal } from './pty.ts';

const key = 'k'.repeat(40);
const publishers = 4;

interface Call {
  method: string;
  path: string;
  body?: object;
}

async function call({ url }: Serving, { method, path, body }: Call): Promise<object> {
  const response = await fetch(url + path, {
    method,
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  return (await response.json()) as object;
}

async function subscribe(service: Serving, callbackUrl: string): Promise<string> {
  const answer = await call(service, { method: 'POST', path: '/subscribe', body: { callbackUrl } });
  return String(Reflect.get(answer, 'subscriberId'));
}

async function edit(service: Serving, id: string, state: 'active' | 'paused'): Promise<void> {
  await call(service, { method: 'PATCH', path: `/subscriptions/${id}`, body: { state } });
}

async function publish(service: Serving): Promise<string> {
  const body = { event: 'order.created', payload: { message: 'x'.repeat(2_000) } };
  const answer = await call(service, { method: 'POST', path: '/events', body });
  return String(Reflect.get(answer, 'eventId'));
}

/** The events that the store in this folder does not contain. */
async function missingIn(dataDir: string, events: readonly string[]): Promise<string[]> {
  const world = realWorld();
  const store = await openEmbedded({ dataDir, world, onFatal: (error) => assert.fail(error) });
  const appNo = (await store.read('app', { name: 'default' }))?.no ?? 0;
  const missing: string[] = [];
  for (const event of events) {
    const found = await store.read('event', { appNo, id: event.replace('evt_', '') });
    if (found === undefined) missing.push(event);
  }
  await store.close();
  return missing;
}

describe('ringback backup', () => {
  it('copies a busy service: no event answered before is missing, and pending ones are delivered', async () => {
    await using folder = await newFolder();
    await using waiting = await receive();
    await using busy = await receive();
    const data = join(folder.path, 'data');
    const copy = join(folder.path, 'copy');
    const file = join(folder.path, 'backup.db');
    const before: string[] = [];
    let paused = '';
    {
      await using service = await serve({ RINGBACK_DATA: data, RINGBACK_API_KEY: key });
      paused = await subscribe(service, waiting.url);
      await edit(service, paused, 'paused');
      await subscribe(service, busy.url);
      const answered = new Tally('events were answered');
      const acknowledged: string[] = [];
      const over = new AbortController();
      const load = Array.from({ length: publishers }, async () => {
        while (!over.signal.aborted) {
          acknowledged.push(await publish(service));
          answered.add();
        }
      });
      await answered.reach(100);
      before.push(...acknowledged);
      const { code, out, err } = await runChild(['backup', file], { RINGBACK_DATA: data });
      assert.deepEqual([code, err], [0, '']);
      assert.match(
        out,
        /^Backed up ".*ringback\.db" to ".*backup\.db": \d+\.\d MB in \d+\.\d s, at/,
      );
      assert.match(out, /at migration \d+, verified\.\n/);
      assert.match(
        out,
        /does not contain the encryption key\. Store ".*encryption\.key" separately/,
      );
      await answered.reach(answered.count + 20);
      over.abort();
      await Promise.all(load);
      await busy.waitFor(acknowledged.length);
      service.signal('SIGTERM');
      assert.equal(await service.ended, 0);
    }
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder.path).sort(), ['backup.db', 'data']);

    mkdirSync(copy);
    copyFileSync(file, join(copy, 'ringback.db'));
    assert.deepEqual(await missingIn(copy, before), [], 'events answered before the backup');

    const refused = await runChild(['serve', '--port', '0'], { RINGBACK_DATA: copy });
    assert.equal(refused.code, 1);
    assert.match(refused.err, /the encryption key does not match this database/);

    copyFileSync(join(data, 'encryption.key'), join(copy, 'encryption.key'));
    await using restored = await serve({ RINGBACK_DATA: copy });
    await edit(restored, paused, 'active');
    const last = await publish(restored);
    const seen = new Set<string>();
    for (let count = before.length; !(seen.has(last) && before.every((id) => seen.has(id)));) {
      await waiting.waitFor(count);
      for (const request of waiting.requests) seen.add(header(request, 'webhook-id'));
      count = waiting.requests.length + 1;
    }
  });

  it('needs no running service, and names the configured key', async () => {
    await using folder = await newFolder();
    const file = join(folder.path, 'backup.db');
    assert.equal((await runHere(['migrate', '--data', folder.path])).code, 0);
    const { code, out, err } = await runChild(['backup', file, '--data', folder.path], {
      RINGBACK_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
    });
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /Store RINGBACK_ENCRYPTION_KEY separately/);
  });

  it('explains failures in one sentence', async () => {
    await using folder = await newFolder();
    const there = join(folder.path, 'there.db');
    writeFileSync(there, 'dear to somebody');
    assert.equal((await runHere(['migrate', '--data', folder.path])).code, 0);
    const data = ['--data', folder.path];
    const file = join(folder.path, 'file.db');
    const mistakes: [string[], RegExp][] = [
      [[there, ...data], /^Cannot back up to ".*there\.db": the file already exists/],
      [[join(folder.path, 'no', 'x.db'), ...data], /^Cannot back up to ".*x\.db": ENOENT/],
      [
        [file, '--data', join(folder.path, 'typo')],
        /^Cannot find ".*ringback\.db": no database there/,
      ],
    ];
    for (const [args, pattern] of mistakes) {
      const { code, out, err } = await runHere(['backup', ...args]);
      assert.deepEqual([code, out], [1, ''], args.join(' '));
      assert.match(err, pattern);
      assert.doesNotMatch(err, /^\s+at /m);
    }
    const twice = await runHere(['backup', 'a', 'b', ...data]);
    assert.deepEqual([twice.code, twice.out], [2, '']);
    assert.match(twice.err, /^Cannot back up: found "a b", expected one FILE\n/);
    const env = { DATABASE_URL: 'postgres://127.0.0.1/x' };
    const postgres = await runHere(['backup', file], { env });
    assert.deepEqual([postgres.code, postgres.out], [1, '']);
    assert.match(postgres.err, /^Cannot back up PostgreSQL: .*pg_dump.*docs\/operations\.md\n$/);
    assert.ok(!existsSync(file));
  });

  it('prints the same facts as JSON', async () => {
    await using folder = await newFolder();
    const data = ['--data', folder.path];
    assert.equal((await runHere(['migrate', ...data])).code, 0);
    const file = join(folder.path, 'copy.db');
    const { code, out, err } = await runHere(['backup', file, ...data, '--json']);
    assert.deepEqual([code, err], [0, '']);
    const { tookMs, ...rest } = JSON.parse(out) as Record<string, unknown>;
    assert.equal(typeof tookMs, 'number');
    assert.deepEqual(rest, {
      source: join(folder.path, 'ringback.db'),
      file,
      bytes: statSync(file).size,
      migration: readdirSync(migrationsDir).length,
      encryptionKeyFile: join(folder.path, 'encryption.key'),
    });
    const again = await runHere(['backup', file, ...data, '--json']);
    assert.equal(again.out, '');
    assert.match(
      again.err,
      /^\{"error":\{"message":"Cannot back up to .*the file already exists"\}\}\n$/,
    );
  });

  it('shows its progress on a terminal, and then the result', { skip: noTerminal }, async () => {
    await using folder = await newFolder();
    const data = ['--data', folder.path];
    assert.equal((await runHere(['migrate', ...data])).code, 0);
    const db = new DatabaseSync(join(folder.path, 'ringback.db'));
    db.exec('create table filler (bytes blob); insert into filler values (zeroblob(25000000))');
    db.close();
    const large = ['backup', join(folder.path, 'large.db'), ...data];
    const { code, screen, raw } = await runOnTerminal(large, { columns: 60 });
    assert.equal(code, 0);
    assert.match(raw, /MB copied {2}[█░]+ {2}\d+ % · \d+ of 26/);
    assert.match(screen[0] ?? '', /^Backed up "/, 'the bar was removed');
    assert.match(screen.join(' '), /the signing secrets in it cannot be decrypted/);
    assert.ok(isColoured(raw));
    const piped = await runHere(['backup', join(folder.path, 'piped.db'), ...data]);
    assert.deepEqual([piped.code, piped.err, isColoured(piped.out)], [0, '', false]);
  });
});
