// Browsers send a key in a cookie with every request (docs/openapi-semantics.md rule 26). Each
// combination of the headers with which a browser describes a request is sent to real routes, and
// compared with a model of the rule.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { start, type Running } from './harness.ts';
import { cases, isRefused, publicUrl, types, type Case } from './origin-cases.ts';
import { mountContract } from './mount-contract.ts';
import { rawClient, type RawAnswer, type RawClient } from './raw-client.ts';

type Lines = [string, string][];

/** The status of a request that is admitted. */
function statusOf({ method, type }: Case): number {
  if (method === 'GET') return 200;
  if (method === 'DELETE') return type === 'tab' ? 415 : 204; // An invalid media type; otherwise the body is not read.
  if (type === 'none') return 400;
  if (type !== 'json') return 415;
  return method === 'POST' ? 201 : 200;
}

const putDocument = {
  openapi: '3.0.4',
  info: { title: 'Put', version: '1' },
  servers: [{ url: '/' }],
  security: [{ H: [] }, { C: [] }],
  components: {
    securitySchemes: {
      H: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      C: { type: 'apiKey', in: 'cookie', name: 'X-API-KEY' },
    },
  },
  paths: {
    '/thing': {
      put: {
        operationId: 'putThing',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { type: 'object' } } },
        },
        responses: { 200: { description: 'ok' } },
      },
    },
  },
};

describe('a key in a cookie', () => {
  let service: Running;
  let client: RawClient;
  let subscription: string;
  before(async () => {
    service = await start({
      env: { RINGBACK_PUBLIC_URL: publicUrl, RINGBACK_ALLOW_TARGETS: 'loopback' },
    });
    client = rawClient(service.url);
    const body = { callbackUrl: 'http://127.0.0.1:9000/' };
    const made = await service.call({ method: 'POST', path: '/subscribe', body });
    subscription = String(made.json['subscriberId']);
  });
  after(async () => {
    client[Symbol.dispose]();
    await service[Symbol.asyncDispose]();
  });

  /** One real route for each method. A second DELETE answers like the first. */
  const target = (method: string): { path: string; body: string } => {
    const routes: Record<string, { path: string; body: string }> = {
      POST: { path: '/subscribe', body: '{"callbackUrl":"http://127.0.0.1:9000/"}' },
      PATCH: { path: `/subscriptions/${subscription}`, body: '{"state":"active"}' },
      DELETE: { path: '/subscriptions/ended', body: '{}' },
      GET: { path: '/subscriptions?limit=1', body: '{}' },
    };
    return routes[method] ?? { path: '/thing', body: '{}' };
  };

  it(`obeys OpenAPI semantics, rule 26, in all ${cases.length} cases`, async () => {
    await using put = await mountContract(putDocument, { publicUrl });
    using putClient = rawClient(put.url);
    const ended = await service.call({
      method: 'POST',
      path: '/subscribe',
      body: { callbackUrl: 'http://127.0.0.1:9000/' },
    });
    const endedPath = `/subscriptions/${String(ended.json['subscriberId'])}`;
    const countBefore = await countSubscriptions();

    const ask = async (one: Case): Promise<RawAnswer> => {
      const { method, type } = one;
      const { path, body } = target(method);
      const key = method === 'PUT' ? put.key : service.key;
      const call = {
        method,
        path: method === 'DELETE' ? endedPath : path,
        headers: linesOf(one, key),
        ...(type === 'none' ? {} : { body }),
      };
      return (method === 'PUT' ? putClient : client).send(call);
    };
    const wrong: object[] = [];
    let created = 0;
    for (const one of cases) {
      const { status, json, headers } = await ask(one);
      if (status === 201) created += 1;
      const expected = isRefused(one) ? 403 : statusOf(one);
      const isRight =
        status === expected && (json['code'] === 'cross_origin') === (expected === 403);
      if (!isRight) wrong.push({ ...one, status, expected });
      assert.equal(headers['vary'], 'Origin, Sec-Fetch-Site');
      const cors = Object.keys(headers).filter((name) => name.startsWith('access-control-'));
      assert.deepEqual(cors, [], 'no other origin may read a response');
    }
    assert.deepEqual(wrong.slice(0, 10), [], `${wrong.length} of ${cases.length} are wrong`);
    assert.equal(await countSubscriptions(), countBefore + created, 'a refusal changes nothing');
  });

  const countSubscriptions = async (): Promise<number> => {
    let count = 0;
    let cursor: unknown = null;
    do {
      const from: string = typeof cursor === 'string' ? `&cursor=${cursor}` : '';
      const { json } = await service.call({ path: `/subscriptions?limit=500${from}` });
      count += (json['items'] as unknown[]).length;
      cursor = json['nextCursor'];
    } while (cursor !== null);
    return count;
  };

  const patch = async (headers: Lines, body = '{"state":"active"}'): Promise<number> => {
    const json: Lines = [['Content-Type', 'application/json']];
    const { path } = target('PATCH');
    const all = [...json, ...headers];
    return (await client.send({ method: 'PATCH', path, headers: all, body })).status;
  };

  it('is ignored if the same request has a key in the header or the query', async () => {
    const { key } = service;
    const evil: Lines = [
      ['Cookie', `X-API-KEY=${key}`],
      ['Sec-Fetch-Site', 'cross-site'],
      ['Origin', 'https://evil.example'],
    ];
    assert.equal(await patch(evil), 403);
    assert.equal(await patch([...evil, ['X-API-Key', key]]), 200);
    assert.equal(await patch([...evil, ['X-API-Key', 'wrong']]), 403);
    const body = '{"state":"active"}';
    const headers: Lines = [...evil, ['Content-Type', 'application/json']];
    const path = `${target('PATCH').path}?api_key=${key}`;
    assert.equal((await client.send({ method: 'PATCH', path, headers, body })).status, 200);
  });

  it('answers 401 to a wrong key from any origin, so that the origin reveals nothing about keys', async () => {
    const evil: Lines = [['Sec-Fetch-Site', 'cross-site']];
    assert.equal(await patch([...evil, ['Cookie', 'X-API-KEY=wrong']]), 401);
  });

  it('is refused from origins that only look like ours', async () => {
    const near = [
      'https://hooks.example.',
      'https://hooks.example/',
      'https://hooks.example:443',
      'https://hooks.example:8443',
      'http://hooks.example',
      'https://sub.hooks.example',
      'https://hooks.example.evil.example',
      'HTTPS://HOOKS.EXAMPLE',
      'https://hooks.example, https://hooks.example',
      '',
      service.url,
    ];
    const cookie: Lines = [['Cookie', `X-API-KEY=${service.key}`]];
    assert.equal(await patch([...cookie, ['Origin', publicUrl]]), 200);
    for (const origin of near) {
      assert.equal(await patch([...cookie, ['Origin', origin]]), 403, `Origin "${origin}"`);
    }
    const twice: Lines = [
      ['Origin', publicUrl],
      ['Origin', 'https://evil.example'],
    ];
    assert.equal(await patch([...cookie, ...twice]), 403);
  });

  it('is refused if Sec-Fetch-Site is unknown or given twice', async () => {
    const cookie: Lines = [
      ['Cookie', `X-API-KEY=${service.key}`],
      ['Origin', publicUrl],
    ];
    for (const site of ['', 'Same-Origin', 'same-origin ,none', 'cross-site, same-origin', 'x']) {
      assert.equal(await patch([...cookie, ['Sec-Fetch-Site', site]]), 403, `"${site}"`);
    }
    const twice: Lines = [
      ['Sec-Fetch-Site', 'same-origin'],
      ['Sec-Fetch-Site', 'cross-site'],
    ];
    assert.equal(await patch([...cookie, ...twice]), 403);
  });

  it('is refused with a chunked body that is not JSON', async () => {
    const headers: Lines = [
      ['Cookie', `X-API-KEY=${service.key}`],
      ['Content-Type', 'text/plain'],
      ['Transfer-Encoding', 'chunked'],
    ];
    const { status } = await client.send({ method: 'PATCH', path: target('PATCH').path, headers });
    assert.equal(status, 403);
  });

  it('derives its own origin from host and port if no public URL is set', async () => {
    await using local = await start();
    using there = rawClient(local.url);
    const ask = async (origin: string): Promise<number> => {
      const headers: Lines = [
        ['Cookie', `X-API-KEY=${local.key}`],
        ['Origin', origin],
      ];
      return (await there.send({ method: 'DELETE', path: '/subscriptions/none', headers })).status;
    };
    assert.equal(await ask(local.url), 404, 'admitted');
    assert.equal(await ask('http://127.0.0.1:1'), 403);
    assert.equal(await ask('http://localhost'), 403);
  });

  it('ignores method overrides', async () => {
    const headers: Lines = [
      ['Cookie', `X-API-KEY=${service.key}`],
      ['Sec-Fetch-Site', 'cross-site'],
      ['X-HTTP-Method-Override', 'DELETE'],
    ];
    const path = `/subscriptions/${subscription}`;
    assert.equal((await client.send({ path, headers })).json['state'], 'active');
    assert.equal((await client.send({ path, headers })).json['state'], 'active');
  });
});

function linesOf({ carrier, site, origin, type }: Case, key: string): Lines {
  const lines: Lines = [carrier === 'cookie' ? ['Cookie', `X-API-KEY=${key}`] : ['X-API-Key', key]];
  const mediaType = types[type];
  if (site !== undefined) lines.push(['Sec-Fetch-Site', site]);
  if (origin !== undefined) lines.push(['Origin', origin]);
  if (mediaType !== undefined) lines.push(['Content-Type', mediaType]);
  return lines;
}
