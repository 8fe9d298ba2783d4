// `ringback listen` and `ringback serve` as real processes: what listen prints, verifies and forwards, and how
// it exits.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { receive, header } from '../e2e/receiver.ts';
import { until } from '../e2e/stage.ts';
import {
  newFolder,
  serve,
  startChild,
  type Child,
  type Folder,
  type Serving,
} from './ringback-process.ts';
import { runHere } from './in-process.ts';
import { isColoured, noTerminal, startOnTerminal } from './pty.ts';

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

  it('subscribes, and prints event, id, payload and signature check of each callback', async () => {
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

  it('marks forged callbacks as invalid', async () => {
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
    await listening.says(/forged\.one {2}\S+ {2}SIGNATURE INVALID\n {2}\{"message":"forged"\}/);
    await forge({ ...forged, 'ringback-event': 'forged.two', 'webhook-signature': '' });
    await listening.says(/forged\.two {2}\S+ {2}SIGNATURE INVALID/);
    await forge({ ...forged, 'ringback-event': 'forged.three', 'webhook-timestamp': 'now' });
    await listening.says(/forged\.three {2}\S+ {2}SIGNATURE INVALID/);
    await forge({ 'ringback-event': 'forged.four', 'ringback-attempt': '1' });
    await listening.says(/forged\.four .*not from Ringback/);
    const unknown = { ...forged, 'ringback-subscription': `sub_${'0'.repeat(26)}` };
    await forge({ ...unknown, 'ringback-event': 'forged.five' });
    await listening.says(/forged\.five {2}\S+ {2}SIGNATURE INVALID/);
    assert.equal(listening.out().match(/signature ok/g)?.length, 1);
  });

  it('marks a callback with a modified body as invalid', async () => {
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
    // The listener can read the secret of any subscription of its app, so the unmodified bytes are valid.
    await replay('replayed.true', sent.body.toString());
    await listening.says(/replayed\.true {2}\S+ {2}signature ok/);
    await replay('replayed.changed', '{"message":"false"}');
    await listening.says(/replayed\.changed {2}\S+ {2}SIGNATURE INVALID/);
    const [subscription = ''] = [headers['ringback-subscription']];
    await call(serving, `/unsubscribe?Id=${subscription}`, { body: {} });
  });

  it('receives one event with --event', async () => {
    await using listening = await listen(serving, ['--event', 'order.paid']);
    assert.match(listening.out(), /for the event order\.paid/);
    await publish(serving, 'order.created', 'not for us');
    const id = await publish(serving, 'order.paid', 'for us');
    await listening.says(new RegExp(`order\\.paid  ${id}  signature ok`));
    const page = await call(serving, `/deliveries?subscriberId=${listening.subscriberId}`);
    assert.equal((page['items'] as unknown[]).length, 1);
    assert.doesNotMatch(listening.out(), /not for us/);
  });

  it('forwards body and headers with --forward, and returns the response', async () => {
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

  it('answers 502 and prints the reason if the --forward target is down', async () => {
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

  it('explains a missing key, a wrong key, and a port in use', async () => {
    const base = ['listen', '--url', serving.url];
    const keyless = await runHere(base);
    assert.equal(keyless.code, 2);
    assert.match(
      keyless.err,
      /^Cannot call Ringback: no API key\. Pass --key, or set RINGBACK_API_KEY/,
    );
    const wrong = await runHere([...base, '--listen-port', '0', '--key', 'wrong']);
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /rejected the API key/);
    const { port } = new URL(serving.url);
    const taken = await runHere([...base, '--key', key, '--listen-port', port]);
    assert.equal(taken.code, 1);
    assert.match(taken.err, /^Cannot listen: .*EADDRINUSE.*\n$/);
    const nowhere = await runHere([...base, '--key', key, '--forward', 'ftp://x']);
    assert.equal(nowhere.code, 2);
    assert.match(nowhere.err, /^Cannot forward to "ftp:\/\/x": expected an http or https URL/);
  });

  it('reports that the service is not running', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const args = ['listen', '--url', url, '--listen-port', '0', '--key', key, '--json'];
    const { code, out, err } = await runHere(args);
    assert.deepEqual([code, out], [1, '']);
    const { error } = JSON.parse(err) as { error: { message: string } };
    assert.ok(error.message.includes(`Cannot reach Ringback at ${url}`), error.message);
    assert.match(error.message, /ECONNREFUSED/);
  });

  it('prints each callback as one line of JSON', async () => {
    const args = ['listen', '--url', serving.url, '--listen-port', '0', '--json'];
    await using child = startChild(args, { RINGBACK_API_KEY: key });
    const [first] = await child.says(/^\{.*\}\n/);
    const { url, subscriberId, ...start } = JSON.parse(first) as Record<string, unknown>;
    assert.deepEqual(start, { kind: 'listening', event: null });
    const id = await publish(serving, 'order.created', 'Order 42');
    await child.says(/"kind":"callback".*\n/);
    await fetch(String(url), { method: 'POST', body: 'from nobody' });
    await child.says(/from nobody.*\n/);
    child.signal('SIGTERM');
    assert.equal(await child.ended, 0);
    const lines = child.out().trimEnd().split('\n').slice(1);
    const [genuine, foreign, end] = lines.map(
      (line) => JSON.parse(line) as Record<string, unknown>,
    );
    const { at, delivery, ...callback } = genuine ?? {};
    assert.match(`${String(at)} ${String(delivery)}`, /^\S+Z dlv_\w+$/);
    const body = '{"message":"Order 42"}';
    assert.deepEqual(callback, {
      kind: 'callback',
      event: 'order.created',
      id,
      subscription: subscriberId,
      forwarded: null,
      body,
      attempt: 1,
      signature: 'ok',
      why: null,
    });
    assert.partialDeepStrictEqual(foreign, {
      signature: 'foreign',
      event: null,
      body: 'from nobody',
    });
    assert.deepEqual(end, { kind: 'unsubscribed', subscriberId });
  });

  it(
    'shows callbacks on a terminal, in colours, with control characters escaped',
    { skip: noTerminal },
    async () => {
      const args = ['listen', '--url', serving.url, '--listen-port', '0', '--key', key];
      await using shown = startOnTerminal(args, { columns: 60 });
      const [, url = ''] = await shown.says(/Listening on (\S+) for every event \(sub_\w+\)/);
      const id = await publish(serving, 'order.created', 'Order 42');
      const line = `order\\.created  ${id}  signature ok\\n  \\{"message":"Order 42"\\}`;
      await shown.says(new RegExp(line));
      const headers = { 'ringback-event': 'evil\u009b2J' };
      const body = '\u001b[2J\u001b]0;title\u0007\n12:00:00  order.paid  evt_1  signature ok';
      await fetch(url, { method: 'POST', headers, body });
      await shown.says(/evil\\u\{9b\}2J .*not from Ringback/);
      await shown.says(
        /^ {2}\\u\{1b\}\[2J\\u\{1b\}\]0;title\\u\{7\}\n {2}12:00:00 {2}order\.paid/m,
      );
      shown.type('\u0003');
      assert.equal(await shown.ended, 0);
      assert.match(shown.text(), /Unsubscribed\.\n$/);
      assert.ok(isColoured(shown.raw()));
      assert.ok(!shown.raw().includes('\u001b[2J'));
    },
  );
});

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
