// Reads of a node while other reads wait: reads for deliveries and requests must not queue behind lists.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import type { Stage } from './postgres-stage.ts';
import { openStage } from './postgres-stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => stage[Symbol.asyncDispose]());

describe('lists that wait', { timeout: 300_000 }, () => {
  it('leave a connection to the reads of single rows', async () => {
    const { appNo, store } = stage;
    await stage.subscribe('a');
    const [row] = await stage.database.query('select no::int from ringback.callback');
    const held = await stage.begin();
    await held.tx.query('lock table delivery_live in access exclusive mode', []);
    const ended: number[] = [];
    const filter = { event: undefined, subscription: undefined, name: undefined };
    const page = { limit: 50, after: undefined };
    const lists = Array.from({ length: limits.databaseReadersMax + 2 }, async (_, i) => {
      const input = { appNo, page, filter: { ...filter, state: 'running' } } as const;
      await store.read('deliveries', input).catch(() => undefined);
      ended.push(i);
    });
    // One connection is reserved for other apps.
    await stage.untilSomebodyWaits(limits.databaseReadersMax - 2);
    const [targets] = await Promise.all([
      store.read('targets', { callbacks: [Number(row?.['no'])] }),
      store.read('targets', { callbacks: [1, 2, 3] }),
      store.read('key', { id: 'none' }),
      store.read('app', { id: 'none' }),
      store.read('health', {}),
    ]);
    assert.deepEqual([targets.length, ended], [1, []]);
    await held.rollback();
    await Promise.all(lists);
  });

  it('leave a connection to the lists of other apps', async () => {
    const { appNo, store } = stage;
    const held = await stage.begin();
    await held.tx.query('lock table delivery_live in access exclusive mode', []);
    const page = { limit: 50, after: undefined };
    const filter = { event: undefined, subscription: undefined, name: undefined };
    const blocked = Array.from({ length: 200 }, async () => {
      const input = { appNo, page, filter: { ...filter, state: 'running' } } as const;
      await store.read('deliveries', input).catch(() => undefined);
    });
    await stage.untilSomebodyWaits(limits.databaseReadersMax - 2);
    const { items } = await store.read('keys', { appNo: appNo + 1, page });
    assert.deepEqual(items, []);
    await held.rollback();
    await Promise.all(blocked);
  });
});
