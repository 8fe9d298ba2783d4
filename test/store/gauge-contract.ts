// The contract of the Store port: gauges, which must agree with a count of all rows, over all apps.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { Leased } from '../../src/core/domain/delivery.ts';
import { brokenAfter } from '../../src/core/domain/circuit-breaker.ts';
import type { Callback, Subscription } from '../../src/core/domain/subscription.ts';
import type {
  Gauges,
  LaneCensus,
  SubscriptionCensus,
} from '../../src/store/port/statistics-verbs.ts';
import type { NewSubscription } from '../../src/store/port/store.ts';
import { settlementOf } from './settlement.ts';
import { keptStage } from './store-stage.ts';
import { callback, newApp, newSubscription, type OpenSubject } from './subject.ts';

interface Seen {
  gauges: Gauges;
  lanes: LaneCensus;
  subscriptions: SubscriptionCensus;
}

export function gaugeContract(name: string, open: OpenSubject): void {
  describe(`the contract of gauges: ${name}`, () => {
    const stage = keptStage(open);
    const { clock } = stage;

    const look = async (): Promise<Seen> => ({
      gauges: await stage.store.read('gauges', {}),
      lanes: await stage.store.read('laneCensus', { after: 0, nowMs: clock.ms, dueMost: 9 }),
      subscriptions: await stage.store.read('subscriptionCensus', { after: 0 }),
    });

    it('is zero at first', async () => {
      const { gauges, lanes, subscriptions } = await look();
      assert.deepEqual(
        { ...gauges, counts: Object.values(gauges.counts) },
        {
          counts: [0, 0, 0, 0, 0, 0, 0],
          running: 0,
          oldestPending: undefined,
          fanOuts: 0,
          replays: 0,
          notices: 0,
        },
      );
      assert.deepEqual(Object.values(subscriptions), [undefined, 0, 0, 0, 0]);
      assert.deepEqual([lanes.open, lanes.held, lanes.due, lanes.last], [0, 0, 0, undefined]);
    });

    it('counts deliveries of a paused subscription as due, but held', async () => {
      const one = await subscribed([callback(0, 'b')]);
      const { appNo, id, version } = one;
      const dueMs = clock.ms;
      await publish(one, 0);
      const open_ = (await look()).lanes;
      assert.deepEqual([open_.oldestDueMs, open_.oldestReadyMs], [dueMs, dueMs]);
      const change = { state: 'paused', urls: [], secrets: undefined } as const;
      await stage.store.edit('editSubscription', { appNo, id, version, ...change });
      clock.ms += 1_000;
      const { lanes, subscriptions } = await look();
      assert.deepEqual([lanes.due, lanes.held, subscriptions.paused], [1, 1, 1]);
      assert.deepEqual([lanes.oldestDueMs, lanes.oldestReadyMs], [dueMs, undefined]);
      await stage.store.edit('unsubscribe', { appNo, id });
      const ended = (await look()).lanes;
      assert.deepEqual([ended.held, ended.oldestDueMs], [0, undefined], 'it has ended');
      await stage.store.edit('sweep', { limit: 9 });
    });

    it('adds up over apps, separates due from running, and finds the oldest', async () => {
      const { gauges: before_ } = await look();
      const one = await subscribed([callback(0, 'a')]);
      const other = await subscribed([callback(0, 'a'), callback(1, 'a')]);
      const { event: oldest } = await publish(one, 1);
      clock.ms += 60_000;
      await publish(other, 0);
      const { gauges, lanes, subscriptions } = await look();
      const { made, published } = gauges.counts;
      assert.deepEqual([made - before_.counts.made, published - before_.counts.published], [3, 2]);
      assert.deepEqual([gauges.running, lanes.due], [1, 2]);
      assert.equal(gauges.oldestPending, oldest);
      assert.deepEqual(
        [lanes.open, lanes.oldestDueMs, lanes.oldestReadyMs],
        [3, clock.ms, clock.ms],
      );
      assert.deepEqual([subscriptions.active, subscriptions.paused], [2, 0]);
    });

    it('does not count an unconfirmed subscription as paused', async () => {
      const before_ = (await look()).subscriptions;
      await subscribed([callback(0, 'u')], { confirmByMs: clock.ms + 1 });
      const { unconfirmed, paused } = (await look()).subscriptions;
      assert.deepEqual([unconfirmed - before_.unconfirmed, paused - before_.paused], [1, 0]);
    });

    it('counts a lane as broken until its next probe is due, and then as probing', async () => {
      const one = await subscribed([callback(0, 'c')]);
      for (let failures = 0; failures < brokenAfter; failures += 1) {
        const { fresh } = await publish(one, 1);
        const [leased] = fresh;
        assert(leased, `attempt ${failures}`);
        await stage.store.settle(settlementOf(leased, 'dead', 0));
      }
      const { broken, probing } = (await look()).lanes;
      assert.deepEqual([broken, probing], [1, 0]);
      clock.ms += 60 * 60_000;
      const later = (await look()).lanes;
      assert.deepEqual([later.broken, later.probing], [0, 1]);
    });

    it('does not count deliveries as due before their time, nor more than the limit', async () => {
      const one = await subscribed([callback(0, 'd'), callback(1, 'd')]);
      const before_ = (await look()).lanes.due;
      const { fresh } = await publish(one, 1);
      const [leased] = fresh;
      assert(leased);
      assert.equal((await look()).lanes.due, before_ + 1, 'the other one is running');
      await stage.store.settle(settlementOf(leased, 'retry', clock.ms + 10, clock.ms));
      assert.equal((await look()).lanes.due, before_ + 1);
      clock.ms += 10;
      assert.equal((await look()).lanes.due, before_ + 2);
      for (const dueMost of [0, 1, 2]) {
        const asked = { after: 0, nowMs: clock.ms, dueMost };
        assert.equal((await stage.store.read('laneCensus', asked)).due, dueMost);
      }
    });

    async function subscribed(
      callbacks: readonly Callback[],
      changes: Partial<NewSubscription> = {},
    ): Promise<Subscription> {
      const subscription = newSubscription(await newApp(stage.store), { callbacks, ...changes });
      const output = await stage.store.edit('subscribe', { subscription, idempotency: undefined });
      assert(output.kind === 'created');
      return output.subscription;
    }

    /** Publishes to all callbacks of a subscription; leases as many deliveries as `room` allows. */
    async function publish(
      { appNo, id }: Subscription,
      room: number,
    ): Promise<{ event: string; fresh: readonly Leased[] }> {
      const event = stage.newId();
      const events = [{ id: event, name: 'a', payload: Buffer.from('{}') }];
      const audience = { kind: 'all_callbacks', id } as const;
      const common = { appNo, contract: 'Ringback', idempotency: undefined };
      const { fresh } = await stage.dispatcher.publish({ room }, { ...common, audience, events });
      return { event, fresh };
    }
  });
}
