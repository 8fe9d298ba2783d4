// `ringback listen` beside `ringback serve`, as real processes: what it prints, what it checks, what it
// passes on, and how it leaves. Then the first run, with the lines that `serve` prints.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { receive, header } from '../e2e/receiver.ts';
import { until } from '../e2e/stage.ts';
import {
  newFolder,
  runChild,
  serve,
  startChild,
  type Child,
  type Folder,
  type Serving,
} from './child.ts';

const run = promisify(execFile);
const key = 'k'.repeat(40);

async function call(
  { url }: Serving,
  path: string,
  { body, apiKey = key }: { body?: unknown; apiKey?: string } = {},
): Promise<Record<string, unknown>> {
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${path}: ${response.status}`);
  return (await response.json()) as Record<string, unknown>;
}

async function publish(serving: Serving, event: string, message: string): Promise<string> {
  const { eventId } = await call(serving, '/events', { body: { event, payload: { message } } });
  return String(eventId);
}

interface Listening extends Child {
  url: string;
  subscriberId: string;
}

async function listen(serving: Serving, args: readonly string[] = []): Promise<Listening> {
  const base = ['listen', '--url', serving.url, '--listen-port', '0', ...args];
  const child = startChild(base, { RINGBACK_API_KEY: key });
  const [, url = '', subscriberId = ''] = await child.says(
    /Listening on (\S+) for .*\((sub_\w+)\)/,
  );
  return { ...child, url, subscriberId };
}

async function stateOf(serving: Serving, subscriberId: string): Promise<unknown> {
  return (await call(serving, `/subscriptions/${subscriberId}`))['state'];
}

describe('ringback listen', () => {
  let folder: Folder;
  let serving: Serving;
  before(async () => {
    folder = await newFolder();
    const retry = Array.from({ length: 8 }, () => '100ms').join(',');
    serving = await serve({
      RINGBACK_DATA: folder.path,
      RINGBACK_API_KEY: key,
      RINGBACK_LOG: 'silent',
      RINGBACK_RETRY: retry,
    });
  });
  after(async () => {
    await serving[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  it('subscribes, and prints event, id, payload and a good signature of each callback', async () => {
    await using listening = await listen(serving);
    assert.match(listening.out(), /for every event/);
    assert.equal(await stateOf(serving, listening.subscriberId), 'active');
    for (const [event, message] of [
      ['order.created', 'Order 42'],
      ['order.paid', 'Grüße ✓'],
    ] as const) {
      const id = await publish(serving, event, message);
      const line = `^\\d\\d:\\d\\d:\\d\\d  ${event}  ${id}  signature ok\\n  {"message":"${message}"}\\n`;
      await listening.says(new RegExp(line, 'm'));
    }
    assert.doesNotMatch(listening.out(), /attempt|WRONG/);
    assert.equal(listening.err(), '');
  });

  it('shows what is not signed by Ringback as wrong', async () => {
    await using listening = await listen(serving);
    const id = await publish(serving, 'a', 'true');
    await listening.says(new RegExp(`${id}  signature ok`));
    const forge = async (headers: Record<string, string>): Promise<void> => {
      const body = '{"message":"forged"}';
      const answer = await fetch(listening.url, { method: 'POST', headers, body });
      await answer.arrayBuffer();
    };
    const forged = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
      'ringback-subscription': listening.subscriberId,
      'ringback-attempt': '1',
    };
    await forge({ ...forged, 'ringback-event': 'forged.one' });
    await listening.says(/forged\.one {2}\S+ {2}SIGNATURE WRONG\n {2}\{"message":"forged"\}/);
    await forge({ ...forged, 'ringback-event': 'forged.two', 'webhook-signature': '' });
    await listening.says(/forged\.two {2}\S+ {2}SIGNATURE WRONG/);
    await forge({ ...forged, 'ringback-event': 'forged.three', 'webhook-timestamp': 'now' });
    await listening.says(/forged\.three {2}\S+ {2}SIGNATURE WRONG/);
    await forge({ 'ringback-event': 'forged.four', 'ringback-attempt': '1' });
    await listening.says(/forged\.four .*not from Ringback/);
    const unknown = { ...forged, 'ringback-subscription': `sub_${'0'.repeat(26)}` };
    await forge({ ...unknown, 'ringback-event': 'forged.five' });
    await listening.says(/forged\.five {2}\S+ {2}SIGNATURE WRONG/);
    assert.equal(listening.out().match(/signature ok/g)?.length, 1);
  });

  it('shows a callback whose body was changed on the way as wrong', async () => {
    await using receiver = await receive();
    await call(serving, '/subscribe', { body: { callbackUrl: receiver.url } });
    await using listening = await listen(serving);
    const id = await publish(serving, 'a', 'true');
    await listening.says(new RegExp(`${id}  signature ok`));
    const sent = (await receiver.waitFor(1)).find((one) => header(one, 'webhook-id') === id);
    assert.ok(sent);
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'ringback-subscription'];
    const headers = Object.fromEntries(names.map((name) => [name, header(sent, name)]));
    const replay = async (event: string, body: string): Promise<void> => {
      const more = { 'ringback-event': event, 'ringback-attempt': '1' };
      await fetch(listening.url, { method: 'POST', headers: { ...headers, ...more }, body });
    };
    // It knows the secret of any subscription of its app, so the true bytes are believed.
    await replay('replayed.true', sent.body.toString());
    await listening.says(/replayed\.true {2}\S+ {2}signature ok/);
    await replay('replayed.changed', '{"message":"false"}');
    await listening.says(/replayed\.changed {2}\S+ {2}SIGNATURE WRONG/);
    const [subscription = ''] = [headers['ringback-subscription']];
    await call(serving, `/unsubscribe?Id=${subscription}`, { body: {} });
  });

  it('hears one event with --event', async () => {
    await using listening = await listen(serving, ['--event', 'order.paid']);
    assert.match(listening.out(), /for the event order\.paid/);
    await publish(serving, 'order.created', 'not for us');
    const id = await publish(serving, 'order.paid', 'for us');
    await listening.says(new RegExp(`order\\.paid  ${id}  signature ok`));
    const page = await call(serving, `/deliveries?subscriberId=${listening.subscriberId}`);
    assert.equal((page['items'] as unknown[]).length, 1);
    assert.doesNotMatch(listening.out(), /not for us/);
  });

  it('passes body and headers on with --forward, and answers with what comes back', async () => {
    await using behind = await receive();
    let failures = 2;
    behind.script = () => ((failures -= 1) >= 0 ? 500 : 204);
    await using listening = await listen(serving, ['--forward', behind.url]);
    const id = await publish(serving, 'a.b', 'pass me on');
    await listening.says(new RegExp(`${id}  signature ok  forwarded: 500\\n`));
    await listening.says(new RegExp(`${id}  signature ok attempt 2  forwarded: 500\\n`));
    await listening.says(new RegExp(`${id}  signature ok attempt 3  forwarded: 204\\n`));
    const all = await behind.waitFor(3);
    for (const [index, one] of all.entries()) {
      assert.equal(one.method, 'POST');
      assert.equal(one.body.toString(), '{"message":"pass me on"}');
      assert.equal(header(one, 'content-type'), 'application/json');
      assert.equal(header(one, 'webhook-id'), id);
      assert.equal(header(one, 'ringback-event'), 'a.b');
      assert.equal(header(one, 'ringback-attempt'), String(index + 1));
      assert.match(header(one, 'webhook-signature'), /^v1,/);
    }
    const { items } = (await until(
      async () => call(serving, `/deliveries?eventId=${id}`),
      (page) => (page['items'] as { state: string }[])[0]?.state === 'delivered',
    )) as { items: { status: number; attemptCount: number }[] };
    assert.deepEqual([items[0]?.status, items[0]?.attemptCount], [204, 3]);
  });

  it('answers 502 and says so when there is nobody behind --forward', async () => {
    const port = await freePort();
    await using listening = await listen(serving, ['--forward', `http://127.0.0.1:${port}/`]);
    const id = await publish(serving, 'a', 'x');
    await listening.says(new RegExp(`${id}  signature ok  forwarded: 502\\n`));
    await listening.says(/Cannot forward to http:\/\/127\.0\.0\.1:\d+\/: .*ECONNREFUSED/, 'err');
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`unsubscribes on ${signal}`, async () => {
      await using listening = await listen(serving);
      const { subscriberId } = listening;
      listening.signal(signal);
      assert.equal(await listening.ended, 0);
      assert.match(listening.out(), /Unsubscribed\.\n$/);
      assert.equal(await stateOf(serving, subscriberId), 'ended');
    });
  }

  it('says what is missing without a key', async () => {
    const { code, err } = await runChild(['listen', '--url', serving.url, '--listen-port', '0']);
    assert.equal(code, 1);
    assert.equal(err, 'Cannot subscribe without a key: give --key or set RINGBACK_API_KEY\n');
  });

  it('says that a wrong key is refused', async () => {
    const args = ['listen', '--url', serving.url, '--listen-port', '0', '--key', 'wrong'];
    const { code, err } = await runChild(args);
    assert.equal(code, 1);
    assert.match(err, /^Ringback refused POST \/subscribe with 401: .*key.*\n$/);
  });

  it('says that there is no service', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, err } = await runChild([
      'listen',
      '--url',
      url,
      '--listen-port',
      '0',
      '--key',
      key,
    ]);
    assert.equal(code, 1);
    assert.match(err, new RegExp(`^Cannot reach Ringback at ${url}: .*ECONNREFUSED.*\\n$`));
  });

  it('says that its port is taken, or none', async () => {
    const taken = new URL(serving.url).port;
    const args = ['listen', '--url', serving.url, '--key', key, '--listen-port'];
    const first = await runChild([...args, taken]);
    assert.equal(first.code, 1);
    assert.match(first.err, /^Cannot listen: .*EADDRINUSE.*\n$/);
    for (const port of ['65536', 'x', '-1', '']) {
      const { code, err } = await runChild([...args, port]);
      assert.equal(code, 1, port);
      assert.match(err, /Cannot listen on port|argument is ambiguous|argument missing/);
    }
  });
});

describe('the first run', () => {
  it('delivers with the three lines that serve prints', async (t) => {
    const hasCurl = await run('curl', ['--version']).then(
      () => true,
      () => false,
    );
    if (!hasCurl) {
      t.skip('there is no curl here');
      return;
    }
    await using folder = await newFolder();
    await using serving = await serve({ RINGBACK_DATA: folder.path, RINGBACK_LOG: 'silent' });
    await serving.says(/curl \S+\/deliveries .*\n/);
    const printed = serving.out();
    const lines = [...printed.matchAll(/^ {2}(curl .*)$/gm)].map(([, line = '']) => line);
    assert.equal(lines.length, 3);
    const [, args = ''] = /npm run -s ringback -- (listen .*)\n/.exec(printed) ?? [];
    const port = (await isFree(8081)) ? '8081' : '0';
    const words = args.split(' ').map((word) => word.replaceAll('"', ''));
    await using listening = startChild([...words, '--listen-port', port]);
    const [, url = ''] = await listening.says(/Listening on (\S+) for every event/);
    const paste = async (line = ''): Promise<string> => {
      const adapted = line.replace('http://127.0.0.1:8081/', url);
      const { stdout } = await run('sh', ['-c', `${adapted} -sS --fail-with-body`]);
      return stdout;
    };
    assert.match(await paste(lines[0]), /"subscriberId":"sub_/);
    const { eventId, deliveries } = JSON.parse(await paste(lines[1])) as Record<string, unknown>;
    assert.equal(deliveries, 2, 'the listener’s own subscription, and the one by hand');
    // Both subscriptions lead to the listener, and it knows the secrets of both.
    const row = `order\\.created  ${String(eventId)}  signature ok\\n  {"message":"Order 42"}\\n`;
    await listening.says(new RegExp(`${row}[^]*${row}`));
    const seen = await until(
      async () => JSON.parse(await paste(lines[2])) as { items: { state: string }[] },
      ({ items }) => items.every(({ state }) => state === 'delivered'),
    );
    assert.equal(seen.items.length, 2);
  });
});

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
