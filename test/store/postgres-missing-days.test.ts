// Any write into the history must create the partitions of a missing day, without affecting other writes.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { firstIdAt } from '../../src/core/base/id.ts';
import { dayAt } from '../../src/store/postgres/schema/partitions.ts';
import { claimOn, openStage, publishOn, world, type Stage } from './postgres-stage.ts';
import { settlementOf } from './settlement.ts';

const dayMs = 24 * 60 * 60 * 1000;
let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => stage[Symbol.asyncDispose]());

describe('a day without partitions', { timeout: 300_000 }, () => {
  it('gets partitions for an event rejected from the inbox', async () => {
    const { database, store } = stage;
    await database.query(
      `select ringback.publish('a', '{}', null, (select name from ringback.app limit 1))`,
    );
    // As if no node had run for days.
    const id = firstIdAt(world.nowMs() - 5 * dayMs);
    await database.query('update ringback.inbox set id = $1', [id]);
    const { entries } = await store.edit('takeInbox', { limit: 10, forMs: 1 });
    const rejecting = { no: entries[0]?.no ?? 0, reason: 'no' };
    assert.deepEqual(await store.edit('rejectInbox', rejecting), { kind: 'rejected' });
    assert.equal((await store.read('event', { appNo: stage.appNo, id }))?.rejected, 'no');
  });

  it('is repaired for a delivery that ends', async () => {
    const [leased] = await claimed();
    assert(leased !== undefined);
    await detach();
    const settlement = settlementOf(leased, 'delivered', world.nowMs());
    assert.deepEqual(await stage.store.settle(settlement), { kind: 'settled' });
  });

  it('is repaired by retention, which expires its pending deliveries', async () => {
    await claimed();
    await stage.database.query('update ringback.delivery_live set lease = null');
    await detach();
    const beforeMs = world.nowMs() + 2 * dayMs;
    const { expired } = await stage.store.edit('retain', { beforeMs, limit: 500 });
    assert.equal(expired, 1);
  });

  async function claimed() {
    await stage.subscribe('a');
    const nowMs = world.nowMs();
    await stage.once(async (tx) => publishOn(tx, nowMs, [stage.publishing('a')]));
    return (await stage.once(async (tx) => claimOn(tx, { nowMs: nowMs + 10 }))).deliveries;
  }

  /** The state that retention leaves if it is killed while dropping the day. */
  async function detach(): Promise<void> {
    const name = `delivery_done_${dayAt(world.nowMs()).name}`;
    await stage.database.query(
      `alter table ringback.delivery_done detach partition ringback.${name}`,
    );
  }
});
