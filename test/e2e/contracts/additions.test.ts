// Parameters and credentials that a document declares for a callback, over real sockets. Credentials must be sent,
// encrypted at rest, and never shown.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { receive, type Received } from '../receiver.ts';
import { movableWorld } from '../movable-world.ts';
import { inState, onlyDelivery } from '../stage.ts';
import { documentOf, serve, type Serving } from './stage.ts';

/** Like CAMARA documents, where the token's schema is behind a discriminator. */
const sessions = documentOf(
  `
/sessions:
  post:
    requestBody:
      required: true
      content:
        application/json:
          schema:
            type: object
            required: [profile]
            properties:
              profile: { type: string }
              sink: { type: string, format: uri }
              sinkCredential: { $ref: '#/components/schemas/SinkCredential' }
    responses:
      '201':
        description: made
        content:
          application/json:
            schema:
              type: object
              properties:
                sessionId: { type: string }
                profile: { type: string }
                sinkCredential: { $ref: '#/components/schemas/SinkCredential' }
    callbacks:
      notifications:
        '{$request.body#/sink}':
          post:
            requestBody: { content: { application/cloudevents+json: { schema: { type: object } } } }
            responses: { '204': { description: taken } }
            security: [{}, { notificationsBearerAuth: [] }]
`,
  `
components:
  securitySchemes:
    notificationsBearerAuth: { type: http, scheme: bearer }
  schemas:
    SinkCredential:
      type: object
      required: [credentialType]
      properties: { credentialType: { type: string } }
      discriminator:
        propertyName: credentialType
        mapping: { ACCESSTOKEN: '#/components/schemas/AccessTokenCredential' }
    AccessTokenCredential:
      allOf:
        - $ref: '#/components/schemas/SinkCredential'
        - type: object
          properties: { accessToken: { type: string }, accessTokenExpiresUtc: { type: string } }
`,
);

const token = 'tok-3vjg8w2mfz';

function session(sink: string, more: object = {}): object {
  const sinkCredential = {
    credentialType: 'ACCESSTOKEN',
    accessToken: token,
    accessTokenExpiresUtc: '2999-01-01T00:00:00Z',
    accessTokenType: 'bearer',
    ...more,
  };
  return { profile: 'QOS_E', sink, sinkCredential };
}

async function filesOf(folder: string): Promise<Buffer> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile());
  const contents = files.map(async (one) => readFile(join(one.parentPath, one.name)));
  return Buffer.concat(await Promise.all(contents));
}

async function textsOf(service: Serving, paths: readonly string[]): Promise<string> {
  const answers = paths.map(async (path) => service.call({ path }));
  return (await Promise.all(answers)).map(({ text }) => text).join('\n');
}

describe('the credential of a callback', () => {
  it('is sent as the bearer token, never shown, and encrypted at rest', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ringback-additions-'));
    try {
      await using service = await serve(sessions, { env: { RINGBACK_DATA: folder } });
      await using receiver = await receive(() => 204);
      const { id, answer } = await service.subscribe({
        path: '/sessions',
        body: session(receiver.url),
      });
      assert.deepEqual(answer.json['profile'], 'QOS_E');
      assert.deepEqual(answer.json['sinkCredential'], { credentialType: 'ACCESSTOKEN' });
      const published = await service.publish('notifications');
      const [request] = await receiver.waitFor(1);
      assert.equal(request?.headers.authorization, `Bearer ${token}`);
      const delivery = await onlyDelivery(service, {
        eventId: String(published.json['eventId']),
      });
      await inState(service, delivery, 'delivered');
      const shown = await textsOf(service, [
        `/subscriptions/${id}`,
        '/subscriptions',
        '/deliveries',
        `/deliveries/${delivery}`,
        '/events',
      ]);
      assert.match(shown, /QOS|sub_/);
      const texts = [
        answer.text,
        shown,
        service.logged(),
        (await filesOf(folder)).toString('latin1'),
      ];
      for (const text of texts) assert.equal(text.includes(token), false);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is kept when the subscriber sets headers, unless they replace it', async () => {
    await using service = await serve(sessions);
    await using receiver = await receive(() => 204);
    const { id } = await service.subscribe({ path: '/sessions', body: session(receiver.url) });
    const change = async (headers: Record<string, string>): Promise<void> => {
      const path = `/subscriptions/${id}`;
      const changed = await service.call({ method: 'PATCH', path, body: { headers } });
      assert.equal(changed.status, 200, changed.text);
      await service.deliveries('notifications');
    };
    await change({ 'X-Mine': 'a' });
    await receiver.waitFor(1);
    await change({ Authorization: 'Mine b' });
    const sent = await receiver.waitFor(2);
    assert.deepEqual(
      sent.map(({ headers }) => [headers.authorization, headers['x-mine']]),
      [
        [`Bearer ${token}`, 'a'],
        ['Mine b', undefined],
      ],
    );
  });

  it('is no longer sent once it has expired', async () => {
    const world = movableWorld();
    await using service = await serve(sessions, { world });
    await using receiver = await receive(() => 204);
    const accessTokenExpiresUtc = new Date(world.nowMs() + 60_000).toISOString();
    const body = session(receiver.url, { accessTokenExpiresUtc });
    await service.subscribe({ path: '/sessions', body });
    await service.deliveries('notifications');
    await receiver.waitFor(1);
    world.moveOn(60_000);
    await service.deliveries('notifications');
    const sent = await receiver.waitFor(2);
    assert.deepEqual(
      sent.map(({ headers }) => headers.authorization),
      [`Bearer ${token}`, undefined],
    );
  });

  it('is refused if it has expired or cannot be sent, and the error does not repeat it', async () => {
    await using service = await serve(sessions);
    for (const [more, message] of [
      [{ accessTokenExpiresUtc: '2001-01-01T00:00:00Z' }, /accessTokenExpiresUtc.*in the past/],
      [{ accessTokenExpiresUtc: 'soon' }, /accessTokenExpiresUtc.*is not a time/],
      [{ accessToken: `${token}\r\nX-A: b` }, /accessToken.*cannot be sent/],
    ] as const) {
      const body = session('http://127.0.0.1:9000/', more);
      const answer = await service.call({ method: 'POST', path: '/sessions', body });
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, message);
      assert.equal(answer.text.includes(token), false);
    }
    assert.deepEqual((await service.call({ path: '/subscriptions' })).json['items'], []);
  });
});

/** An API key in the query, the header or a cookie, which the subscriber gives in `sinkCredential`. */
function keyed(place: string, status = '307'): string {
  return documentOf(
    `
/watches:
  post:
    requestBody:
      content:
        application/json:
          schema:
            type: object
            properties: { sink: { type: string }, sinkCredential: { type: object } }
    responses:
      '201':
        description: made
        content:
          application/json:
            schema: { type: object, properties: { sinkCredential: { type: object } } }
    callbacks:
      seen:
        '{$request.body#/sink}':
          post:
            parameters: [{ name: X-Plain, in: header, schema: { const: plain } }]
            security: [{ own: [] }]
            responses: { '200': { description: ok }, '${status}': { description: moved } }
`,
    `components: { securitySchemes: { own: { type: apiKey, in: ${place}, name: hook_key,
      x-ringback-value: '{$request.body#/sinkCredential/apiKey}' } } }`,
  );
}

function keysIn({ url, headers }: Received): string {
  const query = new URL(url, 'http://receiver').searchParams.get('hook_key');
  return [query, headers['hook_key'], headers.cookie].filter(Boolean).join(' ');
}

const watched = (sink: string): object => ({ sink, sinkCredential: { apiKey: token } });

describe('the API key of a callback', () => {
  for (const [place, sent] of [
    ['query', token],
    ['header', token],
    ['cookie', `hook_key=${token}`],
  ] as const) {
    it(`is sent in the ${place}, shown nowhere and sealed at rest`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'ringback-additions-'));
      try {
        const env = { RINGBACK_DATA: folder, RINGBACK_LOG_LEVEL: 'trace' };
        await using service = await serve(keyed(place), { env });
        await using receiver = await receive(() => 500);
        const body = watched(`${receiver.url}?x=1`);
        const { id, answer } = await service.subscribe({ path: '/watches', body });
        const published = await service.publish('seen');
        const [request] = await receiver.waitFor(1);
        assert(request);
        assert.equal(keysIn(request), sent);
        assert.match(request.url, /^\/hook\?x=1/);
        const delivery = await onlyDelivery(service, {
          eventId: String(published.json['eventId']),
        });
        const paths = [`/subscriptions/${id}`, '/deliveries', `/deliveries/${delivery}`];
        const texts = [answer.text, await textsOf(service, paths), service.logged()];
        const files = (await filesOf(folder)).toString('latin1');
        for (const text of [...texts, files]) assert.equal(text.includes(token), false);
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    it(`is not sent in the ${place} to another origin, by redirect or by a new URL`, async () => {
      await using service = await serve(keyed(place));
      await using other = await receive();
      await using receiver = await receive(({ url }) => {
        if (url.startsWith('/again')) return { status: 307, headers: { location: other.url } };
        return { status: 307, headers: { location: '/again' } };
      });
      const { id } = await service.subscribe({ path: '/watches', body: watched(receiver.url) });
      await service.deliveries('seen');
      const [redirected] = await other.waitFor(1);
      assert.deepEqual(receiver.requests.map(keysIn), [sent, sent]);
      assert.equal(redirected && keysIn(redirected), '');
      const move = async (url: string): Promise<void> => {
        const path = `/subscriptions/${id}`;
        const patch = { callbacks: [{ position: 0, url }] };
        const changed = await service.call({ method: 'PATCH', path, body: patch });
        assert.equal(changed.status, 200, changed.text);
        await service.deliveries('seen');
      };
      await move(`${other.url}/new`);
      const moved = (await other.waitFor(2)).at(-1);
      assert.deepEqual([moved && keysIn(moved), moved?.headers['x-plain']], ['', 'plain']);
      receiver.script = () => 200;
      await move(`${receiver.url}/back`);
      const back = (await receiver.waitFor(3)).at(-1);
      assert.equal(back && keysIn(back), sent);
    });
  }
});

describe('the API key of a callback whose request declares it beside the URL', () => {
  it('is sent without x-ringback-value, and never shown', async () => {
    const declared = keyed('header')
      .replace('sinkCredential: { type: object } }', `sinkCredential: ${declaredKey} }`)
      .replace(/,\s+x-ringback-value: '[^']*'/u, '');
    assert.doesNotMatch(declared, /x-ringback-value/);
    await using service = await serve(declared);
    await using receiver = await receive();
    const body = watched(receiver.url);
    const { id, answer } = await service.subscribe({ path: '/watches', body });
    await service.deliveries('seen');
    const [request] = await receiver.waitFor(1);
    assert.equal(request?.headers['hook_key'], token);
    const texts = [answer.text, await textsOf(service, [`/subscriptions/${id}`]), service.logged()];
    for (const text of texts) assert.equal(text.includes(token), false);
  });
});

describe('the alternatives in the security of a callback', () => {
  it('are tried in order: the first whose credential the request has is sent, and no other', async () => {
    const alternatives = keyed('header')
      .replace('security: [{ own: [] }]', 'security: [{ own: [] }, { token: [] }, { fixed: [] }]')
      .replace(
        'securitySchemes: {',
        `securitySchemes: { token: { type: http, scheme: bearer },
          fixed: { type: apiKey, in: header, name: X-Fixed, x-ringback-value: always },`,
      );
    await using service = await serve(alternatives);
    await using receiver = await receive();
    const sent: unknown[][] = [];
    for (const sinkCredential of [{ apiKey: 'k', accessToken: 't' }, { accessToken: 't' }, {}]) {
      const body = { sink: receiver.url, sinkCredential };
      const { id } = await service.subscribe({ path: '/watches', body });
      await service.deliveries('seen', { subscriberId: id });
      const { headers = {} } = (await receiver.waitFor(sent.length + 1)).at(-1) ?? {};
      sent.push([headers['hook_key'], headers.authorization, headers['x-fixed']]);
    }
    assert.deepEqual(sent, [
      ['k', undefined, undefined],
      [undefined, 'Bearer t', undefined],
      [undefined, undefined, 'always'],
    ]);
  });
});

const declaredKey = '{ type: object, properties: { apiKey: { type: string } } }';

describe('a scheme with x-ringback-value', () => {
  it('is sent as an API key, a cookie or basic credentials', async () => {
    const scheme = (declared: string): string =>
      `components: { securitySchemes: { own: ${declared} } }`;
    const value = `x-ringback-value: '{$request.body#/secret}'`;
    for (const [declared, name, sent] of [
      [`{ type: apiKey, in: header, name: X-Hook-Key, ${value} }`, 'x-hook-key', 'a:b c'],
      [`{ type: apiKey, in: cookie, name: key, ${value} }`, 'cookie', 'key=a%3Ab%20c'],
      [`{ type: http, scheme: basic, ${value} }`, 'authorization', `Basic ${btoa('a:b c')}`],
    ] as const) {
      const document = documentOf(
        `
/hooks:
  post:
    requestBody:
      content: { application/json: { schema: { type: object, properties: { url: {}, secret: {} } } } }
    responses:
      '201':
        description: made
        content: { application/json: { schema: { type: object, properties: { secret: {} } } } }
    callbacks:
      a:
        '{$request.body#/url}':
          post: { security: [{ own: [] }], responses: { '200': { description: ok } } }
      b:
        '{$request.body#/url}':
          post: { responses: { '200': { description: ok } } }
`,
        scheme(declared),
      );
      await using service = await serve(document);
      await using receiver = await receive();
      const body = { url: receiver.url, secret: 'a:b c' };
      const { answer } = await service.subscribe({ path: '/hooks', body });
      assert.equal(answer.json['secret'], undefined);
      await service.deliveries('a');
      await receiver.waitFor(1);
      await service.deliveries('b');
      const requests = await receiver.waitFor(2);
      assert.deepEqual(
        requests.map(({ headers }) => headers[name]),
        [sent, undefined],
        declared,
      );
    }
  });
});

describe('the parameters of a callback', () => {
  const document = documentOf(`
/hooks:
  post:
    parameters:
      - { name: url, in: query, required: true, schema: { type: string } }
      - { name: tenant, in: query, schema: { type: string } }
      - { name: tag, in: query, schema: { type: array, items: { type: string } } }
    responses: { '201': { description: made } }
    callbacks:
      a:
        '{$request.query.url}/{kind}':
          parameters:
            - { name: kind, in: path, required: true, schema: { type: string, enum: [things] } }
            - { name: version, in: query, schema: { type: string, default: '1 0' } }
          post:
            parameters:
              - { name: tag, in: query, x-ringback-value: '{$request.query.tag}', schema: {} }
              - { name: X-Tenant, in: header, example: '{$request.query.tenant}', schema: {} }
              - { name: X-Kind, in: header, schema: { const: fixed } }
              - { name: X-Correlator, in: header, example: b4333c46, schema: { type: string } }
              - { name: seen, in: cookie, schema: { type: integer, default: 3 } }
              - { name: webhook-id, in: header, schema: { default: mine } }
              - { name: X-Must, in: header, required: true, schema: { type: string } }
            responses: { '200': { description: ok } }
      b:
        '{$request.query.url}/b':
          post:
            parameters:
              - { name: X-T, in: header, required: true, x-ringback-value: 't-{$request.query.tenant}' }
            responses: { '200': { description: ok } }
`);

  it('are sent if the document or the request gives a value', async () => {
    await using service = await serve(document);
    await using receiver = await receive();
    const path = `/hooks?url=${encodeURIComponent(`${receiver.url}?x=1`)}&tenant=acme&tag=a%26&tag=b`;
    await service.subscribe({ path });
    assert.equal(await service.deliveries('a'), 1);
    const [request] = await receiver.waitFor(1);
    assert.equal(request?.url, '/hook/things?x=1&version=1%200&tag=a%26&tag=b');
    const { headers } = request;
    assert.deepEqual(
      [headers['x-tenant'], headers['x-kind'], headers['x-correlator'], headers.cookie],
      ['acme', 'fixed', undefined, 'seen=3'],
    );
    assert.match(String(headers['webhook-id']), /^evt_/);
    const warnings = service.logged();
    assert.match(warnings, /"webhook-id\\" starts with webhook-/);
    assert.match(warnings, /is required, but nothing says what to send/);
  });

  it('are left out if optional; a missing required one makes the callback inactive', async () => {
    await using service = await serve(document);
    await using receiver = await receive();
    const { id } = await service.subscribe({ path: `/hooks?url=${receiver.url}` });
    const [, b] = await service.callbacksOf(id);
    assert.equal(b?.inactive, 'header "X-T": the request has no query parameter "tenant"');
    await service.deliveries('a');
    const [request] = await receiver.waitFor(1);
    assert.deepEqual(
      [request?.url, request?.headers['x-tenant']],
      ['/hook/things?version=1%200', undefined],
    );
  });
});
