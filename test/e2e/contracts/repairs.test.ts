// Documents with broken callback keys: each kind of repair works and is reported at the start with its location. A key
// that cannot be repaired does not affect the rest.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { receive } from '../receiver.ts';
import { documentOf, serve, type Serving } from './stage.ts';

function withKey(key: string): string {
  return documentOf(`
/hooks:
  post:
    requestBody:
      required: true
      content:
        application/json:
          schema:
            type: object
            properties:
              url: { type: string }
              nested: { type: object, properties: { url: { type: string } } }
    responses: { '201': { description: made } }
    callbacks:
      mended:
        ${JSON.stringify(key)}: { post: { responses: { '200': { description: ok } } } }
      sound:
        '{$request.body#/url}/sound': { post: { responses: { '200': { description: ok } } } }
`);
}

interface Told {
  pointer: string;
  message: string;
}

/** The warnings about the document in the log. */
function told(service: Serving): Told[] {
  return service
    .logged()
    .split('\n')
    .filter((line) => line.includes('"msg":"contract"'))
    .map((line) => {
      const { pointer, message } = JSON.parse(line) as Told;
      return { pointer, message };
    });
}

/** A JSON pointer to the callback's key. */
function placeOf(key: string): string {
  const token = key.replaceAll('~', '~0').replaceAll('/', '~1');
  return `#/paths/~1hooks/post/callbacks/mended/${token}`;
}

const repairs: Record<string, RegExp> = {
  '{request.body#/url}': /read as "\$request\.body#\/url": the "\$" was missing/,
  '{ $request.body#/url }': /read as "\$request\.body#\/url": surrounding spaces were removed/,
  ' {$request.body#/url} ': /read as "\{\$request\.body#\/url\}": surrounding spaces were removed/,
  '{$request.body#/url': /read as "\{\$request\.body#\/url\}": the final "\}" was missing/,
  '{$request.body#url}': /read as "\$request\.body#\/url": the "\/" after the "#" was missing/,
  '{url}': /read as "\$request\.body#\/url": the request body declares a property of that name/,
};

describe('a broken key', () => {
  for (const [key, message] of Object.entries(repairs)) {
    it(`${JSON.stringify(key)} is repaired, with a warning`, async () => {
      await using service = await serve(withKey(key));
      await using receiver = await receive();
      const warnings = told(service);
      assert.equal(warnings.length, 1);
      assert.equal(warnings[0]?.pointer, placeOf(key));
      assert.match(warnings[0]?.message ?? '', message);
      const { json } = await service.call({ path: '/contracts', key: null });
      const [contract] = json['items'] as { warnings: number }[];
      assert.equal(contract?.warnings, 1);
      assert.match(
        (await service.call({ path: '/docs', key: null })).text,
        /Notes on this document/,
      );
      await service.subscribe({ path: '/hooks', body: { url: receiver.url } });
      assert.equal(await service.deliveries('mended'), 1);
      const [request] = await receiver.waitFor(1);
      assert.equal(request?.url, '/hook');
    });
  }

  it('with several mistakes is reported with each of them', async () => {
    const key = ' { request.body#url ';
    await using service = await serve(withKey(key));
    await using receiver = await receive();
    const messages = told(service).map(({ message }) => message.split(': ').at(-1));
    assert.deepEqual(messages, [
      'surrounding spaces were removed',
      'surrounding spaces were removed',
      'the "$" was missing',
      'the "/" after the "#" was missing',
      'the final "}" was missing',
    ]);
    await service.subscribe({ path: '/hooks', body: { url: receiver.url } });
    assert.equal(await service.deliveries('mended'), 1);
    await receiver.waitFor(1);
  });

  it('with dots instead of slashes is repaired if the schema declares only the nested property', async () => {
    const key = '{$request.body#/nested.url}';
    await using service = await serve(withKey(key));
    const [warning] = told(service);
    assert.equal(warning?.pointer, placeOf(key));
    assert.match(warning?.message ?? '', /the request body declares only the nested property/);
    const hook = 'http://127.0.0.1:9000/';
    const body = { url: hook, nested: { url: `${hook}nested` } };
    const { id } = await service.subscribe({ path: '/hooks', body });
    assert.equal((await service.callbacksOf(id))[0]?.url, `${hook}nested`);
  });

  it('with dots that the schema does not confirm is not repaired', async () => {
    const key = '{$request.body#/other.url}';
    await using service = await serve(withKey(key));
    assert.match(told(service)[0]?.message ?? '', /write "#\/other\/url" if you mean a nested/);
    const hook = 'http://127.0.0.1:9000/';
    const body = { url: hook, other: { url: hook } };
    const { id } = await service.subscribe({ path: '/hooks', body });
    const [mended] = await service.callbacksOf(id);
    assert.equal(
      mended?.inactive,
      'the request body has nothing at "/other.url", but it has "/other/url"',
    );
  });

  it('in the notation of FastAPI refers to the parameter and the property', async () => {
    await using service = await serve(
      documentOf(`
/invoices/:
  post:
    parameters:
      - { name: callback_url, in: query, schema: { type: string, format: uri } }
    requestBody:
      required: true
      content:
        application/json:
          schema:
            type: object
            required: [id]
            properties: { id: { type: string }, total: { type: number } }
    responses: { '200': { description: taken } }
    callbacks:
      invoice_notification:
        '{$callback_url}/invoices/{$request.body.id}':
          post: { responses: { '200': { description: ok } } }
`),
    );
    await using receiver = await receive();
    assert.deepEqual(
      told(service).map(({ message }) => message.split(', ', 2)[1]?.split(':')[0]),
      ['read as "$request.query.callback_url"', 'read as "$request.body#/id"'],
    );
    const path = `/invoices/?callback_url=${receiver.url}`;
    await service.subscribe({ path, body: { id: 'a/1' }, status: 200 });
    assert.equal(await service.deliveries('invoice_notification'), 1);
    const [request] = await receiver.waitFor(1);
    assert.equal(request?.url, '/hook/invoices/a%2F1');
    const answer = await service.call({ method: 'POST', path: '/invoices/', body: { id: '1' } });
    assert.equal(answer.status, 200, answer.text);
  });

  for (const key of [
    'the URL that was registered',
    '{unknown}',
    'http://{host}/x',
    '{$request.cookie.a}',
  ]) {
    it(`${JSON.stringify(key)} stays inactive, and the others run`, async () => {
      await using service = await serve(withKey(key));
      await using receiver = await receive();
      const [warning] = told(service);
      assert.equal(warning?.pointer, placeOf(key));
      assert.match(warning?.message ?? '', /^the callback is inactive: Cannot /);
      const { id } = await service.subscribe({ path: '/hooks', body: { url: receiver.url } });
      const [mended] = await service.callbacksOf(id);
      assert.match(mended?.inactive ?? '', /^Cannot /);
      assert.equal(await service.deliveries('mended'), 0);
      assert.equal(await service.deliveries('sound'), 1);
      await receiver.waitFor(1);
    });
  }
});

describe('other warnings', () => {
  it('name expressions that never resolve, and parts that are not executed or ignored', async () => {
    await using service = await serve(
      documentOf(
        `
/hooks:
  post:
    parameters: [{ name: url, in: query, required: true, schema: { type: string } }]
    responses: { '201': { description: made } }
    callbacks:
      a:
        '{$request.query.url}?x={$request.query.undeclared}':
          post: { responses: { '200': { description: ok } } }
      b:
        '{$request.query.url}':
          post:
            responses: { '200': { description: ok } }
            callbacks: { inner: { '{$url}': { post: { responses: {} } } } }
      c:
        '{$request.query.url}/c': { description: no method }
`,
        'webhooks: { w: { post: { responses: {} } } }',
      ),
    );
    const messages = told(service).map(
      ({ pointer, message }) => `${pointer.split('/').at(-1)}: ${message}`,
    );
    assert.equal(messages.length, 3, messages.join('\n'));
    assert.match(messages.join('\n'), /"\$request\.query\.undeclared" never resolves/);
    assert.match(messages.join('\n'), /post: has callbacks of its own; they are not executed/);
    assert.match(messages.join('\n'), /has no operation .*; the callback is ignored/);
    const { id } = await service.subscribe({ path: '/hooks?url=http://127.0.0.1:9000/' });
    const callbacks = await service.callbacksOf(id);
    assert.deepEqual(
      callbacks.map(({ label, inactive }) => [label, inactive === undefined]),
      [
        ['a', false],
        ['b', true],
      ],
    );
  });
});
