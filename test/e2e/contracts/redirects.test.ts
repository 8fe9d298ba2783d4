// Redirects that a document declares for a callback, over real sockets: which are followed, what is sent there, and what
// is recorded.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { makeCertificate } from '../../egress/certificate.ts';
import { header, receive, type Reply, type Script } from '../receiver.ts';
import { attempted, onlyDelivery, type AttemptView, type DeliveryView } from '../stage.ts';
import { documentOf, serve, type Serving } from './stage.ts';

const document = documentOf(`
/hooks:
  post:
    requestBody:
      content:
        application/json:
          schema:
            type: object
            properties:
              url: { type: string }
              range: { type: string }
              key: { type: string }
              x-ringback: {}
    responses: { '201': { description: made } }
    callbacks:
      moved:
        '{$request.body#/url}':
          put:
            parameters:
              - { name: X-Key, in: header, x-ringback-value: '{$request.body#/key}', schema: {} }
            responses:
              '200': { description: ok }
              '307': { description: elsewhere }
      ranged:
        '{$request.body#/range}':
          post: { responses: { '2XX': { description: ok }, '3xx': { description: elsewhere } } }
`);

function to(location: string, status = 307): Reply {
  return { status, headers: { location } };
}

interface Once {
  service: Serving;
  url: string;
  event?: 'moved' | 'ranged';
}

/** Makes one attempt of one delivery to the URL. */
async function deliver({
  service,
  url,
  event = 'moved',
}: Once): Promise<DeliveryView & { attempt: AttemptView }> {
  const target = event === 'moved' ? { url } : { range: url };
  const body = { ...target, key: 'k1', 'x-ringback': { headers: { Authorization: 'Mine a' } } };
  await service.subscribe({ path: '/hooks', body });
  const answer = await service.publish(event, { payload: { a: 1 } });
  const id = await onlyDelivery(service, { eventId: String(answer.json['eventId']) });
  const delivery = await attempted(service, id);
  const [attempt] = delivery.attempts;
  assert(attempt);
  return { ...delivery, attempt };
}

/** Replies by path. */
function paths(replies: Readonly<Record<string, Reply>>): Script {
  return ({ url }) => replies[url] ?? 200;
}

describe('a declared redirect', () => {
  it('is followed with the same method, body, signature and headers, and recorded', async () => {
    await using service = await serve(document);
    await using receiver = await receive(paths({ '/hook': to('/new?x=1#y') }));
    const { state, status, attempt } = await deliver({ service, url: receiver.url });
    assert.deepEqual([state, status, attempt.error], ['delivered', 200, undefined]);
    const [first, second, ...others] = receiver.requests;
    assert(first !== undefined && second !== undefined && others.length === 0);
    assert.deepEqual(
      [second.method, second.url, second.body.toString()],
      ['PUT', '/new?x=1', '{"a":1}'],
    );
    assert.deepEqual(second.headers, first.headers);
    assert.deepEqual([second.headers.authorization, second.headers['x-key']], ['Mine a', 'k1']);
    assert.equal(attempt.request.url, receiver.url);
    const { origin } = new URL(receiver.url);
    assert.equal(attempt.message, `Redirected: 307 to ${origin}/new`);
  });

  it('may be declared as 3XX, of which 307 and 308 are followed', async () => {
    for (const status of [307, 308, 301, 302, 303]) {
      await using service = await serve(document);
      await using receiver = await receive(paths({ '/hook': to('/new', status) }));
      const { state, attempt } = await deliver({ service, url: receiver.url, event: 'ranged' });
      const isFollowed = status > 303;
      assert.deepEqual(
        [state, attempt.status, attempt.warning, receiver.requests.length],
        isFollowed ? ['delivered', 200, undefined, 2] : ['due', status, undefined, 1],
      );
    }
  });

  it('is signed for the subscription', async () => {
    await using service = await serve(document);
    await using receiver = await receive(paths({ '/hook': to('/new') }));
    const { id } = await service.subscribe({ path: '/hooks', body: { url: receiver.url } });
    const { json } = await service.call({ path: `/subscriptions/${id}/secret` });
    await service.deliveries('moved', { payload: { a: 1 } });
    const [, second] = await receiver.waitFor(2);
    assert(second);
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    const headers = Object.fromEntries(names.map((name) => [name, header(second, name)]));
    const webhook = new Webhook(String(json['secret']));
    assert.doesNotThrow(() => webhook.verify(second.body.toString(), headers));
  });

  it('to another origin drops headers of the subscriber and the document, even on the way back', async () => {
    await using service = await serve(document);
    await using home = await receive();
    await using away = await receive(() => to(`${home.url}/back`));
    home.script = paths({ '/hook': to(away.url) });
    const { state } = await deliver({ service, url: home.url });
    assert.equal(state, 'delivered');
    const requests = [...home.requests, ...away.requests].toSorted((a, b) => a.order - b.order);
    assert.deepEqual(
      requests.map(({ url, headers }) => [url, headers.authorization, headers['x-key']]),
      [
        ['/hook', 'Mine a', 'k1'],
        ['/hook', undefined, undefined],
        ['/hook/back', undefined, undefined],
      ],
    );
  });

  it('is followed at most three times, and never in a loop', async () => {
    await using service = await serve(document);
    await using receiver = await receive(({ url }) => to(`${url}a`));
    const { error, status, attempt } = await deliver({ service, url: receiver.url });
    assert.deepEqual([error, status, receiver.requests.length], ['redirect', 307, 4]);
    assert.match(attempt.message ?? '', /307, not followed: there were 3 redirects before it$/);
    await using other = await serve(document);
    await using circle = await receive(paths({ '/hook': to('/b'), '/b': to('/hook') }));
    const round = await deliver({ service: other, url: circle.url });
    assert.deepEqual([round.error, circle.requests.length], ['redirect', 2]);
    assert.match(round.attempt.message ?? '', /it leads back to a URL of this attempt$/);
  });

  it('to a forbidden address is blocked', async () => {
    for (const location of [
      'http://10.0.0.1/',
      'http://169.254.169.254/latest',
      'http://[::1]:1/',
    ]) {
      await using service = await serve(document, { env: { RINGBACK_ALLOW_TARGETS: '127.0.0.1' } });
      await using receiver = await receive(() => to(location));
      const { error, state, attempt } = await deliver({ service, url: receiver.url });
      assert.deepEqual([error, state, receiver.requests.length], ['blocked', 'due', 1], location);
      assert.match(attempt.message ?? '', /^Redirected: 307 to http:.*; Cannot /);
    }
  });

  it('from https to http, with user info, or to no URL is not followed', async () => {
    const certificate = makeCertificate('receiver.example');
    const network = { tls: { ca: certificate.certificate } };
    await using plain = await receive();
    for (const [location, reason] of [
      [plain.url, /it leads from https to http$/],
      [`https://a:b@${new URL(plain.url).host}/`, /has user info$/],
      ['file:///etc/passwd', /it leads from https to file$/],
      ['https://[', /is not a URL$/],
      [undefined, /has no Location$/],
    ] as const) {
      await using service = await serve(document, { network });
      const reply: Reply = location === undefined ? 307 : to(location);
      await using receiver = await receive(() => reply, certificate);
      const { error, attempt } = await deliver({ service, url: receiver.url });
      assert.deepEqual([error, attempt.status], ['redirect', 307], String(attempt.message));
      assert.match(attempt.message ?? '', reason);
    }
    assert.equal(plain.requests.length, 0);
  });

  it('shares the deadline of the attempt', async () => {
    await using service = await serve(document, { env: { RINGBACK_TIMEOUT: '1s' } });
    const never = Promise.withResolvers<Reply>();
    await using receiver = await receive(({ url }) =>
      url === '/hook' ? to('/slow') : never.promise,
    );
    const { error, attempt } = await deliver({ service, url: receiver.url });
    never.resolve(200);
    assert.equal(error, 'timeout');
    const within = Number(/within (\d+) ms$/.exec(attempt.message ?? '')?.[1]);
    assert.ok(within > 0 && within < 1_000, String(attempt.message));
  });
});

describe('a redirect that the document does not declare', () => {
  it('is a failure and not followed', async () => {
    for (const status of [301, 302, 303, 308]) {
      await using service = await serve(document);
      await using receiver = await receive(paths({ '/hook': to('/new', status) }));
      const { error, attempt } = await deliver({ service, url: receiver.url });
      assert.deepEqual([error, attempt.status, attempt.message], ['redirect', status, undefined]);
      assert.equal(receiver.requests.length, 1);
    }
  });
});
