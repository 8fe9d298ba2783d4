// Several documents in one service: isolation, selection by title, listings, and collisions.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { header, receive } from '../receiver.ts';
import { quiet } from '../stage.ts';
import { serve } from './stage.ts';

interface DocumentParts {
  title: string;
  server?: string;
  path?: string;
  method?: string;
  /** Label → payload schema. */
  callbacks: Record<string, string>;
}

function documentOf({
  title,
  server,
  path = '/hooks',
  method = 'post',
  callbacks,
}: DocumentParts): string {
  const listed = Object.entries(callbacks).map(
    ([label, schema]) => `
        ${label}:
          '{$request.query.url}/${label}':
            post:
              requestBody: { content: { application/json: { schema: ${schema} } } }
              responses: { '200': { description: ok } }`,
  );
  return `openapi: 3.1.0
info: { title: ${title}, version: '2' }
${server === undefined ? '' : `servers: [{ url: '${server}' }]`}
paths:
  '${path}':
    ${method}:
      operationId: subscribe
      parameters: [{ name: url, in: query, required: true, schema: { type: string } }]
      responses: { '201': { description: made } }
      callbacks:${listed.join('')}
`;
}

const any = '{ type: object }';
const shop = documentOf({
  title: 'The shop',
  server: 'https://shop.example/shop/v1/',
  callbacks: { paid: '{ type: object, required: [amount] }', closed: any },
});
const bank = documentOf({
  title: 'The bank',
  server: '/bank',
  callbacks: { paid: '{ type: object, required: [iban] }', opened: any },
});
const both = { 'shop.yaml': shop, 'bank.yaml': bank };

describe('two documents', () => {
  it('are served under the paths of their servers', async () => {
    await using service = await serve(both);
    const hook = 'url=http://127.0.0.1:9000/';
    for (const path of ['/shop/v1/hooks', '/bank/hooks']) {
      assert.equal((await service.call({ method: 'POST', path: `${path}?${hook}` })).status, 201);
    }
    for (const path of ['/hooks', '/v1/hooks', '/shop/hooks', '/subscribe']) {
      assert.equal((await service.call({ method: 'POST', path: `${path}?${hook}` })).status, 404);
    }
  });

  it('keep their events apart; an event that both declare needs the title of one', async () => {
    await using service = await serve(both);
    await using receiver = await receive();
    const mine = await service.subscribe({ path: `/shop/v1/hooks?url=${receiver.url}/shop` });
    const theirs = await service.subscribe({ path: `/bank/hooks?url=${receiver.url}/bank` });
    assert.equal(await service.deliveries('closed'), 1);
    assert.equal(await service.deliveries('opened'), 1);
    const ambiguous = await service.publish('paid', { payload: { amount: 1, iban: 'x' } });
    assert.deepEqual([ambiguous.status, ambiguous.json['code']], [400, 'invalid_request']);
    assert.match(
      String(ambiguous.json['detail']),
      /"paid": callbacks of several contracts match it; name the contract: "The shop" or "The bank"/,
    );
    const payload = { iban: 'x' };
    assert.equal(await service.deliveries('paid', { payload, contract: 'The bank' }), 1);
    const wrong = await service.publish('paid', { payload, contract: 'The shop' });
    assert.equal(wrong.status, 422, 'the schema of the selected one applies');
    await quiet(service);
    const came = receiver.requests.map(
      (one) =>
        `${header(one, 'ringback-event')} ${header(one, 'ringback-subscription')} ${one.url}`,
    );
    assert.deepEqual(came.toSorted(), [
      `closed ${mine.id} /hook/shop/closed`,
      `opened ${theirs.id} /hook/bank/opened`,
      `paid ${theirs.id} /hook/bank/paid`,
    ]);
  });

  it('are listed in the error about an unknown event or title', async () => {
    await using service = await serve(both);
    const nobody = await service.publish('unknown');
    assert.equal(nobody.status, 400);
    assert.match(nobody.text, /no callback of any contract matches it.*The shop.*The bank/);
    const title = await service.publish('closed', { contract: 'The pub' });
    assert.equal(title.status, 400);
    assert.match(title.text, /there is no contract .*The pub.*, expected .*The shop.*The bank/);
    assert.equal(await service.deliveries('unknown', { contract: 'The bank' }), 0);
  });

  it('do not share subscriptions', async () => {
    await using service = await serve(both);
    const hook = 'url=http://127.0.0.1:9000/';
    const { id } = await service.subscribe({ path: `/shop/v1/hooks?${hook}` });
    assert.equal(await service.deliveries('opened', { subscriberId: id }), 0);
  });

  it('cannot share a batch', async () => {
    await using service = await serve(both);
    const events = ['closed', 'opened'].map((event) => ({ event, payload: {} }));
    const path = '/events/batch';
    const mixed = await service.call({ method: 'POST', path, body: { events } });
    assert.equal(mixed.status, 400);
    assert.match(mixed.text, /body#\/events\/1\/event.*belongs to contract .*The bank/);
  });

  it('are named in their subscriptions', async () => {
    await using service = await serve(both);
    const { id } = await service.subscribe({ path: '/bank/hooks?url=http://127.0.0.1:9000/' });
    const { json } = await service.call({ path: `/subscriptions/${id}` });
    assert.deepEqual([json['contract'], json['operation']], ['The bank', 'subscribe']);
  });
});

describe('pages about foreign documents', () => {
  it('/contracts lists them, and shows each as executed', async () => {
    await using service = await serve(both);
    const { json } = await service.call({ path: '/contracts', key: null });
    assert.deepEqual(json['items'], [
      {
        title: 'The shop',
        version: '2',
        operations: [
          { operationId: 'subscribe', method: 'POST', path: '/shop/v1/hooks', does: 'subscribe' },
        ],
        warnings: 0,
      },
      {
        title: 'The bank',
        version: '2',
        operations: [
          { operationId: 'subscribe', method: 'POST', path: '/bank/hooks', does: 'subscribe' },
        ],
        warnings: 0,
      },
    ]);
    const one = await service.call({ path: '/contracts/The%20bank', key: null });
    assert.deepEqual(one.json['info'], { title: 'The bank', version: '2' });
    const none = await service.call({ path: '/contracts/Ringback', key: null });
    assert.equal(none.status, 404);
    assert.match(none.text, /expected .*The shop.* or .*The bank/);
  });

  it('/contracts/{title}/report describes one, without paths of this machine', async () => {
    await using service = await serve(both);
    const { json, text } = await service.call({ path: '/contracts/The%20bank/report', key: null });
    assert.equal(json['title'], 'The bank');
    const [subscribes] = json['subscribes'] as Record<string, unknown>[];
    assert.deepEqual(
      [subscribes?.['method'], subscribes?.['path'], subscribes?.['operationId']],
      ['POST', '/bank/hooks', 'subscribe'],
    );
    assert(!('file' in json) && !text.includes(tmpdir()), text);
    const none = await service.call({ path: '/contracts/Ringback/report', key: null });
    assert.equal(none.status, 404);
  });

  it('/event-types lists the events of all, with schema, example and contract', async () => {
    await using service = await serve(both);
    const { json } = await service.call({ path: '/event-types' });
    const items = json['items'] as Record<string, unknown>[];
    assert.deepEqual(
      items.map(({ event, callback, contract }) => [event, callback, contract]),
      [
        ['paid', 'paid', 'The shop'],
        ['closed', 'closed', 'The shop'],
        ['paid', 'paid', 'The bank'],
        ['opened', 'opened', 'The bank'],
      ],
    );
    for (const { event, contract, example } of items) {
      const title = String(contract);
      const { status } = await service.publish(String(event), {
        payload: example,
        contract: title,
      });
      assert.equal(status, 202, `${title} accepts its own example of ${String(event)}`);
    }
  });

  it("/docs has a page for each, with links to the others and to Ringback's own", async () => {
    await using service = await serve(both);
    const page = async (query: string): Promise<string> => {
      const answer = await service.call({ path: `/docs${query}`, key: null });
      assert.equal(answer.status, 200);
      return answer.text;
    };
    const front = await page('');
    assert.match(front, /<title>The shop: API reference<\/title>/);
    assert.match(front, /href="\?contract=The\+bank"/);
    assert.match(front, /href="\?contract=Ringback"/);
    assert.match(front, /\/shop\/v1\/hooks/);
    assert.match(await page('?contract=The+bank'), /<title>The bank: API reference<\/title>/);
    const ours = await page('?contract=Ringback');
    assert.match(ours, /<title>Ringback: API reference<\/title>/);
    assert.doesNotMatch(ours, /\/unsubscribe/);
    assert.equal((await service.call({ path: '/docs?contract=None', key: null })).status, 404);
  });

  it("/openapi.json is valid and omits Ringback's own subscribe operations", async () => {
    await using service = await serve(both);
    const { json } = await service.call({ path: '/openapi.json', key: null });
    const paths = Object.keys(json['paths'] as object);
    assert.ok(!paths.includes('/subscribe') && !paths.includes('/unsubscribe'));
    assert.ok(paths.includes('/events') && paths.includes('/subscriptions/{id}'));
    assert.deepEqual(await new Validator().validate(json), { valid: true });
    const { links } = json['components'] as { links: object };
    assert.deepEqual(links, {}, 'no dangling links');
  });
});

describe('documents that cannot be served', () => {
  const refused = async (files: Record<string, string>): Promise<string> => {
    try {
      await using service = await serve(files);
      return `it is served on ${service.url}`;
    } catch (error) {
      assert(error instanceof Error);
      assert.equal(error.name, 'ContractError');
      return error.message;
    }
  };
  const plain = (parts: Partial<DocumentParts>): string =>
    documentOf({ title: 'Mine', callbacks: { a: any }, ...parts });

  it('say with what of ours they collide', async () => {
    const list: Record<string, Partial<DocumentParts>> = {
      'POST /events ("subscribe") collides with POST /events ("publishEvent") of "Ringback"': {
        path: '/events',
      },
      'DELETE /subscriptions/{mine} ("subscribe") collides with DELETE /subscriptions/{id} ("deleteSubscription") of "Ringback"':
        { path: '/subscriptions/{mine}', method: 'delete' },
      'HEAD /healthz ("subscribe") collides with GET /healthz ("getHealth") of "Ringback"': {
        path: '/healthz',
        method: 'head',
      },
    };
    for (const [message, parts] of Object.entries(list)) {
      const text = await refused({ 'mine.yaml': plain(parts) });
      assert.ok(text.includes(message), text);
      assert.match(text, /Cannot serve contract "Mine" \(.*mine\.yaml\).*server with its own path/);
    }
    // Paths and methods that Ringback does not use are free, also its own subscribe paths.
    for (const parts of [{ path: '/subscribe' }, { path: '/events', method: 'put' }]) {
      assert.match(await refused({ 'mine.yaml': plain(parts) }), /^it is served/);
    }
  });

  it('name the operation of another document that they collide with', async () => {
    const files = { 'a.yaml': plain({ title: 'A' }), 'b.yaml': plain({ title: 'B' }) };
    assert.match(
      await refused(files),
      /"B" \(.*b\.yaml\): POST \/hooks \("subscribe"\) collides with POST \/hooks \("subscribe"\) of "A"/,
    );
  });

  it('report that two of their own operations collide', async () => {
    const twin = plain({ path: '/hooks/{a}' });
    const [, second = ''] = plain({ path: '/hooks/{b}' }).split('paths:\n');
    assert.match(
      await refused({ 'mine.yaml': twin + second }),
      /POST \/hooks\/\{b\} .*collides with POST \/hooks\/\{a\} \("subscribe"\) of the same document/,
    );
  });

  it("report equal titles, including Ringback's own", async () => {
    const files = { 'a.yaml': plain({ server: '/a' }), 'b.yaml': plain({ server: '/b' }) };
    assert.match(await refused(files), /"Mine" \(.*b\.yaml\): another contract has the same info/);
    assert.match(await refused({ 'a.yaml': plain({ title: 'Ringback' }) }), /the same info\.title/);
  });

  it('report an unsupported version, a syntax error or another kind of file', async () => {
    assert.match(await refused({ 'a.yaml': 'openapi: 2.0.0' }), /expected 3\.0, 3\.1 or 3\.2/);
    assert.match(await refused({ 'a.yaml': '{' }), /Cannot read ".*a\.yaml"/);
    assert.match(await refused({ 'a.json': '[]' }), /expected an OpenAPI document/);
  });
});
