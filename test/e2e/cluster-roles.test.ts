import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { freshDatabase } from '../postgres/database.ts';
import { startNode, startNodes } from './cluster.ts';
import { header, receive, type Reply } from './receiver.ts';
import { get, publish, quiet, subscribe, type DeliveryView, type Page } from './stage.ts';
import { inTime, patienceMs, Tally } from './awaitable-count.ts';

const events = 20;
/** What a killed worker has under way when it dies. */
const inFlight = 5;

/** At once: the second one waits for a lease to end. */
describe('a cluster of nodes with roles', { concurrency: true }, () => {
  it('serves at one, delivers at the other, and says who is there', async () => {
    await using database = await freshDatabase();
    await using cleanup = new AsyncDisposableStack();
    const nodes = await startNodes(database.url, { front: 'api', back: 'worker' });
    const [api, worker] = nodes.map((node) => cleanup.use(node));
    assert(api && worker);
    await using receiver = await receive();
    await subscribe(api, receiver.url);
    for (let i = 0; i < events; i += 1) await publish(api, 'order.created');
    await receiver.waitFor(events);
    const deliveries = await quiet(api);
    assert.equal(deliveries.length, events);
    assert.ok(
      deliveries.every(({ state, attemptCount }) => state === 'delivered' && attemptCount === 1),
    );
    const { items } = await get<{ items: { name: string; role: string }[] }>(api, '/nodes');
    const roles = items.map(({ name, role }) => `${name} ${role}`);
    assert.deepEqual(roles.toSorted(), ['back worker', 'front api']);
    assert.equal((await worker.call({ path: '/readyz', key: null })).status, 200);
    assert.notEqual(
      (await worker.call({ path: '/subscriptions' })).status,
      200,
      'it serves nobody',
    );
  });

  it('keeps what waits when its only worker is killed, and a new one sends all of it', async (t) => {
    await using database = await freshDatabase();
    await using api = await startNode({ url: database.url, name: 'api', role: 'api' });
    const came = new Tally('callbacks came');
    const dead = Promise.withResolvers<Reply>();
    let answer = async (): Promise<Reply> => dead.promise;
    await using receiver = await receive(async () => {
      came.add();
      return answer();
    });
    await subscribe(api, receiver.url);
    await using first = await startNode({ url: database.url, name: 'first', role: 'worker' });
    for (let i = 0; i < inFlight; i += 1) await publish(api, 'order.created');
    await came.reach(inFlight);
    first.signal('SIGKILL');
    await first.ended;
    dead.resolve(200); // Nobody hears it any more.
    answer = async () => 200;
    const killedMs = performance.now();

    for (let i = inFlight; i < events; i += 1) await publish(api, 'order.created');
    const { items } = await get<Page<DeliveryView>>(api, '/deliveries?limit=500');
    assert.equal(items.length, events);
    assert.ok(
      items.every(({ state }) => state === 'due' || state === 'running'),
      'all are pending',
    );

    await using second = await startNode({ url: database.url, name: 'second', role: 'worker' });
    // What waits goes at once; what the dead one held, when its lease and the next rescue are over.
    await came.reach(events);
    const rescuedMs = 4 * limits.nodeSilentMs;
    await came.reach(events + inFlight, rescuedMs - (performance.now() - killedMs));
    const tookMs = performance.now() - killedMs;
    t.diagnostic(`rescued ${Math.round(tookMs)} ms after the kill`);
    await inTime(quiet(api), patienceMs, () => 'some never ended');
    const ids = receiver.requests.map((request) => header(request, 'webhook-id'));
    assert.equal(new Set(ids).size, events);
    assert.equal(ids.length, events + inFlight, 'what was under way came again, and nothing else');
    assert.equal(second.err(), '');
  });
});
