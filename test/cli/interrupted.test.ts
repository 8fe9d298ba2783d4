// How commands end when interrupted: by Ctrl+C while a service hangs, or by a closed pipe.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { json as answers, rawService, type Behave } from '../client/raw-service.ts';
import { compileCache, main, patienceMs } from './ringback-process.ts';
import { runHere } from './in-process.ts';

const key = 'k'.repeat(40);
const eventId = `evt_${'1'.repeat(26)}`;
const subscriberId = `sub_${'1'.repeat(26)}`;
const replay = { id: `rpl_${'1'.repeat(26)}`, state: 'running', matched: 0 };

/** A service that never answers; Ctrl+C is pressed once a request has arrived. */
function frozen(): { behave: Behave; stopped: Promise<void>; isLeft: Promise<void> } {
  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const behave: Behave = (response) => {
    response.once('close', () => left.resolve());
    asked.resolve();
  };
  return { behave, stopped: asked.promise, isLeft: left.promise };
}

describe('Ctrl+C while a service hangs', { timeout: patienceMs }, () => {
  it('ends ringback publish --wait, which prints the accepted event', async () => {
    const { behave, stopped, isLeft } = frozen();
    await using service = await rawService(answers(202, { eventId, deliveries: 1 }), behave);
    const env = { RINGBACK_URL: service.url, RINGBACK_API_KEY: key };
    const words = ['publish', 'a', '{}', '--wait', '--json'];
    const { code, out, err } = await runHere(words, { env, stopped });
    await isLeft;
    assert.equal(code, 130);
    assert.deepEqual(JSON.parse(out), { eventId, deliveries: 1, ended: null });
    assert.match(
      err,
      /Stopped watching; rpl_\w+ continues|Stopped waiting; delivery of evt_\w+ continues/,
    );
  });

  it('ends ringback replay; the replay continues', async () => {
    const { behave, stopped, isLeft } = frozen();
    const counted = answers(200, { matched: 3, isCapped: false });
    await using service = await rawService(counted, answers(202, replay), behave);
    const env = { RINGBACK_URL: service.url, RINGBACK_API_KEY: key };
    const { code, out, err } = await runHere(['replay', '--yes', '--json'], { env, stopped });
    await isLeft;
    assert.equal(code, 130);
    assert.deepEqual(JSON.parse(out), replay);
    assert.match(err, /ringback replay cancel rpl_1+ /);
  });

  it('ends ringback listen before it is subscribed', async () => {
    const { behave, stopped, isLeft } = frozen();
    await using service = await rawService(behave);
    const env = { RINGBACK_URL: service.url, RINGBACK_API_KEY: key };
    const words = ['listen', '--listen-port', '0', '--event', 'order.*'];
    const { code, out, err } = await runHere(words, { env, stopped });
    await isLeft;
    // The query variant of the contract accepts event names only, so patterns are sent in the body.
    assert.match(service.seen[0]?.body ?? '', /"x-ringback":\{"events":\["order\.\*"\]\}/);
    assert.deepEqual([code, out], [130, '']);
    assert.match(err, /^Interrupted before the service responded: it may have subscribed http:/);
  });

  it('aborts what ringback listen forwards, and still unsubscribes', async () => {
    const { behave, stopped, isLeft } = frozen();
    await using behind = await rawService(behave);
    await using service = await rawService(answers(200, { subscriberId, secret: 'whsec_x' }));
    const env = { RINGBACK_URL: service.url, RINGBACK_API_KEY: key };
    const callback = Promise.withResolvers<string>();
    const onOut = (text: string): void => {
      const url = /Listening on (\S+)/.exec(text)?.[1];
      if (url !== undefined) callback.resolve(url);
    };
    const words = ['listen', '--listen-port', '0', '--forward', behind.url];
    const ended = runHere(words, { env, stopped, onOut });
    const sent = fetch(await callback.promise, { method: 'POST', body: '{}' });
    await assert.rejects(sent);
    await isLeft;
    const { code, out, err } = await ended;
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /\nUnsubscribed\.\n$/);
    assert.match(service.seen.at(-1)?.path ?? '', /^\/unsubscribe/);
  });
});

describe('a closed pipe', { timeout: patienceMs }, () => {
  const { PATH = '', HOME = '' } = process.env;
  const shell = async (url: string, line: string): Promise<{ said: string; err: string }> => {
    const child = spawn('bash', ['-c', line], {
      env: {
        PATH,
        HOME,
        NODE_COMPILE_CACHE: compileCache,
        RINGBACK_URL: url,
        RINGBACK_API_KEY: key,
        ringback: `${process.execPath} ${main}`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const texts = { said: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (texts.said += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (texts.err += chunk.toString()));
    await once(child, 'close');
    return texts;
  };
  const event = { id: eventId, event: 'a', deliveries: 1, createdAt: '2026-01-31T12:00:00Z' };

  it('ends a long list', async () => {
    let pages = 0;
    const endless: Behave = (response, seen) => {
      pages += 1;
      const items = Array.from({ length: 100 }, () => event);
      return answers(200, { items, nextCursor: `c${pages}` })(response, seen);
    };
    await using service = await rawService(endless);
    const line = '$ringback events --all --json | head -c 100; echo " ${PIPESTATUS[0]}"';
    const { said, err } = await shell(service.url, line);
    assert.match(said, /^\{"items":\[\{"id":"evt_1+".* 141\n$/);
    assert.equal(err, '');
  });

  it('ends the live view', async () => {
    const callback = { position: 0, label: 'x', method: 'POST', url: 'x' };
    const delivery = { ...event, state: 'due', attemptCount: 0, callback };
    const data = JSON.stringify({ deliveries: [delivery], more: 0, isReset: false });
    const live: Behave = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const send = (): void => {
        if (!response.destroyed) response.write(`event: changes\ndata: ${data}\n\n`, again);
      };
      const again = (): void => void setImmediate(send);
      send();
    };
    await using service = await rawService(live);
    const line = '$ringback deliveries --watch --json | head -n 1; echo "${PIPESTATUS[0]}"';
    const { said, err } = await shell(service.url, line);
    assert.match(said, /^\{"id":"evt_1+".*\n0\n$/);
    assert.equal(err, '');
  });

  it('is distinguished from a full disk, which is explained in one sentence', async () => {
    await using service = await rawService(answers(200, { items: [event], nextCursor: null }));
    const { said, err } = await shell(service.url, '$ringback events > /dev/full; echo $?');
    assert.equal(said, '1\n');
    assert.match(err, /^Cannot write to standard output: .*ENOSPC.*\n$/);
  });
});
