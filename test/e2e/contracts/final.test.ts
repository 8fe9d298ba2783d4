// Callbacks after which their subscription ends: x-ringback-final, on both databases.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { freshStoreDatabase } from '../../postgres/store-database.ts';
import { movableWorld } from '../movable-world.ts';
import { receive, type Receiver } from '../receiver.ts';
import { attempted, get, inState, until, type DeliveryView, type Page } from '../stage.ts';
import { documentOf, serve, type Serving } from './stage.ts';

const document = documentOf(`
/jobs:
  post:
    requestBody:
      content:
        application/json:
          schema:
            type: object
            required: [job, url, doneUrls]
            properties:
              job: { type: string }
              url: { type: string }
              doneUrls: { type: array, items: { type: string } }
    responses: { '201': { description: made } }
    x-ringback-subject: $request.body#/job
    callbacks:
      progress: { '{$request.body#/url}': { post: {} } }
      done: { '{$request.body#/doneUrls}': { post: { x-ringback-final: true } } }
`);

/** On each database. */
async function onEach(
  test: (on: { service: Serving; receiver: Receiver }) => Promise<void>,
  retry = '1h',
): Promise<void> {
  const env = { RINGBACK_RETRY: retry };
  {
    await using service = await serve(document, { env });
    await using receiver = await receive();
    await test({ service, receiver });
  }
  await using database = await freshStoreDatabase();
  await using service = await serve(document, { env: { ...env, DATABASE_URL: database.url } });
  await using receiver = await receive();
  await test({ service, receiver });
}

async function subscribe(service: Serving, receiver: Receiver, urls = ['/a']): Promise<string> {
  const doneUrls = urls.map((path) => `${receiver.url}/done${path}`);
  const body = { job: 'job_1', url: `${receiver.url}/progress`, doneUrls };
  return (await service.subscribe({ path: '/jobs', body })).id;
}

/** Its deliveries, by the path that they are sent to. */
async function publish(service: Serving, event: string): Promise<Map<string, DeliveryView>> {
  const body = { event, subject: 'job_1', payload: {} };
  const answer = await service.call({ method: 'POST', path: '/events', body });
  assert.equal(answer.status, 202, answer.text);
  const path = `/deliveries?eventId=${String(answer.json['eventId'])}`;
  const { items } = await get<Page<DeliveryView>>(service, path);
  return new Map(
    items.map((one) => [new URL(one.callback.url).pathname.replace('/hook', ''), one]),
  );
}

function idOf(deliveries: Map<string, DeliveryView>, path: string): string {
  const found = deliveries.get(path);
  assert(found, `${path} is not among ${[...deliveries.keys()].join()}`);
  return found.id;
}

async function ended(service: Serving, id: string): Promise<unknown> {
  const found = await until(
    async () => get<Record<string, unknown>>(service, `/subscriptions/${id}`),
    ({ state }) => state === 'ended',
  );
  return found['endReason'];
}

describe('a callback with x-ringback-final', () => {
  it('ends the subscription once it is delivered, and what is pending is cancelled', async () => {
    await onEach(async ({ service, receiver }) => {
      const id = await subscribe(service, receiver);
      receiver.script = ({ url }) => (url.includes('/progress') ? 500 : 200);
      const progress = idOf(await publish(service, 'progress'), '/progress');
      await attempted(service, progress);
      assert.equal(await service.stateOf(id), 'active');
      await inState(service, idOf(await publish(service, 'done'), '/done/a'), 'delivered');
      assert.equal(await ended(service, id), 'final');
      await inState(service, progress, 'cancelled');
      assert.equal((await publish(service, 'progress')).size, 0);
    });
  });

  it('ends it when it is dead, and not while it is retried', async () => {
    await onEach(async ({ service, receiver }) => {
      const id = await subscribe(service, receiver);
      receiver.script = () => 500;
      const done = idOf(await publish(service, 'done'), '/done/a');
      await inState(service, done, 'dead');
      assert.equal(receiver.requests.length, 3, 'a retry is not the end');
      assert.equal(await ended(service, id), 'final');
      const again = await service.call({ method: 'POST', path: `/deliveries/${done}/retry` });
      assert.equal(again.status, 409, again.text);
    }, '10ms,10ms');
  });

  it('ends it when it expires undelivered', async () => {
    const world = movableWorld();
    await using service = await serve(document, { env: { RINGBACK_RETENTION: '1h' }, world });
    await using receiver = await receive();
    const pause = async (id: string): Promise<string> => {
      const path = `/subscriptions/${id}`;
      const { status } = await service.call({ method: 'PATCH', path, body: { state: 'paused' } });
      assert.equal(status, 200);
      return id;
    };
    const about = async (job: string): Promise<string> => {
      const body = { job, url: receiver.url, doneUrls: [receiver.url] };
      return pause((await service.subscribe({ path: '/jobs', body })).id);
    };
    const [done, begun, none] = [await about('job_1'), await about('job_2'), await about('job_3')];
    for (const [event, subject] of [
      ['done', 'job_1'],
      ['progress', 'job_2'],
    ]) {
      const body = { event, subject, payload: {} };
      const { json } = await service.call({ method: 'POST', path: '/events', body });
      assert.equal(json['deliveries'], 1);
    }
    world.moveOn(7_200_000);
    // Wakes the retention.
    await service.call({ method: 'DELETE', path: `/subscriptions/${none}` });
    assert.equal(await ended(service, done), 'final');
    assert.deepEqual(receiver.requests, []);
    assert.equal(await service.stateOf(begun), 'paused', 'another callback is not the end');
    assert.match(service.logged(), /subscription ended with its final callback, which expired/);
  });

  it('is sent to all URLs of its list first', async () => {
    await onEach(async ({ service, receiver }) => {
      const id = await subscribe(service, receiver, ['/a', '/b', '/c']);
      const answer = Promise.withResolvers<number>();
      receiver.script = async ({ url }) => (url.includes('/done/b') ? answer.promise : 200);
      const done = await publish(service, 'done');
      await inState(service, idOf(done, '/done/a'), 'delivered');
      await inState(service, idOf(done, '/done/c'), 'delivered');
      assert.equal(await service.stateOf(id), 'active');
      answer.resolve(200);
      await inState(service, idOf(done, '/done/b'), 'delivered');
      assert.equal(await ended(service, id), 'final');
    });
  });

  it('is not ended by a ping, nor by the end of an earlier subscription', async () => {
    await onEach(async ({ service, receiver }) => {
      const earlier = await subscribe(service, receiver);
      await inState(service, idOf(await publish(service, 'done'), '/done/a'), 'delivered');
      assert.equal(await ended(service, earlier), 'final');
      const id = await subscribe(service, receiver);
      const ping = { method: 'POST', path: `/subscriptions/${id}/ping` };
      const answer = await service.call(ping);
      assert.equal(answer.status, 202, answer.text);
      await receiver.waitFor(3);
      const from = { filter: { subscriberId: earlier, state: 'ended' } };
      await service.call({ method: 'POST', path: '/replays', body: from });
      await until(
        async () => get<Page<DeliveryView>>(service, `/deliveries?subscriberId=${id}`),
        ({ items }) => items.length > 0 && items.every(({ state }) => state === 'delivered'),
      );
      assert.equal(await service.stateOf(id), 'active');
      assert.equal(receiver.requests.length, 3, 'nothing is sent to the earlier one again');
    });
  });
});
