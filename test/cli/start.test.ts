// The modules that a start loads. Each file costs half a millisecond and some memory in every thread that loads
// it. A slow start or a large idle process is usually caused by an unnecessary import.
import assert from 'node:assert/strict';
import { globSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { buildProgram } from '../../tools/build-program.ts';
import { receive } from '../e2e/receiver.ts';
import { newFolder, runChild, serve, type Program } from './ringback-process.ts';

const root = join(import.meta.dirname, '..', '..');
const hook = join(import.meta.dirname, 'record-imports.ts');
const source: Program = [process.execPath, '--import', hook, join(root, 'src', 'main.ts')];
const bundle: Program = [process.execPath, '--import', hook, join(root, 'dist', 'main.js')];

interface Loaded {
  /** Files of the checkout. */
  own: readonly string[];
  packages: ReadonlySet<string>;
  /** All modules. */
  urls: readonly string[];
}

type Threads = Readonly<Record<'main' | 'write' | 'read', Loaded>>;

/** The modules that each thread of a service on SQLite has loaded when it is ready. */
async function loadedBy(program: Program): Promise<Threads> {
  await using folder = await newFolder();
  const [dataDir, notes] = [join(folder.path, 'data'), join(folder.path, 'notes')];
  mkdirSync(notes);
  await using _service = await serve({ RINGBACK_DATA: dataDir, TEST_LOADED: notes }, [], program);
  const loaded = (name: string): Loaded => {
    const urls = readFileSync(join(notes, name), 'utf8').trim().split('\n');
    const below = /\/(src|dist)\/(?!.*\/node_modules\/).*$/;
    return {
      urls,
      own: urls.flatMap((url) =>
        url.includes('/node_modules/') ? [] : (below.exec(url)?.[0].slice(1) ?? []),
      ),
      packages: new Set(
        urls.flatMap((url) => /^.*\/node_modules\/(@[^/]+\/[^/]+|[^/]+)/.exec(url)?.[1] ?? []),
      ),
    };
  };
  return { main: loaded('main'), write: loaded('store-write'), read: loaded('store-read') };
}

/** The files that implement a command: its declaration imports them when it runs. */
function workOf(command: string): string[] {
  const text = readFileSync(join(root, 'src', 'cli', 'commands', command), 'utf8');
  return [...text.matchAll(/import\('\.\.\/([^']+)'\)/g)].map(([, file]) => `src/cli/${file}`);
}

describe('a start on SQLite', () => {
  let threads: Threads;
  before(async () => {
    threads = await loadedBy(source);
  });

  it('loads no package that it does not need', () => {
    const { main } = threads;
    assert(main.packages.has('fastify'), 'loaded packages are recorded');
    const unwanted = [...main.packages].filter((name) =>
      /^(pg|ajv$|undici|@opentelemetry)/.test(name),
    );
    assert.deepEqual(unwanted, []);
    assert(!main.urls.includes('node:tls'));
  });

  it('loads the implementation of no other command', () => {
    const { main } = threads;
    const commands = globSync('*.ts', { cwd: join(root, 'src', 'cli', 'commands') });
    const work = commands.flatMap((command) => (command === 'serve.ts' ? [] : workOf(command)));
    assert(work.length > 10, 'the implementations of the commands are found');
    assert(main.own.includes('src/cli/serve/serve.ts'));
    assert.deepEqual(
      main.own.filter((path) => work.includes(path)),
      [],
    );
  });

  it('loads the store only in the threads that use it, and nothing else there', () => {
    const { main, write, read } = threads;
    const adapters = main.own.filter((path) => /^src\/store\/(sqlite|postgres|verbs)\//.test(path));
    assert.deepEqual(
      adapters.map((path) => path.replace('src/store/sqlite/', '')),
      ['connection/sync-folder.ts', 'thread/thread.ts', 'thread/codec.ts'],
    );
    for (const thread of [write, read]) {
      assert.deepEqual([...thread.packages], []);
      assert.deepEqual(
        thread.own.filter((path) => !/^src\/(core|store)\//.test(path)),
        [],
      );
    }
    assert(write.own.includes('src/store/sqlite/batch/adapter.ts'));
    assert(!read.own.includes('src/store/sqlite/batch/adapter.ts'));
  });
});

describe('the bundle', () => {
  before(buildProgram);

  it('consists of a few files', async () => {
    const { main, write, read } = await loadedBy(bundle);
    assert(main.own.length < 50, `${main.own.length} files: ${main.own.join(' ')}`);
    assert(main.own.every((path) => path.startsWith('dist/')));
    assert(!main.packages.has('pg') && !main.packages.has('ajv'));
    assert.deepEqual(write.own, ['dist/write-thread.js']);
    assert.deepEqual(read.own, ['dist/read-thread.js']);
  });

  it('delivers, serves its pages, and copies its store', async () => {
    await using receiver = await receive();
    await using folder = await newFolder();
    const env = { RINGBACK_DATA: join(folder.path, 'data') };
    const program: Program = [process.execPath, join(root, 'dist', 'main.js')];
    await using service = await serve(env, [], program);
    const call = async (path: string, body?: object): Promise<Response> =>
      fetch(`${service.url}${path}`, {
        headers: { 'x-api-key': String(service.key), 'content-type': 'application/json' },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
    assert.equal((await call('/subscribe', { callbackUrl: receiver.url })).status, 201);
    const payload = { message: 'Order 42' };
    assert.equal((await call('/events', { event: 'order.created', payload })).status, 202);
    await receiver.waitFor(1);
    assert.equal((await call('/events', { event: 'order.created', payload: 7 })).status, 422);
    // The decoding is done only for its exception, which a bundler once removed as dead code.
    assert.equal((await call('/events?type=%ff')).status, 400);
    assert.match(await (await call('/docs')).text(), /<style>[^<]*\{.*<h1/s);
    assert.match(await (await call('/openapi.yaml')).text(), /^openapi: 3\.0\.4\n/);
    assert.match(service.out(), /^ {2}npm run -s ringback -- listen /m);
    const copy = join(folder.path, 'copy.db');
    assert.equal((await runChild(['backup', copy], env, program)).code, 0);
    service.signal('SIGTERM');
    assert.equal(await service.ended, 0, service.err());
  });
});
