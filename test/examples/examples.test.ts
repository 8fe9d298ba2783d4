// The examples as a user has them: copied beside an installed package, started by their own scripts, on the
// oldest Node that they name, against a Ringback of that package.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { sendTo, type Running } from '../api/harness.ts';
import {
  runChild,
  serve,
  startChild,
  type Child,
  type Ended,
  type Env,
} from '../cli/ringback-process.ts';
import { get, quiet, until } from '../e2e/stage.ts';
import { Tally } from '../e2e/awaitable-count.ts';
import {
  installedPackage,
  whyNotInstalled,
  type InstalledPackage,
} from '../package/install-package.ts';
import { callbackOf, hmacForgeries, newId, nowS, send, signHmac } from './forgeries.ts';
import { openGate } from './losing-proxy.ts';

const root = join(import.meta.dirname, '..', '..');
const names = ['orders', 'shop', 'own-contract'] as const;
type Example = (typeof names)[number];

let installed: InstalledPackage;

/** A script of the example's package.json, as words: node is the oldest one, files are the copy's. */
async function wordsOf(example: Example, script: string): Promise<[string, ...string[]]> {
  const folder = join(installed.folder, example);
  const manifest: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const { scripts } = manifest as { scripts: Record<string, string> };
  const [command = '', ...words] = (scripts[script] ?? '').split(' ');
  const paths = words.map((word) => (/\.(ts|yaml)$/.test(word) ? join(folder, word) : word));
  if (command === 'node') return [installed.node24, ...paths];
  assert.equal(command, 'ringback');
  return [installed.node26, installed.bin, ...paths];
}

interface Run {
  example: Example;
  script?: string;
  args?: readonly string[];
}

async function start({ example, script = 'start', args = [] }: Run, env: Env): Promise<Child> {
  return startChild(args, env, await wordsOf(example, script));
}

async function run({ example, script = 'start', args = [] }: Run, env: Env): Promise<Ended> {
  return runChild(args, env, await wordsOf(example, script));
}

interface Ringback extends Running {
  env: { RINGBACK_URL: string; RINGBACK_API_KEY: string };
}

async function startRingback(env: Env, args: readonly string[] = []): Promise<Ringback> {
  const serving = await serve(env, args, [installed.node26, installed.bin]);
  const { url, appId, key = '' } = serving;
  return {
    url,
    appId,
    key,
    env: { RINGBACK_URL: url, RINGBACK_API_KEY: key },
    call: async (call) => sendTo(url, key, call),
    logged: serving.err,
    [Symbol.asyncDispose]: serving[Symbol.asyncDispose],
  };
}

/**
 * A receiver that is down: whoever comes is cut off. It holds the port until the real one starts. No port
 * that the system gives away (Linux: from 32768): between the two somebody's connection would get it.
 */
async function holdPort(): Promise<{ port: number; came: Tally } & AsyncDisposable> {
  const came = new Tally('connections came');
  const server = createServer((socket) => {
    socket.destroy();
    came.add();
  });
  const port = randomInt(17_000, 26_000);
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return holdPort();
  }
  return {
    port,
    came,
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

interface Orders extends AsyncDisposable {
  child: Child;
  call: (path: string, body?: object) => Promise<{ status: number; json: { id: string } }>;
}

async function startOrders(env: Env): Promise<Orders> {
  const child = await start({ example: 'orders' }, { PORT: '0', ...env });
  const [, url = ''] = await child.says(/Taking orders on (\S+)\n/);
  return {
    child,
    call: async (path, body) => {
      const answer = await fetch(url + path, {
        method: 'POST',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, json: (await answer.json()) as { id: string } };
    },
    [Symbol.asyncDispose]: child[Symbol.asyncDispose],
  };
}

async function kill({ child }: { child: Child }): Promise<void> {
  child.signal('SIGKILL');
  assert.equal(await child.ended, 'SIGKILL');
}

function countOf(text: string, wanted: string): number {
  return text.split('\n').filter((line) => line.startsWith(wanted)).length;
}

describe('examples', { skip: await whyNotInstalled() }, () => {
  before(async () => {
    installed = await installedPackage();
    for (const name of names) {
      await cp(join(root, 'examples', name), join(installed.folder, name), { recursive: true });
    }
  });
  after(async () => installed[Symbol.asyncDispose]());

  it('orders and shop: an order reaches its customer once, whoever dies or is down', async () => {
    const { folder } = installed;
    await using ringback = await startRingback({
      RINGBACK_DATA: join(folder, 'data'),
      RINGBACK_RETRY: '200ms,500ms,1s,1s,2s,2s,5s,10s,30s,1m',
    });
    const ordersEnv = { ...ringback.env, ORDERS_DB: join(folder, 'orders.db') };
    await using down = await holdPort();
    const hook = '/hooks/ada';
    const shopEnv = {
      ...ringback.env,
      PORT: String(down.port),
      SHOP_DB: join(folder, 'shop.db'),
    };
    const joined = await run({ example: 'shop', script: 'join', args: ['ada'] }, shopEnv);
    assert.equal(joined.code, 0, joined.err);
    const [subscriberId = ''] = /sub_\S+/.exec(joined.out) ?? [];

    // The order service dies after its commit, before Ringback hears of the order.
    await using lossy = await openGate(ringback.url, 'request');
    await using first = await startOrders({ ...ordersEnv, RINGBACK_URL: lossy.url });
    const created = await first.call('', { customer: 'ada', totalCents: 1_950 });
    assert.equal(created.status, 201);
    const { id } = created.json;
    await lossy.lost;
    await kill(first);
    assert.equal((await get<{ items: [] }>(ringback, '/events')).items.length, 0);

    // It starts again, publishes, and dies before it hears the answer.
    await using mute = await openGate(ringback.url, 'answer');
    await using second = await startOrders({ ...ordersEnv, RINGBACK_URL: mute.url });
    const answered = JSON.parse(await mute.lost) as { eventId: string };
    await kill(second);

    // It starts again and repeats it, which makes no second event.
    await using orders = await startOrders(ordersEnv);
    const [, published] = await orders.child.says(/Published order\.created as (\S+)\n/);
    assert.equal(published, answered.eventId);
    const events = await get<{ items: { event: string }[] }>(ringback, '/events');
    assert.deepEqual(
      events.items.map(({ event }) => event),
      ['order.created'],
    );

    // All the while the shop was down; it comes up and gets what it has missed.
    await down.came.reach(1);
    await down[Symbol.asyncDispose]();
    await using firstShop = await start({ example: 'shop' }, shopEnv);
    await firstShop.says(new RegExp(`^ada: order ${id} is created$`, 'm'));
    assert.equal((await orders.call(`/${id}/paid`)).status, 200);
    assert.equal((await orders.call(`/${id}/paid`)).status, 409);
    await firstShop.says(new RegExp(`^ada: order ${id} is paid$`, 'm'));
    const done = await quiet(ringback);
    assert.deepEqual(
      done.map(({ state }) => state),
      ['delivered', 'delivered'],
    );
    assert.ok((done.find(({ event }) => event === 'order.created')?.attemptCount ?? 0) > 1);
    await kill({ child: firstShop });

    // A shop that was killed and started again knows what it has handled, and sets aside what it cannot.
    const inbox = new DatabaseSync(shopEnv.SHOP_DB);
    inbox.exec(`
      insert into inbox (webhook_id, customer, "order", state, version)
      values ('evt_0', 'ada', '${id}', 'lost', 100000000000000000)`);
    inbox.close();
    await using shop = await start({ example: 'shop' }, shopEnv);
    await shop.says(/The shop listens/);
    assert.match(shop.err(), /^Cannot handle number 3 of the inbox, set aside: RangeError/m);
    for (const delivery of done) {
      const path = `/deliveries/${delivery.id}/retry`;
      const again = await ringback.call({ method: 'POST', path });
      assert.ok(again.status < 300, again.text);
    }
    const all = await quiet(ringback);
    assert.deepEqual(
      all.map(({ state }) => state),
      Array(4).fill('delivered'),
    );

    // Nobody but Ringback is believed.
    const { secret } = await get<{ secret: string }>(
      ringback,
      `/subscriptions/${subscriberId}/secret`,
    );
    for (const { kind, callback } of hmacForgeries(secret)) {
      const { status } = await send(down.port, callback, { path: hook });
      assert.equal(status, 401, kind);
    }

    // News that no version of an order can hold are refused, and stop nobody.
    const body = `{"order":"${id}","state":"lost","version":100000000000000000}`;
    const [timestampS, strange] = [nowS(), newId()];
    const signature = signHmac(secret, { id: strange, timestampS, body });
    const poison = callbackOf({ id: strange, timestampS, body, signature });
    assert.equal((await send(down.port, poison, { path: hook })).status, 500);

    // Handled in the order in which they came: had one of those been handled, it would stand here.
    assert.equal((await orders.call(`/${id}/shipped`)).status, 200);
    await shop.says(new RegExp(`^ada: order ${id} is shipped$`, 'm'));
    assert.equal(countOf(shop.out(), 'ada:'), 1);
    assert.equal(countOf(firstShop.out(), 'ada:'), 2);

    // A customer who has left is gone: Ringback stops calling.
    const left = await run({ example: 'shop', script: 'leave', args: ['ada'] }, shopEnv);
    assert.equal(left.out, 'ada has left\n');
    assert.equal((await orders.call('', { customer: 'ada', totalCents: 5 })).status, 201);
    await until(
      async () => ringback.call({ path: `/subscriptions/${subscriberId}` }),
      ({ status, json }) => status === 404 || json['state'] === 'ended',
    );
    for (const child of [orders.child, shop]) {
      child.signal('SIGTERM');
      assert.equal(await child.ended, 0, child.err());
    }
  });

  it('own-contract: a document runs as it stands, and its own client watches a report', async () => {
    const { folder } = installed;
    const document = ['own-contract', 'reports.yaml'] as const;
    const [, ...args] = (await wordsOf('own-contract', 'start')).slice(2);
    const data = { RINGBACK_DATA: join(folder, 'reports-data') };
    await using ringback = await startRingback(data, args);
    const watch = async (env: Env): Promise<Child> =>
      start({ example: 'own-contract', script: 'watch' }, { ...ringback.env, PORT: '0', ...env });

    // A key and its team, or a token alone; a key of another team is refused.
    await using withToken = await watch({});
    await using withTeam = await watch({ REPORTS_TEAM: ringback.appId });
    await using stranger = await watch({ REPORTS_TEAM: `app_${'0'.repeat(26)}` });
    assert.equal(await stranger.ended, 1);
    assert.match(stranger.err(), /Cannot watch sales: 401/);
    await withToken.says(/Watching sales: sub_/);
    await withTeam.says(/Watching sales: sub_/);

    // A stranger who asks for nonsense is told so, and the watcher lives on.
    const [, watcherId = ''] = await withToken.says(/Watching sales: (sub_\S+)/);
    const { callbacks } = await get<{ callbacks: { url: string }[] }>(
      ringback,
      `/subscriptions/${watcherId}`,
    );
    const port = Number(new URL(callbacks[0]?.url ?? '').port);
    for (const path of ['//', '/other', '/pages/..', '*']) {
      const { status } = await send(port, { headers: [], body: '' }, { path });
      assert.equal(status, 404, path);
    }

    const publish = { example: 'own-contract', script: 'publish' } as const;
    const other = await run({ ...publish, args: ['costs'] }, ringback.env);
    assert.match(other.out, /^Published page 1, to 0 watchers$/m);
    const published = await run(publish, ringback.env);
    assert.equal(published.code, 0, published.err);
    assert.match(published.out, /^Published page 3, to 2 watchers$/m);
    for (const watcher of [withToken, withTeam]) {
      assert.equal(await watcher.ended, 0, watcher.err());
      assert.match(watcher.out(), /^Page 3 of sales: 1 rows$/m);
      assert.match(watcher.out(), /^Complete after 3 pages\. Stopped watching: 204$/m);
    }
    const { items } = await get<{ items: unknown[] }>(ringback, '/subscriptions?state=active');
    assert.deepEqual(items, []);

    // What breaks the document is refused, and the README shows what `check` says.
    const payload = { report: 'sales', number: 0, rows: [] };
    const refused = await ringback.call({
      method: 'POST',
      path: '/events',
      body: { event: 'report.sales.page', payload },
    });
    assert.equal(refused.status, 422);
    const checked = await run({ example: 'own-contract', script: 'check' }, {});
    const readme = await readFile(join(root, 'examples', 'own-contract', 'README.md'), 'utf8');
    const [, shown = ''] = /```text\n(.*?)```/s.exec(readme) ?? [];
    assert.equal(checked.out.replace(join(folder, ...document), document[1]).trim(), shown.trim());
  });

  it('say which setting is missing', async () => {
    const shop = { example: 'shop', script: 'join', args: ['ada'] } as const;
    const wanting: Run[] = [
      { example: 'orders' },
      shop,
      { example: 'own-contract', script: 'watch' },
      { example: 'own-contract', script: 'publish' },
    ];
    const env = { ORDERS_DB: ':memory:', SHOP_DB: ':memory:', PORT: '0' };
    const ends = await Promise.all(wanting.map(async (one) => run(one, env)));
    for (const { code, err } of ends) {
      assert.equal(code, 1);
      assert.match(err, /^Cannot \w+ without a key: set RINGBACK_API_KEY/m);
    }
    const { code, err } = await run({ ...shop, args: ['Ada'] }, env);
    assert.equal(code, 2);
    assert.match(err, /^Usage: /);
  });

  it('hold the types of the installed package', async () => {
    const { folder } = installed;
    const compilerOptions = {
      target: 'esnext',
      module: 'nodenext',
      lib: ['esnext'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules', '@types')],
    };
    const project = join(folder, 'tsconfig.json');
    await writeFile(project, JSON.stringify({ compilerOptions, include: [...names] }));
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', project, '--listFiles'], {
      encoding: 'utf8',
      maxBuffer: 16 * 1024 * 1024,
    });
    assert.equal(status, 0, stdout.replaceAll(/^\/.*\n/gm, ''));
    assert.match(stdout, /ringback\/dist\/client\/client\.d\.ts/);
    assert.match(stdout, /ringback\/dist\/receiver\/receiver\.d\.ts/);
    assert.match(stdout, /orders\/publisher\.ts/);
  });
});
