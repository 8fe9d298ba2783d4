// Sends every URL of the SSRF corpus to POST /subscribe: none is accepted, none is stored. Names resolve
// to the address that the URL hides; a name is accepted only if all its addresses are public.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import type { Resolver } from '../../src/egress/guard/resolve.ts';
import { start } from './harness.ts';
import { rawClient, type RawAnswer } from './raw-client.ts';

interface Row {
  target: string;
  spelling: string;
  wrap: string;
  url: string;
}

const file = new URL('../../../shared/corpus/ssrf-urls.json', import.meta.url);
const skip = existsSync(file) ? false : 'the corpus ../shared/corpus/ssrf-urls.json is absent';
const rows = skip === false ? (JSON.parse(readFileSync(file, 'utf8')) as Row[]) : [];

/** The addresses to which every name resolves now. */
let addresses: readonly string[] = [];
const resolver: Resolver = { resolve: async () => ({ kind: 'addresses', addresses }) };
const service = await start({ resolver, env: { RINGBACK_ALLOW_TARGETS: 'none' } });
const client = rawClient(service.url);
after(async () => {
  client[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

const publicAddress = '93.184.215.14';

/** All rows in one variant, and a tenth of them in each of the others, which share its guard. */
const variants: readonly (readonly [string, Row[], (url: string) => Promise<RawAnswer>])[] = [
  ['body', rows, send],
  [
    'query',
    rows.filter((_row, index) => index % 10 === 0),
    async (url) => post(`/subscribe?callbackUrl=${encodeURIComponent(url)}&event=e`),
  ],
  [
    'multi',
    rows.filter((_row, index) => index % 10 === 5),
    async (url) => post('/subscribe', { inProgressUrl: 'https://203.1.1.1/', failedUrl: url }),
  ],
];

describe('POST /subscribe over the corpus', { skip }, () => {
  for (const [variant, some, ask] of variants) {
    it(`accepts none of ${some.length} URLs (${variant})`, async () => {
      assert(rows.length > 4000, 'the corpus is incomplete');
      const wrong: string[] = [];
      for (const [target, group] of Map.groupBy(some, (row) => row.target)) {
        addresses = [/^\d/.test(target) ? target : '10.0.0.1'];
        await inParallel(group, async ({ url }) => {
          const { status, json } = await ask(url);
          if (`${status} ${String(json['code'])}` !== '422 target_refused') {
            wrong.push(`${JSON.stringify(url)} with names at ${target}: ${status}`);
          }
        });
      }
      assert.deepEqual(wrong, []);
    });
  }

  it('stores none of them', async () => {
    assert.deepEqual((await service.call({ path: '/subscriptions' })).json['items'], []);
  });

  it('does not reveal the address of a name', async () => {
    addresses = ['10.11.12.13'];
    const { status, text } = await send('https://hooks.example/');
    assert.equal(status, 422);
    assert.doesNotMatch(text, /10\.11\.12\.13/);
  });
});

describe('POST /subscribe of a service behind a proxy', () => {
  const environments = [
    { RINGBACK_PUBLIC_URL: 'https://hooks.example' },
    { RINGBACK_TRUST_PROXY: 'on' },
  ];
  for (const env of environments) {
    it(`refuses loopback, although the service listens on it: ${JSON.stringify(env)}`, async () => {
      await using proxied = await start({ env });
      for (const callbackUrl of [
        'http://127.0.0.1:2375/',
        'http://localhost:9000/',
        'http://[::1]:9000/',
      ]) {
        const call = { method: 'POST', path: '/subscribe', body: { callbackUrl } };
        const { status, json } = await proxied.call(call);
        assert.deepEqual([status, json['code']], [422, 'target_refused'], callbackUrl);
      }
    });
  }

  it('accepts loopback if RINGBACK_ALLOW_TARGETS lists it', async () => {
    const env = { RINGBACK_TRUST_PROXY: 'on', RINGBACK_ALLOW_TARGETS: 'loopback' };
    await using proxied = await start({ env });
    const body = { callbackUrl: 'http://127.0.0.1:9000/' };
    const { status } = await proxied.call({ method: 'POST', path: '/subscribe', body });
    assert.equal(status, 201);
  });
});

describe('POST /subscribe with a name', () => {
  const forbidden = [
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '::1',
    'fd00::1',
    '::ffff:10.0.0.1',
  ];
  for (const address of forbidden) {
    it(`refuses a mixed answer: public and ${address}, in both orders`, async () => {
      for (const answer of [
        [publicAddress, address],
        [address, publicAddress],
      ]) {
        addresses = answer;
        const { status, json } = await send('https://hooks.example/cb');
        assert.deepEqual([status, json['code']], [422, 'target_refused']);
      }
    });
  }

  it('refuses a name without an address', async () => {
    addresses = [];
    assert.equal((await send('https://hooks.example/cb')).status, 422);
  });

  it('stores none of these', async () => {
    assert.deepEqual((await service.call({ path: '/subscriptions' })).json['items'], []);
  });

  it('accepts a public answer', async () => {
    addresses = [publicAddress, '2606:2800:21f:cb07:6820:80da:af6b:8b2c'];
    assert.equal((await send('https://hooks.example/cb')).status, 201);
    const { json } = await service.call({ path: '/subscriptions' });
    const items = json['items'] as { callbacks: { url: string }[] }[];
    assert.deepEqual(
      items.map(({ callbacks }) => callbacks[0]?.url),
      ['https://hooks.example/cb'],
    );
  });
});

async function send(url: string): Promise<RawAnswer> {
  return post('/subscribe', { callbackUrl: url });
}

async function post(path: string, body?: unknown): Promise<RawAnswer> {
  const key = ['X-API-Key', service.key] as const;
  if (body === undefined) return client.send({ method: 'POST', path, headers: [key] });
  const headers = [key, ['Content-Type', 'application/json'] as const];
  return client.send({ method: 'POST', path, headers, body: JSON.stringify(body) });
}

/** Processes all items, a few at a time. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
