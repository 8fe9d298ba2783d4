// Verifies callbacks as receivers do, with public packages, never with Ringback's own code.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { sign } from '../../src/egress/sign/sign.ts';
import { start, type Running } from '../api/harness.ts';
import { movableWorld } from './movable-world.ts';
import { header, receive, type Received } from './receiver.ts';
import { get, inState, onlyDelivery, patch, publish, quiet, subscribe } from './stage.ts';

const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/** Whether the callback is genuine; both packages must agree. */
function verifies(request: Received, secret: string, body: Buffer = request.body): boolean {
  const headers = Object.fromEntries(names.map((name) => [name, header(request, name)]));
  const verdicts = [StandardWebhook, SvixWebhook].map((Webhook) => {
    try {
      new Webhook(secret).verify(body, headers);
      return true;
    } catch {
      return false;
    }
  });
  assert.equal(verdicts[0], verdicts[1], 'the two packages disagree');
  return verdicts[0] === true;
}

async function rotate(service: Running, id: string, overlapSeconds: number): Promise<string> {
  const path = `/subscriptions/${id}/secret/rotate`;
  const answer = await service.call({ method: 'POST', path, body: { overlapSeconds } });
  assert.equal(answer.status, 200, answer.text);
  return String(answer.json['secret']);
}

describe('the signature of a callback', () => {
  it('is verified by standardwebhooks and svix, in every variant and for a ping', async () => {
    await using service = await start();
    await using receiver = await receive();
    const secrets = new Map<string, string>();
    for (const given of [
      receiver.url,
      { callbackUrl: receiver.url, event: 'success' },
      { body: { successUrl: receiver.url, failedUrl: receiver.url } },
    ]) {
      const { id, secret } = await subscribe(service, given);
      secrets.set(id, secret);
      await service.call({ method: 'POST', path: `/subscriptions/${id}/ping` });
    }
    await publish(service, 'success');
    await publish(service, 'failed');
    await quiet(service);
    assert.equal(receiver.requests.length, 4 + 3 + 2);
    for (const request of receiver.requests) {
      const own = header(request, 'ringback-subscription');
      for (const [id, secret] of secrets) assert.equal(verifies(request, secret), id === own);
    }
    for (const secret of secrets.values()) assert.ok(!service.logged().includes(secret));
  });

  it('is verified with the secret that GET …/secret shows', async () => {
    await using service = await start();
    await using receiver = await receive();
    const { id, secret } = await subscribe(service, receiver.url);
    const shown = await get<{ secret: string }>(service, `/subscriptions/${id}/secret`);
    assert.equal(shown.secret, secret);
    await publish(service, 'a');
    const [request] = await receiver.waitFor(1);
    assert(request);
    assert.equal(verifies(request, shown.secret), true);
  });

  it('covers the body, the id and the time', async () => {
    await using service = await start();
    await using receiver = await receive();
    const { secret } = await subscribe(service, receiver.url);
    await publish(service, 'a', { payload: '{"message":"pay 10"}' });
    const [request] = await receiver.waitFor(1);
    assert(request);
    assert.equal(verifies(request, secret), true);
    assert.equal(verifies(request, secret, Buffer.from('{"message":"pay 99"}')), false);
    assert.equal(verifies(request, secret, Buffer.from('{"message":"pay 10" }')), false);
    const later = String(Number(header(request, 'webhook-timestamp')) + 1);
    for (const changed of [{ 'webhook-id': 'evt_x' }, { 'webhook-timestamp': later }]) {
      const headers: Received['headers'] = { ...request.headers, ...changed };
      assert.equal(verifies({ ...request, headers }, secret), false);
    }
    assert.equal(verifies(request, `whsec_${randomBytes(32).toString('base64')}`), false);
  });

  it('is verified on each attempt, including retries by hand', async () => {
    const world = movableWorld();
    await using service = await start({ world, env: { RINGBACK_RETRY: '10ms,10ms' } });
    await using receiver = await receive(() => {
      world.moveOn(1_000);
      return 500;
    });
    const { secret } = await subscribe(service, receiver.url);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    await inState(service, id, 'dead');
    await service.call({ method: 'POST', path: `/deliveries/${id}/retry` });
    await receiver.waitFor(6);
    await inState(service, id, 'dead');
    assert.equal(receiver.requests.length, 6);
    for (const request of receiver.requests) assert.equal(verifies(request, secret), true);
    const signatures = receiver.requests.map((one) => header(one, 'webhook-signature'));
    assert.equal(new Set(signatures).size, 6);
  });

  it('is verified whatever characters the payload has', async () => {
    await using service = await start();
    await using receiver = await receive();
    const { secret } = await subscribe(service, receiver.url);
    // Every code point below U+0800 and some of the others, unescaped if JSON allows it.
    const points = Array.from({ length: 0x800 }, (_, point) => point).concat([
      0x2028, 0x2029, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x10000, 0x1f600, 0x10ffff,
    ]);
    const text = String.fromCodePoint(...points);
    const escaped = Array.from(text, (char) =>
      char.length === 1 ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char,
    ).join('');
    const payloads = [
      JSON.stringify({ message: text }),
      `{"message":"${escaped}"}`,
      String.raw`{"message":"\ud800 alone \udfff"}`,
      `{"message":"${'\u0301'.repeat(5_000)}"}`,
      '{\t"message"\r\n:"\u00a0\u3000"}',
      JSON.stringify({ message: Buffer.from(randomBytes(4_096)).toString('latin1') }),
      JSON.stringify({ message: Buffer.from(randomBytes(4_096)).toString('utf8') }),
    ];
    for (const payload of payloads) await publish(service, 'a', { payload });
    await receiver.waitFor(payloads.length);
    assert.deepEqual(
      receiver.requests.map(({ body }) => body.toString()).toSorted(),
      payloads.toSorted(),
    );
    for (const request of receiver.requests) assert.equal(verifies(request, secret), true);
  });
});

describe('rotating the secret', () => {
  it('lets both secrets verify during the overlap, and then only the new one', async () => {
    const world = movableWorld();
    await using service = await start({ world });
    await using receiver = await receive();
    const { id, secret: old } = await subscribe(service, receiver.url);
    const verdicts = async (count: number, secrets: string[]): Promise<boolean[]> => {
      await publish(service, 'a');
      const request = (await receiver.waitFor(count)).at(-1);
      assert(request);
      return secrets.map((secret) => verifies(request, secret));
    };
    assert.deepEqual(await verdicts(1, [old]), [true]);
    // The packages accept timestamps within five minutes, so the clock moves by less in total.
    const next = await rotate(service, id, 100);
    assert.notEqual(next, old);
    assert.deepEqual(await verdicts(2, [old, next]), [true, true]);
    world.moveOn(60_000);
    assert.deepEqual(await verdicts(3, [old, next]), [true, true]);
    world.moveOn(41_000);
    assert.deepEqual(await verdicts(4, [old, next]), [false, true]);
    const last = await rotate(service, id, 100);
    assert.deepEqual(await verdicts(5, [old, next, last]), [false, true, true]);
  });

  it('without an overlap ends the old secret at once', async () => {
    await using service = await start();
    await using receiver = await receive();
    const { id, secret: old } = await subscribe(service, receiver.url);
    const next = await rotate(service, id, 0);
    await publish(service, 'a');
    const [request] = await receiver.waitFor(1);
    assert(request);
    assert.deepEqual([verifies(request, old), verifies(request, next)], [false, true]);
  });

  it('between two attempts signs the second with the new secret', async () => {
    await using service = await start({ env: { RINGBACK_RETRY: '10ms' } });
    let next = '';
    await using receiver = await receive(async (request) => {
      if (header(request, 'ringback-attempt') === '2') return 200;
      next = await rotate(service, header(request, 'ringback-subscription'), 0);
      return 500;
    });
    const { secret: old } = await subscribe(service, receiver.url);
    await publish(service, 'a');
    const requests = await receiver.waitFor(2);
    assert.deepEqual(
      requests.map((request) => [verifies(request, old), verifies(request, next)]),
      [
        [true, false],
        [false, true],
      ],
    );
  });

  it('does not affect another subscription', async () => {
    await using service = await start();
    await using receiver = await receive();
    const one = await subscribe(service, receiver.url);
    const other = await subscribe(service, receiver.url);
    await rotate(service, one.id, 0);
    await publish(service, 'a', { subscriberId: other.id });
    const [request] = await receiver.waitFor(1);
    assert(request);
    assert.equal(verifies(request, other.secret), true);
  });
});

describe('signing with Ed25519', () => {
  it('is verified by the documented code with only the public key', async () => {
    const isGenuine = await documented();
    await using service = await start();
    await using receiver = await receive();
    const body = { callbackUrl: receiver.url, 'x-ringback': { signing: 'ed25519' } };
    const { id, secret: publicKey } = await subscribe(service, { body });
    assert.match(publicKey, /^whpk_[\w+/]{43}=$/);
    const shown = await service.call({ path: `/subscriptions/${id}/secret` });
    assert.deepEqual(shown.json, { secret: publicKey, publicKey });
    const subscription = await service.call({ path: `/subscriptions/${id}` });
    assert.equal(subscription.json['signing'], 'ed25519');

    await publish(service, 'a', { payload: '{"message":"pay 10 €"}' });
    const [request] = await receiver.waitFor(1);
    assert(request);
    assert.match(header(request, 'webhook-signature'), /^v1a,[\w+/]{86}==$/);
    assert.equal(isGenuine(publicKey, request.headers, request.body), true);
    const changed = Buffer.from('{"message":"pay 99 €"}');
    assert.equal(isGenuine(publicKey, request.headers, changed), false);
    const later = { ...request.headers, 'webhook-timestamp': String(Date.now() / 1000 + 1) };
    assert.equal(isGenuine(publicKey, later, request.body), false);
    const other = await subscribe(service, { body });
    assert.equal(isGenuine(other.secret, request.headers, request.body), false);
    for (const text of [service.logged(), shown.text, subscription.text]) {
      assert.ok(!text.includes('whsk_'));
    }
  });

  it('starts and stops like a rotation: both kinds sign for a day', async () => {
    const isGenuine = await documented();
    const world = movableWorld();
    await using service = await start({ world });
    await using receiver = await receive();
    const { id, secret: shared } = await subscribe(service, receiver.url);
    const setSigning = async (signing: string | null): Promise<string> => {
      const answer = await patch(service, id, { signing });
      assert.equal(answer.status, 200, answer.text);
      return (await get<{ secret: string }>(service, `/subscriptions/${id}/secret`)).secret;
    };
    let count = 0;
    /** The kinds of signatures, and whether each verifier accepts; public keys use the documented code. */
    const verdicts = async (...verifiers: string[]): Promise<unknown[]> => {
      await publish(service, 'a');
      const request = (await receiver.waitFor((count += 1))).at(-1);
      assert(request);
      const kinds = header(request, 'webhook-signature').replaceAll(/,\S+/g, '');
      const nowS = world.nowMs() / 1000;
      return [
        kinds,
        ...verifiers.map((verifier) =>
          verifier.startsWith('whpk_')
            ? isGenuine(verifier, request.headers, request.body, nowS)
            : verifies(request, verifier),
        ),
      ];
    };
    const first = await setSigning('ed25519');
    assert.deepEqual(await verdicts(shared, first), ['v1a v1', true, true]);
    assert.equal(await setSigning('ed25519'), first, 'nothing to change');
    const second = await rotate(service, id, 100);
    assert.match(second, /^whpk_/);
    assert.deepEqual(await verdicts(shared, first, second), ['v1a v1a', false, true, true]);
    const last = await setSigning(null);
    assert.match(last, /^whsec_/);
    assert.deepEqual(await verdicts(last, second), ['v1 v1a', true, true]);
    world.moveOn(24 * 60 * 60 * 1000);
    assert.deepEqual(await verdicts(second), ['v1', false]);
    assert.equal((await patch(service, id, { signing: 'rsa' })).status, 400);
  });
});

type IsGenuine = (
  publicKey: string,
  headers: Received['headers'],
  body: Buffer,
  nowS?: number,
) => boolean;

/** The code from docs/receiving.md, unchanged. */
async function documented(): Promise<IsGenuine> {
  const page = await readFile(new URL('../../docs/receiving.md', import.meta.url), 'utf8');
  const blocks = page.split('```js\n').map((text) => text.split('\n```')[0] ?? '');
  const code = blocks.find((text) => text.includes('function isGenuine(')) ?? '';
  const module: { isGenuine: IsGenuine } = await import(
    `data:text/javascript,${encodeURIComponent(code)}`
  );
  return module.isGenuine;
}

describe('the official test vector', () => {
  const vector = {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampS: 1_614_265_330,
    payload: '{"test": 2432232314}',
    signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };

  it('is reproduced by the packages and by Ringback', () => {
    const { secret, id, timestampS, payload, signature } = vector;
    const time = new Date(timestampS * 1000);
    assert.equal(new StandardWebhook(secret).sign(id, time, payload), signature);
    assert.equal(new SvixWebhook(secret).sign(id, time, payload), signature);
    const signable = { id, timestampS, payload: Buffer.from(payload), secrets: [secret] };
    assert.equal(sign(signable), signature);
  });
});
