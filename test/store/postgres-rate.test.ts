// The rate limit with two nodes that claim at the same time, on a clock that the test moves: together they must claim
// exactly as much as one would.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import { realWorld } from '../../src/core/base/world.ts';
import { openCluster } from '../../src/store/open/open.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import { callback, newApp, newSubscription } from './subject.ts';
import { newId } from './open-memory.ts';
import { settlementOf } from './settlement.ts';
import { attachDispatcher } from './test-dispatcher.ts';

const events = 60;
const ratePerSecond = 20;
const intervalMs = 1_000 / ratePerSecond;

describe('a rate limit on PostgreSQL', () => {
  it('is exact over two concurrently claiming nodes', async () => {
    await using database = await freshStoreDatabase();
    const clock = { ms: realWorld().nowMs() };
    const world = { ...realWorld(), nowMs: () => clock.ms };
    const options = { url: database.url, world, clock: 'given' } as const;
    const stores = await Promise.all([openCluster(options), openCluster(options)]);
    const [store] = stores;
    assert(store);
    const app = await newApp(store);
    const callbacks = [callback(0, 'a'), callback(1, 'a')];
    const controls = { ...noControls, ratePerSecond };
    const subscription = newSubscription(app, { callbacks, controls });
    await store.edit('subscribe', { subscription, idempotency: undefined });
    const payload = Buffer.from('1');
    await store.edit('publish', {
      appNo: app.no,
      contract: 'Ringback',
      events: Array.from({ length: events / 2 }, () => ({ id: newId(), name: 'a', payload })),
      audience: { kind: 'everyone' },
      idempotency: undefined,
    });

    const nodes = stores.map((each) => ({ store: each, worker: attachDispatcher(each), took: 0 }));
    const startMs = clock.ms;
    let taken = 0;
    for (let look = 0; taken < events; look += 1) {
      const elapsedMs = clock.ms - startMs;
      assert(elapsedMs < 3_000, `after ${elapsedMs} ms ${taken} of ${events}`);
      for (const node of nodes) node.took = 0;
      // Concurrently, and again for the node that found the lane locked by the other.
      for (let turn = 0; turn < 2; turn += 1) {
        await Promise.all(
          nodes.map(async (node) => {
            const { claimed } = await node.worker.claim({ room: 64, laneRoom: 64 });
            node.took += claimed.length;
            const settlements = claimed.map((one) => settlementOf(one, 'delivered', 0));
            await Promise.all(settlements.map(async (one) => node.store.settle(one)));
          }),
        );
      }
      taken += nodes.reduce((sum, { took }) => sum + took, 0);
      const allowed = ratePerSecond + Math.floor(elapsedMs / intervalMs);
      assert.equal(taken, Math.min(allowed, events), `after ${elapsedMs} ms`);
      clock.ms += look % 3 === 0 ? 49 : 7 + look;
    }
    await Promise.all(stores.map(async (each) => each.close()));
  });
});
