// Callback URLs in foreign documents: every place that a URL can come from, over real sockets, with nothing configured
// but the document.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { receive } from '../receiver.ts';
import { documentOf, serve, type Serving } from './stage.ts';

describe('a URL in an optional header', () => {
  const header = documentOf(`
/orders:
  post:
    parameters:
      - { name: X-Callback-Url, in: header, schema: { type: string, format: uri } }
      - { name: X-Audit-Url, in: header, schema: { type: string, format: uri } }
    requestBody: { content: { application/json: { schema: { type: object } } } }
    responses: { '202': { description: taken } }
    callbacks:
      shipped:
        '{$request.header.X-Callback-Url}': { post: { responses: { '200': { description: ok } } } }
      audited:
        '{$request.header.x-audit-url}/log': { post: { responses: { '200': { description: ok } } } }
`);

  it('is called if it is given; the other callback is inactive, with the reason', async () => {
    await using service = await serve(header);
    await using receiver = await receive();
    const { id } = await service.subscribe({
      path: '/orders',
      headers: { 'x-callback-url': receiver.url },
      status: 202,
    });
    assert.deepEqual(await service.callbacksOf(id), [
      {
        position: 0,
        label: 'shipped',
        event: 'shipped',
        events: ['shipped'],
        method: 'POST',
        url: receiver.url,
      },
      {
        position: 1,
        label: 'audited',
        event: 'audited',
        events: ['audited'],
        method: 'POST',
        inactive: 'the request has no header "x-audit-url"',
      },
    ]);
    assert.equal(await service.deliveries('audited'), 0);
    assert.equal(await service.deliveries('shipped', { payload: { order: 7 } }), 1);
    const [request] = await receiver.waitFor(1);
    assert.deepEqual([request?.method, request?.url], ['POST', '/hook']);
    assert.equal(request?.body.toString(), '{"order":7}');
  });

  it('may be absent: the request succeeds, and no subscription is created', async () => {
    await using service = await serve(header);
    const answer = await service.call({ method: 'POST', path: '/orders', body: { item: 7 } });
    assert.deepEqual([answer.status, answer.text], [202, '{}']);
    assert.deepEqual((await service.call({ path: '/subscriptions' })).json['items'], []);
  });
});

describe('an optional URL in the body', () => {
  const bodyOf = (
    required: string,
    properties: string,
    key = '{$request.body#/hook/url}',
  ): string =>
    documentOf(`
/jobs:
  post:
    requestBody:
      required: true
      content:
        application/json:
          schema:
            type: object
            required: [${required}]
            properties:
              hook: { type: object, nullable: true, properties: { url: { type: string } } }
              ${properties}
    responses:
      '201':
        description: made
        content:
          application/json:
            schema: { type: object, properties: { id: { type: string }, task: { type: string } } }
    callbacks:
      done:
        '${key}': { post: { responses: { '200': { description: ok } } } }
      written:
        'written down elsewhere': { post: { responses: { '200': { description: ok } } } }
`);
  const post = (body: unknown): Parameters<Serving['call']>[0] => ({
    method: 'POST',
    path: '/jobs',
    body,
  });

  it('may be absent or null: there is no subscription, and the response has no id', async () => {
    await using service = await serve(bodyOf('', 'task: { type: string }'));
    for (const body of [
      { task: 'print' },
      { task: 'print', hook: null },
      { task: 'print', hook: {} },
    ]) {
      const answer = await service.call(post(body));
      assert.deepEqual([answer.status, answer.json], [201, { task: 'print' }]);
      assert.equal(answer.headers.get('location'), null);
    }
    assert.deepEqual((await service.call({ path: '/subscriptions' })).json['items'], []);
    const { id } = await service.subscribe({
      path: '/jobs',
      body: { task: 'print', hook: { url: 'http://127.0.0.1:9000/' } },
    });
    assert.match(id, /^sub_/);
  });

  it('must be given if the operation does nothing but subscribe', async () => {
    await using service = await serve(bodyOf('', ''));
    const answer = await service.call(post({}));
    assert.deepEqual([answer.status, answer.json['code']], [400, 'no_callback']);
    assert.match(String(answer.json['detail']), /nothing at "\/hook\/url"/);
  });

  it('must be given if the schema requires it or does not declare it', async () => {
    await using service = await serve(bodyOf('hook', 'task: { type: string }'));
    const missing = await service.call(post({ task: 'print' }));
    assert.deepEqual([missing.status, missing.json['code']], [400, 'invalid_request']);
    const undeclared = bodyOf('', 'task: { type: string }', '{$request.body#/elsewhere}');
    await using other = await serve(undeclared);
    const answer = await other.call(post({ task: 'print' }));
    assert.deepEqual([answer.status, answer.json['code']], [400, 'no_callback']);
  });
});

describe('a list of URLs', () => {
  const list = documentOf(`
/watch:
  post:
    requestBody:
      required: true
      content:
        application/json:
          schema:
            type: object
            required: [urls]
            properties: { urls: { type: array, minItems: 1, items: { type: string } } }
    responses: { '201': { description: made } }
    callbacks:
      changed:
        '{$request.body#/urls}': { post: { responses: { '200': { description: ok } } } }
      second:
        '{$request.body#/urls/1}/second': { post: { responses: { '200': { description: ok } } } }
`);

  it('creates one callback for each element, in order', async () => {
    await using service = await serve(list);
    await using receiver = await receive();
    const urls = ['a', 'b', 'c'].map((name) => `${receiver.url}/${name}`);
    const { id } = await service.subscribe({ path: '/watch', body: { urls } });
    const callbacks = await service.callbacksOf(id);
    assert.deepEqual(
      callbacks.map(({ position, label, url }) => [position, label, url]),
      [...urls.map((url, index) => [index, 'changed', url]), [3, 'second', `${urls[1]}/second`]],
    );
    assert.equal(await service.deliveries('changed'), 3);
    assert.equal(await service.deliveries('second'), 1);
    const requests = await receiver.waitFor(4);
    assert.deepEqual(requests.map(({ url }) => url).toSorted(), [
      '/hook/a',
      '/hook/b',
      '/hook/b/second',
      '/hook/c',
    ]);
  });

  it('is refused as a whole if one element is not a URL, and the error names the field', async () => {
    await using service = await serve(list);
    const body = { urls: ['http://127.0.0.1:9000/', 'ftp://127.0.0.1/'] };
    const answer = await service.call({ method: 'POST', path: '/watch', body });
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.text, /"field":"body#\/urls".*scheme is \\"ftp\\", expected http or https/);
    assert.deepEqual((await service.call({ path: '/subscriptions' })).json['items'], []);
  });
});

describe('a value in the middle of a URL', () => {
  const relay = (origin: string): string =>
    documentOf(`
/relay/{team}:
  post:
    parameters:
      - { name: team, in: path, required: true, schema: { type: string } }
      - { name: to, in: query, required: true, schema: { type: string } }
    responses: { '201': { description: made } }
    callbacks:
      relayed:
        '${origin}/relay/{$request.path.team}?to={$request.query.to}&v=1':
          post: { responses: { '200': { description: ok } } }
`);

  it('is encoded, so that a URL can be a query parameter of another', async () => {
    await using receiver = await receive();
    await using service = await serve(relay(new URL(receiver.url).origin));
    const to = 'https://example.com/a b?x=1&y=ü#frag';
    const query = new URLSearchParams({ to }).toString();
    await service.subscribe({ path: `/relay/red%2Fblue?${query}` });
    assert.equal(await service.deliveries('relayed'), 1);
    const [request] = await receiver.waitFor(1);
    const encoded = 'https%3A%2F%2Fexample.com%2Fa%20b%3Fx%3D1%26y%3D%C3%BC%23frag';
    assert.equal(request?.url, `/relay/red%2Fblue?to=${encoded}&v=1`);
    assert.equal(new URL(request?.url ?? '', receiver.url).searchParams.get('to'), to);
  });
});

describe('other expressions in a URL', () => {
  const facts = documentOf(
    `
/streams/{room}:
  post:
    operationId: open
    parameters:
      - { name: room, in: path, required: true, schema: { type: string } }
      - { name: url, in: query, required: true, schema: { type: string } }
    responses: { '202': { description: taken } }
    callbacks:
      facts:
        '{$request.query.url}/facts?m={$method}&s={$statusCode}&room={$request.path.room}&from={$url}':
          put: { responses: { '200': { description: ok } } }
      typed:
        '{$request.query.url}/{$request.path.eventType}':
          x-ringback-event: typed.*
          post: { responses: { '200': { description: ok } } }
`,
    'servers: [{ url: https://api.example.com/v2 }]',
  );

  it('may be $method, $statusCode, a path parameter and $url', async () => {
    await using service = await serve(facts);
    await using receiver = await receive();
    const path = `/v2/streams/blue?${new URLSearchParams({ url: receiver.url }).toString()}`;
    await service.subscribe({ path, status: 202 });
    assert.equal(await service.deliveries('facts'), 1);
    const [request] = await receiver.waitFor(1);
    const { pathname, searchParams } = new URL(request?.url ?? '', receiver.url);
    assert.deepEqual([request?.method, pathname], ['PUT', '/hook/facts']);
    assert.deepEqual(Object.fromEntries(searchParams), {
      m: 'PUT',
      s: '202',
      room: 'blue',
      from: service.url + path,
    });
  });

  it('may be the name of each event, as $request.path.eventType', async () => {
    await using service = await serve(facts);
    await using receiver = await receive();
    const query = new URLSearchParams({ url: receiver.url }).toString();
    await service.subscribe({ path: `/v2/streams/x?${query}`, status: 202 });
    for (const name of ['typed.a', 'typed.b.c']) assert.equal(await service.deliveries(name), 1);
    const requests = await receiver.waitFor(2);
    assert.deepEqual(requests.map(({ url }) => url).toSorted(), [
      '/hook/typed.a',
      '/hook/typed.b.c',
    ]);
  });
});

describe('a URL from the response', () => {
  const answer = documentOf(
    `
/jobs:
  post:
    requestBody:
      required: true
      content:
        application/json:
          schema:
            type: object
            properties: { callback: { type: string }, name: { type: string } }
    responses:
      '201':
        description: made
        content:
          application/json:
            schema:
              type: object
              properties: { id: { type: string }, callback: { type: string } }
        links:
          remove: { operationId: removeJob, parameters: { job: '$response.body#/id' } }
    callbacks:
      done:
        '{$response.body#/callback}?job={$response.body#/id}&at={$response.header.Location}':
          post: { responses: { '200': { description: ok } } }
      self:
        '{$response.header.Location}/self':
          post: { responses: { '200': { description: ok } } }
      nothing:
        '{$response.body#/absent}':
          post: { responses: { '200': { description: ok } } }
/jobs/{job}:
  delete:
    operationId: removeJob
    parameters: [{ name: job, in: path, required: true, schema: { type: string } }]
    responses: { '204': { description: gone } }
`,
    'servers: [{ url: /api }]',
  );

  it('is read from the body and the headers of the response', async () => {
    await using service = await serve(answer);
    await using receiver = await receive();
    const body = { callback: receiver.url, name: 'not in the answer' };
    const { id, answer: made } = await service.subscribe({ path: '/api/jobs', body });
    assert.deepEqual(made.json, { callback: receiver.url, id });
    assert.equal(made.headers.get('location'), `/api/jobs/${id}`);
    const at = `${service.url}/api/jobs/${id}`;
    const callbacks = await service.callbacksOf(id);
    assert.deepEqual(
      callbacks.map(({ label, url, inactive }) => [label, url ?? inactive]),
      [
        ['done', `${receiver.url}?job=${id}&at=${encodeURIComponent(at)}`],
        ['self', `${at}/self`],
        ['nothing', 'the response body has nothing at "/absent"'],
      ],
    );
    assert.equal(await service.deliveries('done'), 1);
    const [request] = await receiver.waitFor(1);
    assert.equal(new URL(request?.url ?? '', receiver.url).searchParams.get('job'), id);
  });
});

describe('a form', () => {
  const form = documentOf(`
/register:
  post:
    requestBody:
      required: true
      content:
        application/x-www-form-urlencoded:
          schema:
            type: object
            required: [url, level]
            properties:
              url: { type: string }
              level: { type: integer, minimum: 1 }
    responses:
      '201':
        description: made
        content:
          application/json:
            schema: { type: object, properties: { level: { type: integer } } }
    callbacks:
      raised:
        '{$request.body#/url}?level={$request.body#/level}':
          post: { responses: { '200': { description: ok } } }
`);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };

  it('is read like a JSON body, with numbers as numbers', async () => {
    await using service = await serve(form);
    await using receiver = await receive();
    const body = new URLSearchParams({
      url: `${receiver.url}?a=b c`.replace(' ', '+'),
      level: '3',
    });
    const made = await service.subscribe({ path: '/register', headers, body: body.toString() });
    assert.deepEqual(made.answer.json, { level: 3, subscriberId: made.id });
    assert.equal(await service.deliveries('raised'), 1);
    const [request] = await receiver.waitFor(1);
    assert.equal(request?.url, '/hook?a=b+c&level=3');
  });

  it('is validated by its schema, and another media type is 415', async () => {
    await using service = await serve(form);
    const bad = await service.call({
      method: 'POST',
      path: '/register',
      headers,
      body: 'url=http%3A%2F%2F127.0.0.1%3A9000%2F&level=0',
    });
    assert.equal(bad.status, 400);
    assert.match(bad.text, /body#\/level must be at least 1, is 0/);
    const json = await service.call({
      method: 'POST',
      path: '/register',
      body: { url: 'http://127.0.0.1:9000/', level: 1 },
    });
    assert.equal(json.status, 415, json.text);
    assert.match(json.text, /expected application\/x-www-form-urlencoded/);
  });
});
