// The contract of the Store port, third part: what is older than its time. An adapter may delete by rows
// or by days, so these tests leave days between what goes and what stays, and ask until nothing is left.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { App } from '../../src/core/app.ts';
import type { DeliveryState, Leased } from '../../src/core/delivery.ts';
import { idMaker } from '../../src/core/id.ts';
import { limits } from '../../src/core/limits.ts';
import type { Subscription } from '../../src/core/subscription.ts';
import { realWorld } from '../../src/core/world.ts';
import type { Delivery, Settlement } from '../../src/store/delivery-verbs.ts';
import type { EditInput, EditOutput, Idempotency, Store } from '../../src/store/store.ts';
import type { OpenSubject, Subject } from './contract.ts';
import { callback, digest, newApp, newSubscription } from './contract.ts';
import { settlementOf } from './delivery-model.ts';
import type { TestDispatcher } from './test-dispatcher.ts';
import { attachDispatcher } from './test-dispatcher.ts';

const dayMs = 24 * 60 * 60 * 1000;
const retentionMs = 30 * dayMs;

export function retentionContract(name: string, open: OpenSubject): void {
  describe(`the retention contract: ${name}`, () => {
    const clock = { ms: 0 };
    let subject: Subject;
    let store: Store;
    let dispatcher: TestDispatcher;
    let app: App;
    let newId: () => string;
    beforeEach(async () => {
      clock.ms = 1_700_000_000_000;
      newId = idMaker({ ...realWorld(), nowMs: () => clock.ms });
      subject = await open({ nowMs: () => clock.ms });
      store = subject.store;
      dispatcher = attachDispatcher(store);
      app = await newApp(store);
    });
    afterEach(async () => {
      await subject.dispose();
    });

    it('leaves what is within its time as it is', async () => {
      const one = await subscribed();
      const [delivered, dead] = [await leased(one), await leased(one)];
      await settle(delivered, 'delivered');
      await settle(dead, 'dead');
      await publish(one);
      const before = await everything([delivered.event, dead.event]);
      clock.ms += retentionMs - dayMs;
      assert.deepEqual(await retain(), { expired: 0, deleted: 0, isMore: false });
      assert.deepEqual(await everything([delivered.event, dead.event]), before);
    });

    it('deletes what is older: the event, its deliveries, their attempts; and nothing else', async () => {
      const one = await subscribed([callback(0, 'a')]);
      const old = [await leased(one), await leased(one), await leased(one)];
      for (const [index, kind] of (['delivered', 'dead', 'cancelled'] as const).entries()) {
        const each = old[index];
        assert(each);
        await settle(each, kind);
      }
      const unheard = await publish(one, 'unheard');
      clock.ms += 40 * dayMs;
      const young = await leased(one);
      await settle(young, 'dead');
      const { expired, deleted } = await retainAll();
      assert.equal(expired, 0);
      assert(deleted > 0);
      for (const { event, n } of old) {
        assert.equal(await store.read('event', { appNo: app.no, id: event }), undefined);
        assert.equal(await store.read('delivery', { appNo: app.no, event, n }), undefined);
        assert.deepEqual(await store.read('attempts', { appNo: app.no, event, n }), []);
        const again = await store.edit('retryDelivery', { appNo: app.no, event, n });
        assert.deepEqual(again, { kind: 'not_found' });
      }
      assert.equal(await store.read('event', { appNo: app.no, id: unheard }), undefined);
      assert.deepEqual(await eventIds(), [young.event]);
      assert.deepEqual((await deliveries()).map(nameOf), [nameOf(young)]);
      const attempts = await store.read('attempts', { appNo: app.no, ...nameOf(young) });
      assert.equal(attempts.length, 1);
      assert.deepEqual(await tally(), { dead: 1 });
      assert.deepEqual(await retain(), { expired: 0, deleted: 0, isMore: false });
    });

    it('ends what still waits as dead, reason expired, before anything of the event goes', async () => {
      const one = await subscribed([callback(0, '*'), callback(1, '*')]);
      const [delivery] = await leasedMany(one, 1);
      assert(delivery);
      await settle(delivery, 'retry', clock.ms + 50 * dayMs);
      const { event } = delivery;
      clock.ms += 40 * dayMs;
      const young = await publish(one);
      assert.deepEqual(await tally(), { due: 4 });
      const first = await retain(1);
      assert.deepEqual(first, { expired: 1, deleted: 0, isMore: true });
      assert.deepEqual(await tally(), { due: 3, dead: 1 });
      const found = await store.read('delivery', { appNo: app.no, event, n: 0 });
      assert.deepEqual(
        [found?.state, found?.error, found?.status, found?.attempts, found?.endedMs],
        ['dead', 'expired', undefined, 1, clock.ms],
      );
      assert.equal((await store.read('attempts', { appNo: app.no, event, n: 0 })).length, 1);
      assert.equal((await retainAll(1)).expired, 1);
      assert.deepEqual(await eventIds(), [young]);
      assert.deepEqual(await tally(), { due: 2 });
    });

    it('goes on with the lane: what is young is delivered after what was too old', async () => {
      const one = await subscribed();
      await publish(one);
      const retried = await leasedClaim();
      await settle(retried, 'retry', clock.ms + 60 * dayMs);
      clock.ms += 40 * dayMs;
      const young = await publish(one);
      assert.equal((await retainAll()).expired, 1);
      const { claimed } = await dispatcher.claim({ room: 9 });
      assert.deepEqual(
        claimed.map(({ event }) => event),
        [young],
      );
      clock.ms += 60 * dayMs;
      assert.deepEqual((await dispatcher.claim({ room: 9 })).claimed, []);
    });

    it('also ends what waits for a paused subscription, which can be resumed afterwards', async () => {
      const one = await subscribed();
      await publish(one);
      const paused = await edit(one, 'paused');
      await publish(one);
      clock.ms += 40 * dayMs;
      assert.equal((await retainAll()).expired, 2);
      assert.deepEqual(await tally(), {});
      await edit(paused, 'active');
      const young = await publish(one);
      assert.equal((await leasedClaim()).event, young);
    });

    it('neither ends nor deletes what is running, and takes its outcome', async () => {
      const one = await subscribed();
      const [first, second] = [await leased(one), await leased(one)];
      clock.ms += 40 * dayMs;
      assert.equal((await retainAll()).expired, 0);
      assert.deepEqual(await tally(), { running: 2 });
      assert.deepEqual(await settle(first, 'delivered'), { kind: 'settled' });
      assert.deepEqual(await settle(second, 'retry', clock.ms + dayMs), { kind: 'settled' });
      assert.equal((await retainAll()).expired, 1);
      assert.deepEqual(await tally(), {});
      assert.deepEqual(await eventIds(), []);
      assert.deepEqual(await settle(second, 'delivered'), { kind: 'stale' });
    });

    it('cancels, and does not call expired, what waits for a subscription that has ended', async () => {
      const one = await subscribed([callback(0, '*'), callback(1, '*')]);
      await publish(one);
      await store.edit('unsubscribe', { appNo: app.no, id: one.id });
      clock.ms += 40 * dayMs;
      assert.equal((await retain(1)).expired, 0);
      assert.deepEqual(await tally(), { due: 1, cancelled: 1 });
      assert.equal((await retainAll()).expired, 0);
      assert.deepEqual(await tally(), {});
    });

    it('keeps an event whose fan-out is under way, and ends what it makes', async () => {
      const length = limits.callbacksPerSubscriptionMax;
      for (let made = 0; made <= limits.targetsAtOnceMax; made += length) {
        await subscribed(Array.from({ length }, (_, at) => callback(at, 'a')));
      }
      const input = { ...publishInput('a'), audience: { kind: 'everyone' } } as const;
      const output = await store.edit('publish', input);
      assert(output.kind === 'accepted' && output.events[0]?.deliveries === undefined);
      clock.ms += 40 * dayMs;
      assert.equal((await retainAll()).expired, 0);
      assert.equal((await eventIds()).length, 1);
      let expired = 0;
      for (let isMore = true; isMore;) {
        ({ isMore } = (await dispatcher.fanOut({ room: 0 })).fannedOut);
        expired += (await retainAll()).expired;
      }
      assert.equal(expired, 5 * length);
      assert.deepEqual(await eventIds(), []);
      assert.deepEqual(await tally(), {});
    });

    it('counts what is sent again by hand as pending, however old, until it expires too', async () => {
      const one = await subscribed();
      const dead = await leased(one);
      await settle(dead, 'dead');
      clock.ms += 40 * dayMs;
      await store.edit('retryDelivery', { appNo: app.no, ...nameOf(dead) });
      const again = await leasedClaim();
      assert.equal((await retainAll()).expired, 0);
      assert.deepEqual(await settle(again, 'delivered'), { kind: 'settled' });
      assert.equal((await retainAll()).expired, 0);
      assert.deepEqual(await eventIds(), []);
    });

    it('is the same for all apps', async () => {
      await publish(await subscribed());
      app = await newApp(store);
      await publish(await subscribed());
      clock.ms += 40 * dayMs;
      assert.equal((await retainAll()).expired, 2);
      assert.deepEqual(await tally(), {});
    });

    it('goes on where it stopped, also after a restart', async () => {
      const one = await subscribed([callback(0, '*'), callback(1, '*'), callback(2, '*')]);
      for (const each of await leasedMany(one, 3)) await settle(each, 'dead');
      await publish(one);
      clock.ms += 40 * dayMs;
      await retain(2);
      if (subject.reopen !== undefined) store = await subject.reopen();
      await retainAll(2);
      assert.deepEqual(await eventIds(), []);
      assert.deepEqual(await tally(), {});
    });

    describe('a subscription', () => {
      const keptMs = retentionMs + limits.subscriptionKeepMs;

      it('goes when it ended long ago, with its history', async () => {
        const gone = await subscribed([callback(0, '*'), callback(1, 'b')]);
        await settle(await leased(gone), 'delivered');
        await unsubscribe(gone);
        const alive = await subscribed();
        clock.ms += keptMs + dayMs;
        await retainAll(3);
        assert.equal(await find(gone), undefined);
        assert.deepEqual(await find(alive), alive);
        const { items } = await store.read('subscriptions', {
          appNo: app.no,
          page: { limit: 9, after: undefined },
          state: undefined,
        });
        assert.deepEqual(items, [alive]);
        assert.equal(await published('b'), 1, 'and nothing else heard less');
      });

      it('stays while it is active or paused, however old, and for its time after its end', async () => {
        const [active, paused, ended] = [
          await subscribed(),
          await subscribed(),
          await subscribed(),
        ];
        await edit(paused, 'paused');
        clock.ms += 400 * dayMs;
        await unsubscribe(ended);
        clock.ms += keptMs - dayMs;
        await subscribed();
        await retainAll();
        assert.equal((await find(active))?.state, 'active');
        assert.equal((await find(paused))?.state, 'paused');
        const found = await find(ended);
        assert.deepEqual([found?.state, found?.callbacks.length], ['ended', 1]);
      });

      it('is found by its idempotency key for as long as the key counts', async () => {
        const idempotency = { key: digest(newId()), print: digest('x') };
        const one = await subscribed([callback(0, '*')], idempotency);
        await unsubscribe(one);
        await subscribed();
        clock.ms += limits.idempotencyKeepMs;
        for (const beforeMs of [clock.ms, clock.ms - 3_600_000]) {
          await store.edit('retain', { beforeMs, limit: 500 });
        }
        const subscription = newSubscription(app);
        const output = await store.edit('subscribe', { subscription, idempotency });
        assert(output.kind === 'repeated');
        assert.equal(output.subscription.id, one.id);
      });
    });

    async function retain(limit = 500): Promise<EditOutput<'retain'>> {
      return store.edit('retain', { beforeMs: clock.ms - retentionMs, limit });
    }

    /** Until there is no more, in a bounded number of steps. */
    async function retainAll(limit = 500): Promise<{ expired: number; deleted: number }> {
      const all = { expired: 0, deleted: 0 };
      for (let step = 0; ; step += 1) {
        assert(step < 100, 'it does not end');
        const { expired, deleted, isMore } = await retain(limit);
        all.expired += expired;
        all.deleted += deleted;
        if (!isMore) return all;
      }
    }

    async function subscribed(
      callbacks = [callback(0, '*')],
      idempotency?: Idempotency,
    ): Promise<Subscription> {
      const subscription = newSubscription(app, { callbacks });
      const output = await store.edit('subscribe', { subscription, idempotency });
      assert(output.kind === 'created');
      return output.subscription;
    }

    async function edit(
      { id, version }: Subscription,
      state: 'active' | 'paused',
    ): Promise<Subscription> {
      const input = { appNo: app.no, id, version, state, urls: [], secrets: undefined };
      const output = await store.edit('editSubscription', input);
      assert(output.kind === 'edited');
      return output.subscription;
    }

    async function unsubscribe({ id }: Subscription): Promise<void> {
      await store.edit('unsubscribe', { appNo: app.no, id });
      // A cluster must be sure that nobody is adding to it, which takes a second look.
      for (let looks = 0; looks < 2; looks += 1) await store.edit('sweep', { limit: 99 });
    }

    async function find({ id }: Subscription): Promise<Subscription | undefined> {
      return store.read('subscription', { appNo: app.no, id });
    }

    function publishInput(what: string): Omit<EditInput<'publish'>, 'audience'> {
      const events = [{ id: newId(), name: what, payload: Buffer.from('{"message":"hello"}') }];
      return { appNo: app.no, contract: 'Ringback', events, idempotency: undefined };
    }

    /** To all that hear it; how many there are. */
    async function published(what: string): Promise<number | undefined> {
      const input = { ...publishInput(what), audience: { kind: 'everyone' } } as const;
      const output = await store.edit('publish', input);
      assert(output.kind === 'accepted');
      return output.events[0]?.deliveries;
    }

    /** To one subscription, where it waits; the event's id. */
    async function publish({ id }: Subscription, what = 'a'): Promise<string> {
      const audience = { kind: 'subscription', id } as const;
      const output = await store.edit('publish', { ...publishInput(what), audience });
      assert(output.kind === 'accepted');
      return output.events[0]?.id ?? '';
    }

    /** An event to one subscription; those of its deliveries that are under way. */
    async function leasedMany({ id }: Subscription, room: number): Promise<Leased[]> {
      const audience = { kind: 'subscription', id } as const;
      const { born } = await dispatcher.publish({ room }, { ...publishInput('a'), audience });
      assert.equal(born.length, room);
      return born;
    }

    async function leased(one: Subscription): Promise<Leased> {
      const [delivery] = await leasedMany(one, 1);
      assert(delivery);
      return delivery;
    }

    async function leasedClaim(): Promise<Leased> {
      const [delivery] = (await dispatcher.claim({ room: 1 })).claimed;
      assert(delivery);
      return delivery;
    }

    async function settle(
      one: Leased,
      kind: Settlement['outcome']['kind'],
      dueMs = clock.ms,
    ): ReturnType<Store['settle']> {
      return store.settle(settlementOf(one, kind, dueMs));
    }

    async function eventIds(): Promise<string[]> {
      const page = { limit: 500, after: undefined };
      const { items } = await store.read('events', { appNo: app.no, page, name: undefined });
      return items.map(({ id }) => id);
    }

    async function deliveries(): Promise<readonly Delivery[]> {
      const filter = {
        state: undefined,
        name: undefined,
        event: undefined,
        subscription: undefined,
      };
      const page = { limit: 500, after: undefined };
      return (await store.read('deliveries', { appNo: app.no, page, filter })).items;
    }

    async function everything(events: readonly string[]): Promise<unknown> {
      const attempts = events.map(async (event) =>
        store.read('attempts', { appNo: app.no, event, n: 0 }),
      );
      return structuredClone([await eventIds(), await deliveries(), await Promise.all(attempts)]);
    }

    /** States that have any. */
    async function tally(): Promise<Partial<Record<DeliveryState, number>>> {
      const counts = Object.entries(await store.read('tally', {}));
      return Object.fromEntries(counts.filter(([, count]) => count > 0));
    }
  });
}

function nameOf({ event, n }: { event: string; n: number }): { event: string; n: number } {
  return { event, n };
}
