// The rate of an app over several nodes: each grants its share, which it learns from the store.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { Problem } from '../../src/core/errors/problem.ts';
import { noQuotas } from '../../src/core/load/quotas.ts';
import { createQuotas, type AppQuotas } from '../../src/engine/admission/quotas.ts';
import { StoreUnavailable, type Store } from '../../src/store/port/store.ts';
import { openDatabase, startEngine, type FakeSend } from './harness.ts';
import { virtualWorld } from './virtual-world.ts';

const app = { no: 1, quotas: { ...noQuotas, eventsPerSecond: 8 } };
const send: FakeSend = async () => {
  throw new Error('Nothing is sent here');
};

/** How many of ten events are admitted now. */
async function burst(quotas: AppQuotas): Promise<number> {
  let count = 0;
  for (let each = 0; each < 10; each += 1) {
    try {
      await quotas.spend(app, 1);
      count += 1;
    } catch (error) {
      assert(error instanceof Problem && error.code === 'rate_limited');
    }
  }
  return count;
}

describe('spend', () => {
  it('grants each node its share, by the nodes that are alive', async () => {
    const world = virtualWorld();
    const sqlite = openDatabase();
    await using here = await startEngine(world, sqlite, send, { isShared: true, node: 'here' });
    {
      await using there = await startEngine(world, sqlite, send, { isShared: true, node: 'there' });
      assert.equal(await burst(here.context.quotas), 4);
      assert.equal(await burst(there.context.quotas), 4);
    }
    // The other one has stopped; this is known some seconds later.
    await world.pass(limits.quotaSharersMs);
    await burst(here.context.quotas);
    await world.pass(1_000);
    assert.equal(await burst(here.context.quotas), 8);
  });

  it('goes by what it knew while the store does not respond', async () => {
    const world = virtualWorld();
    let isAway = false;
    const node = { no: 1, name: 'n', role: 'all', version: '1', startedMs: 0, seenMs: 0 } as const;
    const read = async (): Promise<unknown> => {
      if (isAway) throw new StoreUnavailable('away');
      return [node, { ...node, no: 2, role: 'worker' }, { ...node, no: 3, role: 'api' }];
    };
    const store = { isShared: true, read } as Pick<Store, 'read' | 'isShared'>;
    const quotas = createQuotas({ world, store, fallback: noQuotas });
    assert.equal(await burst(quotas), 4, 'a worker takes no part');
    isAway = true;
    await world.pass(limits.quotaSharersMs);
    assert.equal(await burst(quotas), 4);
  });
});
