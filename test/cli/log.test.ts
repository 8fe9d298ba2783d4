// The log of the real process: one line per fact with its ids, the pretty format, and readers that leave or
// never read.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { receive } from '../e2e/receiver.ts';
import { inTime } from '../e2e/awaitable-count.ts';
import { main, newFolder, patienceMs, serve, startChild } from './ringback-process.ts';

const key = 'l'.repeat(40);

type Line = Record<string, unknown>;

function linesOf(text: string): Line[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

async function call(url: string, path: string, init: RequestInit = {}): Promise<Line> {
  const response = await fetch(url + path, {
    ...init,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
  });
  const text = await response.text();
  assert.ok(response.ok, text);
  return text === '' ? {} : (JSON.parse(text) as Line);
}

const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

describe('the log of ringback serve', () => {
  it('has one line per fact, with all its ids', async () => {
    await using folder = await newFolder();
    await using receiver = await receive(({ url }) => (url.startsWith('/gone') ? 410 : 500));
    await using child = await serve({
      RINGBACK_DATA: folder.path,
      RINGBACK_API_KEY: key,
      RINGBACK_RETRY: '1ms',
    });
    const { url } = child;
    const { subscriberId } = await call(
      url,
      '/subscribe',
      post({ callbackUrl: `${receiver.url}/CANARY-in-the-path?token=CANARY` }),
    );
    const payload = { message: 'CANARY' };
    const { eventId } = await call(url, '/events', post({ event: 'order.created', payload }));
    await child.says(/"msg":"delivery dead"/, 'err');
    const made = await call(url, '/keys', post({ name: 'CANARY name', scopes: ['read'] }));
    await call(url, `/keys/${String(made['id'])}`, { method: 'DELETE' });
    const nobodys = { state: 'dead', event: 'nobodys' };
    await call(url, '/replays', post({ filter: nobodys, dryRun: true }));
    const replay = await call(url, '/replays', post({ filter: nobodys }));
    await call(url, `/subscriptions/${String(subscriberId)}`, { method: 'DELETE' });
    const gone = receiver.url.replace('/hook', '/gone');
    await call(url, '/subscribe', post({ callbackUrl: gone }));
    await call(url, '/events', post({ event: 'order.created', payload }));
    await child.says(/"msg":"subscription ended by its receiver"/, 'err');
    child.signal('SIGTERM');
    assert.equal(await child.ended, 0);

    assert.doesNotMatch(child.err(), /CANARY/);
    const lines = linesOf(child.err());
    const saying = (msg: string): Line[] => lines.filter((line) => line['msg'] === msg);
    const did = (what: string): Line =>
      saying('request').find((line) => line['did'] === what) ?? {};
    const [started] = saying('started');
    assert.equal(started?.['store'], 'sqlite');
    // The timeout of the store is set for all tests (tools/test.ts).
    const settings = Object.keys(started['settings'] as object).filter(
      (name) => name !== 'RINGBACK_STORE_TIMEOUT',
    );
    assert.deepEqual(settings, ['RINGBACK_PORT', 'RINGBACK_DATA', 'RINGBACK_RETRY']);
    assert.equal(saying('stopped').length, 1);
    assert.equal(did('subscription created')['subscription'], subscriberId);
    assert.equal(did('subscription ended')['subscription'], subscriberId);
    assert.equal(did('key created')['subjectKey'], made['id']);
    const counted = saying('request').filter(({ operation }) => operation === 'createReplay');
    assert.deepEqual(
      counted.map((line) => [line['did'], line['replay']]),
      [
        [undefined, undefined],
        ['replay started', replay['id']],
      ],
    );
    assert.equal(did('key revoked')['subjectKey'], made['id']);
    const published = saying('request').find((line) => line['event'] === eventId);
    assert.equal(published?.['operation'], 'publishEvent');
    assert.equal(published['deliveries'], 1);
    const attempts = saying('attempt failed');
    assert.equal(attempts.length, 2);
    const [attempt] = attempts;
    const names = {
      app: child.appId,
      subscription: subscriberId,
      event: eventId,
      eventName: 'order.created',
      delivery: `dlv_${String(eventId).slice(4)}_0`,
    };
    const { level, time: _time, tookMs, dueAt, ...facts } = attempt ?? {};
    assert.deepEqual(facts, {
      ...names,
      attempt: 1,
      outcome: 'retry',
      status: 500,
      error: 'status',
      method: 'POST',
      url: new URL(receiver.url).origin,
      msg: 'attempt failed',
    });
    assert.equal(level, 30);
    assert.equal(typeof tookMs, 'number');
    assert.ok(!Number.isNaN(Date.parse(String(dueAt))));
    const [dead] = saying('delivery dead');
    const { level: warn, time: _at, ...end } = dead ?? {};
    assert.equal(warn, 40);
    const why = { outcome: 'dead', reason: 'exhausted', status: 500, error: 'status' };
    assert.deepEqual(end, {
      ...names,
      ...why,
      url: new URL(receiver.url).origin,
      msg: 'delivery dead',
    });
  });

  it('has one line per request, and masks a secret that is sent as request id', async () => {
    await using folder = await newFolder();
    await using child = await serve({ RINGBACK_DATA: folder.path, RINGBACK_API_KEY: key });
    for (const id of ['mine', 'whsec_CANARY']) {
      const headers = { 'x-api-key': key, 'x-request-id': id };
      assert.equal((await fetch(`${child.url}/subscriptions`, { headers })).status, 200);
    }
    child.signal('SIGTERM');
    assert.equal(await child.ended, 0);
    assert.doesNotMatch(child.err(), /CANARY/);
    const requests = linesOf(child.err()).filter((line) => line['msg'] === 'request');
    const ids = requests.map(({ requestId }) => requestId);
    assert.deepEqual(ids, ['mine', 'whsec_***']);
    const { level, time, tookMs, ...facts } = requests[0] ?? {};
    assert.equal(level, 30);
    assert.match(String(time), /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.equal(typeof tookMs, 'number');
    const { app: _app, key: name, ...others } = facts;
    assert.match(String(name), /^rbk_\w{8}$/);
    assert.deepEqual(others, {
      requestId: 'mine',
      method: 'GET',
      status: 200,
      operation: 'listSubscriptions',
      msg: 'request',
    });
  });

  it('is readable text with RINGBACK_LOG_FORMAT=pretty', async () => {
    await using folder = await newFolder();
    await using child = await serve({
      RINGBACK_DATA: folder.path,
      RINGBACK_API_KEY: key,
      RINGBACK_LOG_FORMAT: 'pretty',
    });
    await call(child.url, '/subscriptions');
    await child.says(
      /^\d\d:\d\d:\d\d\.\d{3} INFO {2}request requestId=req_\w+ .*status=200/m,
      'err',
    );
    assert.ok(!child.err().includes('\u001b'), 'no colours outside a terminal');
  });

  it('does not end the service when its readers leave', async () => {
    await using folder = await newFolder();
    const env = { ...process.env, RINGBACK_PORT: '0', RINGBACK_API_KEY: key };
    const child = spawn(process.execPath, [main, 'serve', '--data', folder.path], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      const { promise: listening, resolve } = Promise.withResolvers<string>();
      child.stdout.on('data', (chunk: Buffer) => {
        const [, url] = /listens on (\S+)/.exec(chunk.toString()) ?? [];
        if (url !== undefined) resolve(url);
      });
      const url = await listening;
      // Like `| head -1`, which closes the pipe after the first line.
      child.stdout.destroy();
      child.stderr.destroy();
      for (let i = 0; i < 20; i += 1) await call(url, '/subscriptions');
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number | null];
      assert.equal(code, 0);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('does not keep a process alive if no one reads it', async () => {
    const program = [process.execPath, join(import.meta.dirname, 'fill-log-and-exit.ts')] as const;
    await using child = startChild([], {}, program);
    await child.says(/ready/);
    const ended = child.deafen();
    child.signal('SIGTERM');
    assert.equal(await inTime(ended, patienceMs, () => 'the process does not exit'), 0);
  });
});
