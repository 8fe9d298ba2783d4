// A failover to a standby that has not replicated everything. Edits that only the old primary had must not have been
// acknowledged, and lost outcomes must not leave deliveries leased forever.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { openCluster } from '../../src/store/open/open.ts';
import { StoreUnavailable } from '../../src/store/port/store.ts';
import { openDatabase } from '../postgres/database.ts';
import { startPair } from '../postgres/primary-and-standby.ts';
import { startProxy } from '../postgres/proxy.ts';
import { startPostgres } from '../postgres/server.ts';
import { newId } from './open-memory.ts';
import { until, world } from './postgres-stage.ts';
import { settlementOf } from './settlement.ts';
import { callback, newApp, newSubscription } from './subject.ts';
import { startTestNode } from './test-node.ts';

/** A safety timeout, far longer than any passing test. */
const net = { timeout: 300_000 };

describe('a failover to a standby that has not replicated everything', net, () => {
  it('loses no acknowledged edit, and no delivery stays leased to a node that has settled it', async (t) => {
    await using primary = await startPostgres({
      settings: { fsync: 'off', wal_keep_size: '256MB' },
    });
    await using address = await startProxy(await primary.createDatabase('failover'));
    const store = await openCluster({ url: address.url, world });
    t.after(async () => store.close());
    const app = await newApp(store);
    const subscription = newSubscription(app, { callbacks: [callback(0, 'a')] });
    await store.edit('subscribe', { subscription, idempotency: undefined });
    let isHolding = true;
    await using node = await startTestNode(store, {
      hears: false,
      outcome: (one) => (isHolding ? undefined : settlementOf(one, 'delivered', 0)),
    });
    await using pair = await startPair(primary, 'failover');
    await pair.replicate('asynchronous');

    // Leased in both, but settled only in the primary.
    const event = { id: newId(), name: 'a', payload: Buffer.from('{}') };
    await store.edit('publish', {
      appNo: app.no,
      contract: 'Ringback',
      events: [event],
      audience: { kind: 'everyone' },
      idempotency: undefined,
    });
    await node.work();
    const [leased] = node.taken;
    assert(leased !== undefined);
    const isHeld = 'select from ringback.delivery_live where lease is not null';
    await until(async () => (await pair.database.query(isHeld)).length === 1);
    pair.way.blackHole();
    assert.equal((await store.settle(settlementOf(leased, 'delivered', 0))).kind, 'settled');

    await using there = openDatabase(primary.url('failover'));
    await pair.replicate('synchronous');
    // Its backend is terminated while it waits for the standby, so it is committed only on the primary.
    const answer = store.edit('keepSetting', { name: 'x', value: Buffer.from('1') });
    let isAnswered = false;
    answer.then(
      () => (isAnswered = true),
      () => undefined,
    );
    const waiters = async (): Promise<number> => {
      const sql = "select pid from pg_stat_activity where wait_event = 'SyncRep'";
      return (await there.query(sql)).length;
    };
    await until(async () => (await waiters()) > 0);
    await there.query(`
      select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`);
    await until(async () => isAnswered || (await waiters()) > 0);
    assert.ok(
      !isAnswered,
      'the status on the primary does not count before the standby has the commit',
    );
    await primary.kill();
    await pair.takeOver();
    address.pointTo(pair.standby.url('failover'));
    await assert.rejects(answer, StoreUnavailable);
    assert.deepEqual(
      await pair.database.query("select from ringback.setting where name = 'x'"),
      [],
    );

    isHolding = false;
    await until(async () => {
      await node.work();
      return node.taken.length > 1;
    });
    await until(() => node.counts.settled === 1);
    const done = await pair.database.query('select event from ringback.delivery_done');
    assert.deepEqual(done, [{ event: event.id }]);
  });
});
