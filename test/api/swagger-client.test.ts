// A standard client drives the service from the served document alone: this test contains no path, no
// parameter location and no header of the API.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { evaluate, type Message } from '../../src/contract/expression/evaluate.ts';
import { parseExpression } from '../../src/contract/expression/expression.ts';
import { start, type Running } from './harness.ts';

interface Client {
  execute: (options: Execution) => Promise<Response>;
}

interface Execution {
  operationId: string;
  parameters?: Record<string, unknown>;
  requestBody?: unknown;
  securities?: { authorized: Record<string, string> };
  requestInterceptor?: (request: Request) => Request;
}

interface Request {
  url: string;
  headers: Record<string, string>;
}

interface Response {
  status: number;
  /** The client splits header values at commas. */
  headers: Record<string, string | string[]>;
  body: Record<string, unknown>;
}

// The package has no type declarations.
const swaggerClient = createRequire(import.meta.url)('swagger-client') as (options: {
  url: string;
}) => Promise<Client>;

const names = { 'hooks.example': ['93.184.215.14'] };
const plain = await start({ names });
const both = await start({ names, env: { RINGBACK_REQUIRE_APP_ID: 'on' } });
after(async () => plain[Symbol.asyncDispose]());
after(async () => both[Symbol.asyncDispose]());

const callbackUrl = 'https://hooks.example/cb';
const variants: Readonly<Record<string, [status: number, execution: Partial<Execution>]>> = {
  body: [201, { requestBody: { callbackUrl } }],
  query: [201, { parameters: { callbackUrl, event: 'order.created' } }],
  multi: [200, { requestBody: { inProgressUrl: callbackUrl, successUrl: callbackUrl } }],
};
const places = ['ApiKeyHeader', 'ApiKeyQuery', 'ApiKeyCookie'];

describe('swagger-client', () => {
  for (const [variant, [status, execution]] of Object.entries(variants)) {
    for (const place of places) {
      it(`subscribes (${variant}) and follows the link, with the key as ${place}`, async () => {
        const client = await load(plain);
        const securities = { authorized: { [place]: plain.key } };
        const request = { operationId: 'subscribeOperation', ...execution, securities };
        const response = await client.execute(request);
        assert.equal(response.status, status);
        const id = await followLink(plain, client, { request, response });
        assert.equal(id, response.body['subscriberId']);
        const shown = await client.execute({
          operationId: 'getSubscription',
          parameters: { id },
          securities,
        });
        assert.equal(shown.body['state'], 'ended');
      });
    }
  }

  it('sends all its keys, one of which must be valid', async () => {
    const client = await load(plain);
    const authorized = { ApiKeyHeader: 'wrong', ApiKeyQuery: plain.key, ApiKeyCookie: 'wrong' };
    const [status, execution] = variants['query'] ?? [];
    const request = { operationId: 'subscribeOperation', ...execution, securities: { authorized } };
    assert.equal((await client.execute(request)).status, status);
  });

  for (const [variant, [, execution]] of Object.entries(variants)) {
    it(`gets 401 without a key (${variant})`, async () => {
      const client = await load(plain);
      const refused = await refusal(
        client.execute({ operationId: 'subscribeOperation', ...execution }),
      );
      assert.equal(refused.status, 401);
      assert.match(
        challengeOf(refused),
        /^ApiKey realm="ringback", in="header", name="X-API-Key", ApiKey /,
      );
    });
  }

  it('needs no key where the document requires none', async () => {
    const client = await load(both);
    for (const operationId of ['getHealth', 'getReadiness', 'getOpenapiJson', 'getOpenapiYaml']) {
      assert.equal((await client.execute({ operationId })).status, 200, operationId);
    }
  });
});

describe('swagger-client with RINGBACK_REQUIRE_APP_ID', () => {
  for (const place of places) {
    it(`sends ${place} and AppId together, because the document requires both`, async () => {
      const client = await load(both);
      const securities = { authorized: { [place]: both.key, AppId: both.appId } };
      const sent: Request[] = [];
      const request = {
        operationId: 'subscribeOperation',
        ...variants['body']?.[1],
        securities,
        requestInterceptor: (outgoing: Request): Request => {
          sent.push(outgoing);
          return outgoing;
        },
      };
      const response = await client.execute(request);
      assert.equal(response.status, 201);
      assert.equal(sent[0]?.headers['X-APP-ID'], both.appId);
      await followLink(both, client, { request, response });
    });

    it(`gets 401 with ${place} alone`, async () => {
      const client = await load(both);
      const securities = { authorized: { [place]: both.key } };
      const request = { operationId: 'subscribeOperation', ...variants['body']?.[1], securities };
      const refused = await refusal(client.execute(request));
      assert.equal(refused.status, 401);
      assert.match(challengeOf(refused), /and="X-APP-ID"/);
    });
  }
});

describe('openapi-schema-validator', () => {
  for (const [name, on] of [
    ['by default', plain],
    ['with RINGBACK_REQUIRE_APP_ID', both],
  ] as const) {
    it(`accepts the served document ${name}`, async () => {
      const result = await new Validator().validate(await served(on));
      assert.deepEqual(result, { valid: true });
    });
  }

  it('rejects the document without its title', async () => {
    const untitled = { ...(await served(plain)), info: { version: '1' } };
    const { valid } = await new Validator().validate(untitled);
    assert.equal(valid, false);
  });
});

async function load(on: Running): Promise<Client> {
  return swaggerClient({ url: `${on.url}/openapi.json` });
}

/** The document as served, because the client exposes only its resolved form. */
async function served(on: Running): Promise<Record<string, unknown>> {
  return (await on.call({ path: '/openapi.json', key: null })).json;
}

function challengeOf({ headers }: Response): string {
  return [headers['www-authenticate'] ?? ''].flat().join(', ');
}

/** Follows the link like a client: from the described response to the link, its expression and its operation. */
async function followLink(
  on: Running,
  client: Client,
  { request, response }: { request: Execution; response: Response },
): Promise<unknown> {
  const spec = await served(on);
  const paths = spec['paths'] as Record<string, Record<string, Described>>;
  const described = Object.values(paths)
    .flatMap((item) => Object.values(item))
    .find(({ operationId }) => operationId === request.operationId);
  const links = Object.values(described?.responses[response.status]?.links ?? {});
  assert.equal(links.length, 1);
  const link = links.map(({ $ref }) => valueAt(spec, $ref) as Link)[0];
  assert.ok(link);
  const parameters: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(link.parameters)) {
    const parsed = parseExpression(text);
    assert.ok(parsed.kind === 'parsed', text);
    const message = { query: new Map(), path: new Map(), header: new Map(), body: response.body };
    const exchange = { url: '', method: 'POST', request: nothing, response: message };
    const evaluated = evaluate(parsed.expression, exchange);
    assert.ok(evaluated.kind === 'value', text);
    parameters[name] = evaluated.text;
  }
  const { operationId } = link;
  const { securities } = request;
  const followed = await client.execute({
    operationId,
    parameters,
    ...(securities && { securities }),
  });
  assert.equal(followed.status, 200);
  assert.deepEqual(Object.keys(parameters), ['Id']);
  return parameters['Id'];
}

interface Described {
  operationId?: string;
  responses: Record<string, { links?: Record<string, { $ref: string }> }>;
}

interface Link {
  operationId: string;
  parameters: Record<string, string>;
}

const nothing: Message = { header: new Map(), query: new Map(), path: new Map(), body: undefined };

function valueAt(spec: unknown, ref: string): unknown {
  return ref
    .split('/')
    .slice(1)
    .reduce((value, name) => (value as Record<string, unknown>)[name], spec);
}

/** The response of a call that must fail. */
async function refusal(call: Promise<Response>): Promise<Response> {
  const error: unknown = await call.then(
    ({ status }) => assert.fail(`expected a refusal, got ${status}`),
    (reason: unknown) => reason,
  );
  const { response } = error as { response?: Response };
  assert.ok(response, String(error));
  return response;
}
