// The live view over real sockets: who may open it, what the frames contain, and how a stream ends.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { realWorld, type World } from '../../src/core/base/world.ts';
import { receive } from '../e2e/receiver.ts';
import { get, publish, subscribe, type DeliveryView, type Page } from '../e2e/stage.ts';
import { start, type Running } from './harness.ts';
import { openStream, sumOf, type FrameView, type SentEvent } from './stream-client.ts';

const hasDelivered = ({ data }: SentEvent): boolean => data.counts.delivered > 0;

async function newKey(service: Running, scopes: readonly string[]): Promise<Created> {
  const answer = await service.call({ method: 'POST', path: '/keys', body: { name: 'k', scopes } });
  assert.equal(answer.status, 201, answer.text);
  return answer.json as unknown as Created;
}

interface Created {
  id: string;
  key: string;
}

describe('GET /stream', () => {
  it('starts with a frame at once, and forbids proxies to cache, buffer or compress it', async () => {
    await using service = await start();
    using stream = await openStream(service.url, service);
    const { headers } = stream.response;
    assert.equal(headers['content-type'], 'text/event-stream; charset=utf-8');
    assert.match(headers['cache-control'] ?? '', /no-store/);
    assert.equal(headers['x-accel-buffering'], 'no');
    assert.equal(headers['content-encoding'], undefined);
    const { event, id, data } = await stream.next();
    assert.equal(event, 'changes');
    assert.match(id ?? '', /./);
    const { at, ...rest } = data;
    assert.match(at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.deepEqual(rest, {
      counts: { published: 0, delivered: 0, retried: 0, dead: 0, cancelled: 0 },
      pending: 0,
      deliveries: [],
      more: 0,
      subscriptions: [],
      replays: [],
      isReset: false,
    });
  });

  it('shows a delivery as the list does, and its subscription', async () => {
    await using service = await start();
    await using receiver = await receive();
    using stream = await openStream(service.url, service);
    const { id } = await subscribe(service, receiver.url);
    await publish(service, 'order.created');
    const events = await stream.until(hasDelivered);
    assert.equal(sumOf(events, 'published'), 1);
    assert(events.some(({ data }) => data.subscriptions.includes(id)));
    const { items } = await get<Page<DeliveryView>>(service, '/deliveries');
    assert.deepEqual(events.at(-1)?.data.deliveries, items);
  });

  it('counts failed attempts and pending deliveries', async () => {
    await using service = await start();
    await using receiver = await receive(() => 500);
    using stream = await openStream(service.url, service);
    await subscribe(service, receiver.url);
    await publish(service, 'order.created');
    const events = await stream.until(({ data }) => data.counts.retried > 0);
    const last = events.at(-1)?.data;
    assert.equal(last?.pending, 1);
    assert.deepEqual([last.deliveries[0]?.['state'], last.deliveries[0]?.['status']], ['due', 500]);
  });

  it('reports a pause, a new secret, a manual retry and an end', async () => {
    await using service = await start();
    await using receiver = await receive();
    const { id } = await subscribe(service, receiver.url);
    await publish(service, 'order.created');
    using stream = await openStream(service.url, service);
    await stream.next();
    const act = async (method: string, path: string, body?: object): Promise<void> => {
      const answer = await service.call({ method, path, ...(body === undefined ? {} : { body }) });
      assert(answer.status < 300, answer.text);
    };
    const isTold = ({ data }: SentEvent): boolean => data.subscriptions.includes(id);
    await act('PATCH', `/subscriptions/${id}`, { state: 'paused' });
    await stream.until(isTold);
    const { items } = await get<Page<DeliveryView>>(service, '/deliveries');
    await act('POST', `/deliveries/${items[0]?.id}/retry`);
    await stream.until(({ data }) => data.deliveries.some(({ state }) => state === 'due'));
    await act('PATCH', `/subscriptions/${id}`, { state: 'active' });
    await stream.until(hasDelivered);
    await act('POST', `/subscriptions/${id}/secret/rotate`);
    await stream.until(isTold);
    await act('DELETE', `/subscriptions/${id}`);
    await stream.until(isTold);
  });

  it('shows the progress and the end of a replay', async () => {
    await using service = await start();
    await using receiver = await receive();
    await subscribe(service, receiver.url);
    using stream = await openStream(service.url, service);
    await publish(service, 'order.created');
    await stream.until(hasDelivered);
    const body = { filter: { state: 'delivered' } };
    const { json } = await service.call({ method: 'POST', path: '/replays', body });
    const isDone = ({ replays }: FrameView): boolean =>
      replays.some((one) => one['id'] === json['id'] && one['state'] === 'done');
    const events = await stream.until(({ data }) => isDone(data));
    const shown = await get(service, `/replays/${String(json['id'])}`);
    assert.deepEqual(events.at(-1)?.data.replays, [shown]);
    assert.equal(events.at(-1)?.data.replays[0]?.['replayed'], 1);
  });

  it('resumes after Last-Event-ID with exactly the missed changes', async () => {
    await using service = await start();
    await using receiver = await receive();
    await subscribe(service, receiver.url);
    let lastEventId = '';
    {
      using stream = await openStream(service.url, service);
      await publish(service, 'seen');
      lastEventId = (await stream.until(hasDelivered)).at(-1)?.id ?? '';
    }
    await publish(service, 'missed');
    await receiver.answered(2);
    using stream = await openStream(service.url, { ...service, lastEventId });
    const events = await stream.until((one) => hasDelivered(one));
    assert.equal(sumOf(events, 'published'), 1);
    assert.equal(sumOf(events, 'delivered'), 1);
    const names = events.flatMap(({ data }) => data.deliveries.map(({ event }) => event));
    assert.deepEqual([...new Set(names)], ['missed']);
    assert(events.every(({ data }) => !data.isReset));
  });

  it('starts with a reset after an unknown id', async () => {
    await using service = await start();
    using stream = await openStream(service.url, { ...service, lastEventId: 'made up' });
    assert.equal((await stream.next()).data.isReset, true);
  });

  it('shows nothing of another app', async () => {
    await using service = await start();
    await using receiver = await receive();
    const made = await service.call({ method: 'POST', path: '/apps', body: { name: 'other' } });
    assert.equal(made.status, 201, made.text);
    const key = String(made.json['key']);
    using other = await openStream(service.url, { key });
    using own = await openStream(service.url, service);
    await subscribe(service, receiver.url);
    await publish(service, 'order.created');
    await own.until(hasDelivered);
    // The first change that the other app sees is its own, although many were sent before.
    const answer = await service.call({
      method: 'POST',
      path: '/events',
      key,
      body: { event: 'own', payload: { message: '' } },
    });
    assert.equal(answer.status, 202);
    const events = await other.until(({ data }) => data.counts.published > 0);
    assert.equal(sumOf(events, 'published'), 1);
    assert.equal(sumOf(events, 'delivered'), 0);
    assert(events.every(({ data }) => data.subscriptions.length + data.deliveries.length === 0));
  });

  it('requires a key with the scope read', async () => {
    await using service = await start();
    assert.equal((await service.call({ path: '/stream', key: null })).status, 401);
    const { key } = await newKey(service, ['publish']);
    const answer = await service.call({ path: '/stream', key });
    assert.deepEqual([answer.status, answer.json['code']], [403, 'missing_scope']);
  });

  it('answers HEAD without a body', async () => {
    await using service = await start();
    const answer = await service.call({ method: 'HEAD', path: '/stream' });
    assert.equal(answer.status, 200);
    assert.equal(answer.text, '');
  });

  it('ends when its key is revoked, and sends keep-alives before', async () => {
    const watched = lazyWorld(limits.streamStillHereMs);
    await using service = await start({ world: watched.world });
    const { id, key } = await newKey(service, ['read']);
    using own = await openStream(service.url, service);
    using stream = await openStream(service.url, { key });
    await stream.next();
    watched.pass();
    const revoked = await service.call({ method: 'DELETE', path: `/keys/${id}` });
    assert(revoked.status < 300);
    await watched.passed;
    watched.pass();
    const { event } = await stream.next();
    assert.equal(event, 'bye');
    await stream.ended;
    assert.match(stream.text(), /^: keep-alive\nid: .+\n\n/m);
    await publish(service, 'order.created');
    await own.until(({ data }) => data.counts.published > 0);
  });

  it('ends with a bye when the service stops, which does not wait for clients that do not read', async () => {
    const service = await start();
    using stream = await openStream(service.url, service);
    using deaf = await openStream(service.url, { ...service, isDeaf: true });
    await stream.next();
    await service[Symbol.asyncDispose]();
    assert.equal((await stream.next()).event, 'bye');
    await stream.ended;
    assert.equal(deaf.text(), '');
  });

  it('limits the number of streams of an app', async () => {
    await using service = await start();
    await using open = new AsyncDisposableStack();
    await service.call({ method: 'HEAD', path: '/stream' }); // Leaves no stream open.
    for (let count = 0; count < limits.streamsPerAppMax; count += 1) {
      open.use(await openStream(service.url, service));
    }
    const answer = await service.call({ path: '/stream' });
    assert.deepEqual([answer.status, answer.json['code']], [429, 'too_many_streams']);
  });
});

/** The real world, except that sleeps of one length last until the test ends them. */
function lazyWorld(ms: number): { world: World; pass: () => void; passed: Promise<void> } {
  const world = realWorld();
  const first = Promise.withResolvers<void>();
  let naps = 0;
  let wake = Promise.withResolvers<void>();
  const sleep: World['sleep'] = async (given, signal) => {
    if (given !== ms) return world.sleep(given, signal);
    naps += 1;
    if (naps === 2) first.resolve();
    const aborted = Promise.withResolvers<never>();
    signal?.addEventListener('abort', () => aborted.reject(new Error('aborted')));
    return Promise.race([wake.promise, aborted.promise]);
  };
  const pass = (): void => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  return { world: { ...world, sleep }, pass, passed: first.promise };
}
