import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { compileContract } from '../../contract/compile/compile.ts';
import type { Contract, Variant } from '../../contract/model/contract.ts';
import { loadContract } from '../../contract/compile/load.ts';
import { curl } from './example.ts';
import { viewOf } from './page.ts';

const own = await loadContract(join(import.meta.dirname, '..', '..', '..', 'openapi.yaml'));

function command(contract: Contract, operationId: string, variantName?: string): string {
  const operation = contract.operations.find((one) => one.operationId === operationId);
  assert.ok(operation, `${operationId} is there`);
  const variants: readonly Variant[] =
    operation.role.kind === 'subscribe' ? operation.role.variants : [];
  const variant = variants.find(({ name }) => name === variantName);
  return curl(viewOf(contract), operation, variant);
}

/** A document with one operation. */
function contractOf(operation: object, more: object = {}): Contract {
  return compileContract({
    path: 'made-up.yaml',
    root: {
      openapi: '3.1.0',
      info: { title: 'Made up', version: '1' },
      paths: { '/things/{id}': { post: { operationId: 'make', responses: {}, ...operation } } },
      ...more,
    },
  });
}

const idParameter = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

describe('curl', () => {
  it('sends what the variant needs, and nothing of another', () => {
    const body = command(own, 'subscribeOperation', 'body');
    assert.match(body, /^curl -X POST 'http:\/\/localhost:8080\/subscribe' \\\n/);
    assert.match(body, /-H "X-API-Key: \$KEY"/);
    assert.match(body, /"callbackUrl": "https:\/\/receiver\.example\/hook"/);
    assert.doesNotMatch(body, /inProgressUrl|\?/);
    const query = command(own, 'subscribeOperation', 'query');
    assert.match(query, /\?callbackUrl=https:\/\/receiver\.example\/hook&event=order\.created'/);
    assert.doesNotMatch(query, / -d /);
    const multi = command(own, 'subscribeOperation', 'multi');
    assert.match(multi, /inProgressUrl[^]*failedUrl[^]*successUrl/);
    assert.doesNotMatch(multi, /callbackUrl/);
  });

  it('asks the reader for what only the reader knows', () => {
    assert.match(
      command(own, 'unsubscribeOperation'),
      /"http:\/\/localhost:8080\/unsubscribe\?Id=\$ID"/,
    );
    assert.match(command(own, 'getSubscription'), /\/subscriptions\/\$ID"/);
  });

  it('leaves the key out where none is needed', () => {
    assert.equal(command(own, 'getHealth'), "curl 'http://localhost:8080/healthz'");
  });

  it('stands under the path of the server', () => {
    const contract = contractOf({ parameters: [idParameter] }, { servers: [{ url: '/api/v2/' }] });
    assert.match(command(contract, 'make'), /"http:\/\/localhost:8080\/api\/v2\/things\/\$ID"/);
  });

  it('sends each kind of credential where it belongs', () => {
    const schemes = {
      query: { type: 'apiKey', in: 'query', name: 'api key' },
      cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
      bearer: { type: 'http', scheme: 'bearer' },
      basic: { type: 'http', scheme: 'basic' },
      app: { type: 'apiKey', in: 'header', name: 'X-APP-ID' },
    };
    const withSecurity = (...names: string[]): string => {
      const security = [Object.fromEntries(names.map((name) => [name, []]))];
      const components = { securitySchemes: schemes };
      return command(contractOf({ parameters: [idParameter], security }, { components }), 'make');
    };
    assert.match(withSecurity('query'), /\?api%20key=\$KEY"/);
    assert.match(withSecurity('cookie'), /-b "session=\$KEY"/);
    assert.match(withSecurity('bearer', 'app'), /Bearer \$KEY" \\\n {2}-H "X-APP-ID: \$APP_ID"/);
    assert.match(withSecurity('basic'), /-u "key:\$KEY"/);
  });

  it('cannot be made to run anything else', () => {
    const evil = `'; touch /tmp/x; echo "$(id)\``;
    const contract = contractOf({
      parameters: [
        { ...idParameter, example: evil },
        { name: evil, in: 'query', required: true, schema: { type: 'string' }, example: evil },
        { name: 'X-Evil', in: 'header', required: true, schema: {}, example: evil },
      ],
      requestBody: { content: { 'application/json': { example: { [evil]: evil } } } },
    });
    // Outside of single quotes nothing is left but options and escaped quotes.
    const bare = command(contract, 'make').replaceAll(/'[^']*'|\\'/g, '');
    assert.match(bare, /^[\w\s\\-]*$/);
  });

  it('makes a callback target for a document without variants', () => {
    const contract = contractOf({
      parameters: [idParameter],
      requestBody: {
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['name'],
              properties: { name: { type: 'string' }, hook: { type: 'string' } },
            },
          },
        },
      },
      callbacks: { done: { '{$request.body#/hook}': { post: { responses: {} } } } },
    });
    const text = command(contract, 'make', '');
    assert.match(text, /"name": "string",\n {2}"hook": "https:\/\/example\.com\/callback"/);
  });
});
