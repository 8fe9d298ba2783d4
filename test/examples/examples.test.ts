// The examples as a user runs them: copied beside an installed package, started by their own scripts, on the
// oldest supported Node, against the Ringback of that package.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
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
import { freePort } from '../docs/free-ports.ts';
import { receive } from '../e2e/receiver.ts';
import {
  installedPackage,
  whyNotInstalled,
  type InstalledPackage,
} from '../package/install-package.ts';
import { callbackOf, hmacForgeries, newId, nowS, send, signHmac } from './forgeries.ts';
import { openGate } from './losing-proxy.ts';

const root = join(import.meta.dirname, '..', '..');
const names = ['orders', 'shop', 'own-contract', 'print-shop'] as const;
type Example = (typeof names)[number];

let installed: InstalledPackage;

/** The words of a script in the example's package.json, with the oldest Node and the paths of the copy. */
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
 * A receiver that is down: it destroys each connection, and holds the port until the real one starts. The
 * port is below the ephemeral ports (Linux: from 32768), or another connection could take it in between.
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
    // The dependencies of the print shop, as npm would install them.
    const modules = join(installed.folder, 'print-shop', 'node_modules');
    await mkdir(join(modules, '@types'), { recursive: true });
    for (const name of ['express', '@types/express']) {
      await symlink(join(root, 'node_modules', name), join(modules, name));
    }
  });
  after(async () => installed[Symbol.asyncDispose]());

  it('orders and shop: an order reaches its customer once, even if either is killed or down', async () => {
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

    // The order service is killed after its commit, before it has published the order.
    await using lossy = await openGate(ringback.url, 'request');
    await using first = await startOrders({ ...ordersEnv, RINGBACK_URL: lossy.url });
    const created = await first.call('', { customer: 'ada', totalCents: 1_950 });
    assert.equal(created.status, 201);
    const { id } = created.json;
    await lossy.lost;
    await kill(first);
    assert.equal((await get<{ items: [] }>(ringback, '/events')).items.length, 0);

    // It starts again, publishes, and is killed before the response arrives.
    await using mute = await openGate(ringback.url, 'answer');
    await using second = await startOrders({ ...ordersEnv, RINGBACK_URL: mute.url });
    const answered = JSON.parse(await mute.lost) as { eventId: string };
    await kill(second);

    // It starts again and repeats the publish, which creates no second event.
    await using orders = await startOrders(ordersEnv);
    const [, published] = await orders.child.says(/Published order\.created as (\S+)\n/);
    assert.equal(published, answered.eventId);
    const events = await get<{ items: { event: string }[] }>(ringback, '/events');
    assert.deepEqual(
      events.items.map(({ event }) => event),
      ['order.created'],
    );

    // The shop was down meanwhile; it starts and gets the missed events.
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

    // A shop that is killed and started again remembers the handled events, and skips those it cannot handle.
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

    // Forged callbacks are refused.
    const { secret } = await get<{ secret: string }>(
      ringback,
      `/subscriptions/${subscriberId}/secret`,
    );
    for (const { kind, callback } of hmacForgeries(secret)) {
      const { status } = await send(down.port, callback, { path: hook });
      assert.equal(status, 401, kind);
    }

    // An event with an invalid version is refused, and does not block others.
    const body = `{"order":"${id}","state":"lost","version":100000000000000000}`;
    const [timestampS, strange] = [nowS(), newId()];
    const signature = signHmac(secret, { id: strange, timestampS, body });
    const poison = callbackOf({ id: strange, timestampS, body, signature });
    assert.equal((await send(down.port, poison, { path: hook })).status, 500);

    // Events are handled in order, so one of the refused ones would have been printed before this.
    assert.equal((await orders.call(`/${id}/shipped`)).status, 200);
    await shop.says(new RegExp(`^ada: order ${id} is shipped$`, 'm'));
    assert.equal(countOf(shop.out(), 'ada:'), 1);
    assert.equal(countOf(firstShop.out(), 'ada:'), 2);

    // After a customer has left, Ringback stops calling.
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

  it('own-contract: a document runs unchanged, and its client watches a report', async () => {
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

    // Invalid requests of an unknown client are refused, and the watcher keeps running.
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

    // An invalid payload is refused, and the README shows the output of `check`.
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

  it('print-shop: an API that answers its requests itself gets callbacks', async () => {
    const { folder } = installed;
    await using receiver = await receive();
    const key = randomBytes(24).toString('hex');
    const env = { RINGBACK_API_KEY: key, RINGBACK_DATA: join(folder, 'print-data') };
    const port = String(await freePort());
    await using child = await start(
      { example: 'print-shop' },
      { ...env, PORT: '0', RINGBACK_PORT: port },
    );
    const [, api = ''] = await child.says(/The print shop listens on (\S+)\n/);
    const [, url = ''] = await child.says(/Ringback \S+ listens on (\S+)\n/);
    const call = async (to: string, method: string, body?: object): Promise<Response> =>
      fetch(to, {
        method,
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        ...(body && { body: JSON.stringify(body) }),
      });
    interface Started {
      jobId: string;
      subscription: string | null;
    }
    const startJob = async (more: object): Promise<Started> => {
      const response = await call(`${url}/jobs`, 'POST', { file: 'menu.pdf', copies: 2, ...more });
      const { jobId, ...job } = (await response.json()) as { jobId: string };
      assert.deepEqual([response.status, job], [201, { file: 'menu.pdf', copies: 2, printed: 0 }]);
      assert.equal(response.headers.get('location'), `/jobs/${jobId}`);
      return { jobId, subscription: response.headers.get('ringback-subscription') };
    };
    const stateOf = async ({ subscription }: Started): Promise<string> => {
      const response = await call(`${url}/ringback/subscriptions/${subscription}`, 'GET');
      return ((await response.json()) as { state: string }).state;
    };
    const quietJob = await startJob({});
    assert.equal(quietJob.subscription, null);
    const [one, two] = [
      await startJob({ callbackUrl: receiver.url }),
      await startJob({ callbackUrl: receiver.url }),
    ];
    for (const { jobId } of [quietJob, one]) {
      for (const printed of [1, 2]) {
        const printedCopy = await call(`${api}/jobs/${jobId}/copies`, 'POST');
        assert.equal(((await printedCopy.json()) as { printed: number }).printed, printed);
        // The callback of the last copy ends the subscription.
        if (jobId === one.jobId) await receiver.waitFor(printed);
      }
    }
    const received = await receiver.waitFor(2);
    const came = received.map(({ headers, body }) => [
      headers['ringback-event'],
      (JSON.parse(body.toString()) as { jobId: string }).jobId,
    ]);
    assert.deepEqual(came, [
      ['job.copy', one.jobId],
      ['job.done', one.jobId],
    ]);
    await until(
      async () => stateOf(one),
      (state) => state === 'ended',
    );
    assert.equal(await stateOf(two), 'active');
    assert.equal((await call(`${url}/jobs/${two.jobId}`, 'DELETE')).status, 204);
    assert.equal(await stateOf(two), 'ended');
    assert.equal((await call(`${url}/jobs/${two.jobId}`, 'GET')).status, 404);
    child.signal('SIGTERM');
    assert.equal(await child.ended, 0, child.err());

    const checked = await run({ example: 'print-shop', script: 'check' }, {});
    const readme = await readFile(join(root, 'examples', 'print-shop', 'README.md'), 'utf8');
    const [, shown = ''] = /```text\n(.*?)```/s.exec(readme) ?? [];
    const document = join(folder, 'print-shop', 'printing.yaml');
    assert.equal(checked.out.replace(document, 'printing.yaml').trim(), shown.trim());
  });

  it('name a missing setting', async () => {
    const shop = { example: 'shop', script: 'join', args: ['ada'] } as const;
    const wanting: Run[] = [
      { example: 'orders' },
      shop,
      { example: 'own-contract', script: 'watch' },
      { example: 'own-contract', script: 'publish' },
      { example: 'print-shop' },
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

  it('compile with the types of the installed package', async () => {
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
