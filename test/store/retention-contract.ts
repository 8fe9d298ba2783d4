// The contract of the Store port: retention. An adapter may delete by rows or by days, so these tests leave days between
// deleted and kept rows, and repeat the retention until nothing is left.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { Callback } from '../../src/core/domain/subscription.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { callback, digest, newApp, newSubscription, type OpenSubject } from './subject.ts';
import { settlementOf } from './settlement.ts';
import { dayMs, nameOf, retentionMs, retentionStage } from './retention-stage.ts';

export function retentionContract(name: string, open: OpenSubject): void {
  describe(`the retention contract: ${name}`, () => {
    const {
      on,
      retain,
      retainAll,
      subscribed,
      edit,
      unsubscribe,
      find,
      publishInput,
      published,
      publish,
      leasedMany,
      leased,
      leasedClaim,
      settle,
      eventIds,
      deliveries,
      everything,
      tally,
    } = retentionStage(open);
    const { clock, newId } = on;

    it('keeps everything within the retention', async () => {
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

    it('deletes exactly older events with their deliveries and attempts', async () => {
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
        assert.equal(await on.store.read('event', { appNo: on.app.no, id: event }), undefined);
        assert.equal(await on.store.read('delivery', { appNo: on.app.no, event, n }), undefined);
        assert.deepEqual(await on.store.read('attempts', { appNo: on.app.no, event, n }), []);
        const again = await on.store.edit('retryDelivery', { appNo: on.app.no, event, n });
        assert.deepEqual(again, { kind: 'not_found' });
      }
      assert.equal(await on.store.read('event', { appNo: on.app.no, id: unheard }), undefined);
      assert.deepEqual(await eventIds(), [young.event]);
      assert.deepEqual((await deliveries()).map(nameOf), [nameOf(young)]);
      const attempts = await on.store.read('attempts', { appNo: on.app.no, ...nameOf(young) });
      assert.equal(attempts.length, 1);
      assert.deepEqual(await tally(), { dead: 1 });
      assert.deepEqual(await retain(), { expired: 0, deleted: 0, isMore: false });
    });

    it('expires pending deliveries before anything of the event is deleted', async () => {
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
      const found = await on.store.read('delivery', { appNo: on.app.no, event, n: 0 });
      assert.deepEqual(
        [found?.state, found?.error, found?.status, found?.attempts, found?.endedMs],
        ['dead', 'expired', undefined, 1, clock.ms],
      );
      assert.equal((await on.store.read('attempts', { appNo: on.app.no, event, n: 0 })).length, 1);
      assert.equal((await retainAll(1)).expired, 1);
      assert.deepEqual(await eventIds(), [young]);
      assert.deepEqual(await tally(), { due: 2 });
    });

    it('ends the subscription whose final delivery has expired, unless others are in flight', async () => {
      const last = { contract: 'Ringback', operation: 'subscribe', definition: 'last' };
      const of = (position: number, event: string): Callback => ({
        ...callback(position, event),
        definition: event === 'b' ? event : last.definition,
      });
      const both = [of(0, 'a'), of(1, 'b')];
      const twice = await subscribed([of(0, 'a'), of(1, 'a')]);
      const [inFlight] = await leasedMany(twice, 1);
      assert(inFlight);
      const [one, other, pinged] = [
        await subscribed(both),
        await subscribed(both),
        await subscribed(both),
      ];
      await publish(one);
      await publish(other, 'b');
      const audience = { kind: 'all_callbacks', id: pinged.id } as const;
      await on.store.edit('publish', { ...publishInput('ringback.ping'), audience });
      clock.ms += 40 * dayMs;
      const finals = [{ ...last, operation: 'other' }, last];
      const input = { beforeMs: clock.ms - retentionMs, limit: 500, finals };
      const { expired, ended } = await on.store.edit('retain', input);
      assert.deepEqual([expired, ended], [5, [{ appNo: on.app.no, id: one.id }]]);
      assert.deepEqual(
        [(await find(one))?.state, (await find(one))?.endReason],
        ['ended', 'final'],
      );
      for (const kept of [other, pinged, twice]) assert.equal((await find(kept))?.state, 'active');
      const settlement = settlementOf(inFlight, 'delivered', clock.ms);
      const settled = await on.store.settle({ ...settlement, finals: [last.definition] });
      assert.equal(settled.kind, 'gone');
      assert.equal((await find(twice))?.endReason, 'final');
    });

    it('does not block the lane: recent deliveries are claimed after expired ones', async () => {
      const one = await subscribed();
      await publish(one);
      const retried = await leasedClaim();
      await settle(retried, 'retry', clock.ms + 60 * dayMs);
      clock.ms += 40 * dayMs;
      const young = await publish(one);
      assert.equal((await retainAll()).expired, 1);
      const { claimed } = await on.dispatcher.claim({ room: 9 });
      assert.deepEqual(
        claimed.map(({ event }) => event),
        [young],
      );
      clock.ms += 60 * dayMs;
      assert.deepEqual((await on.dispatcher.claim({ room: 9 })).claimed, []);
    });

    it('expires deliveries of a paused subscription, too, which can be resumed afterwards', async () => {
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

    it('neither expires nor deletes running deliveries, and accepts their outcome', async () => {
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

    it('cancels pending deliveries of an ended subscription instead of expiring them', async () => {
      const one = await subscribed([callback(0, '*'), callback(1, '*')]);
      await publish(one);
      await on.store.edit('unsubscribe', { appNo: on.app.no, id: one.id });
      clock.ms += 40 * dayMs;
      assert.equal((await retain(1)).expired, 0);
      assert.deepEqual(await tally(), { due: 1, cancelled: 1 });
      assert.equal((await retainAll()).expired, 0);
      assert.deepEqual(await tally(), {});
    });

    it('keeps an event with a fan-out in progress, and expires its new deliveries', async () => {
      const length = limits.callbacksPerSubscriptionMax;
      for (let made = 0; made <= limits.targetsAtOnceMax; made += length) {
        await subscribed(Array.from({ length }, (_, at) => callback(at, 'a')));
      }
      const input = { ...publishInput('a'), audience: { kind: 'everyone' } } as const;
      const output = await on.store.edit('publish', input);
      assert(output.kind === 'accepted' && output.events[0]?.deliveries === undefined);
      clock.ms += 40 * dayMs;
      assert.equal((await retainAll()).expired, 0);
      assert.equal((await eventIds()).length, 1);
      let expired = 0;
      for (let isMore = true; isMore;) {
        ({ isMore } = (await on.dispatcher.fanOut({ room: 0 })).fannedOut);
        expired += (await retainAll()).expired;
      }
      assert.equal(expired, 5 * length);
      assert.deepEqual(await eventIds(), []);
      assert.deepEqual(await tally(), {});
    });

    it('keeps old deliveries that are retried by hand until they expire, too', async () => {
      const one = await subscribed();
      const dead = await leased(one);
      await settle(dead, 'dead');
      clock.ms += 40 * dayMs;
      await on.store.edit('retryDelivery', { appNo: on.app.no, ...nameOf(dead) });
      const again = await leasedClaim();
      assert.equal((await retainAll()).expired, 0);
      assert.deepEqual(await settle(again, 'delivered'), { kind: 'settled' });
      assert.equal((await retainAll()).expired, 0);
      assert.deepEqual(await eventIds(), []);
    });

    it('applies to all apps', async () => {
      await publish(await subscribed());
      on.app = await newApp(on.store);
      await publish(await subscribed());
      clock.ms += 40 * dayMs;
      assert.equal((await retainAll()).expired, 2);
      assert.deepEqual(await tally(), {});
    });

    it('continues where it stopped, even after a restart', async () => {
      const one = await subscribed([callback(0, '*'), callback(1, '*'), callback(2, '*')]);
      for (const each of await leasedMany(one, 3)) await settle(each, 'dead');
      await publish(one);
      clock.ms += 40 * dayMs;
      await retain(2);
      if (on.subject.reopen !== undefined) await on.reopen();
      await retainAll(2);
      assert.deepEqual(await eventIds(), []);
      assert.deepEqual(await tally(), {});
    });

    describe('a subscription', () => {
      const keptMs = retentionMs + limits.subscriptionKeepMs;

      it('is deleted with its history long after its end', async () => {
        const gone = await subscribed([callback(0, '*'), callback(1, 'b')]);
        await settle(await leased(gone), 'delivered');
        await unsubscribe(gone);
        const alive = await subscribed();
        clock.ms += keptMs + dayMs;
        await retainAll(3);
        // Any open transaction on the server delays the sweep of its lanes.
        for (let looks = 0; looks < 10_000 && (await find(gone)) !== undefined; looks += 1) {
          await on.store.edit('sweep', { limit: 99 });
          await retainAll(3);
        }
        assert.equal(await find(gone), undefined);
        assert.deepEqual(await find(alive), alive);
        const { items } = await on.store.read('subscriptions', {
          appNo: on.app.no,
          page: { limit: 9, after: undefined },
          state: undefined,
        });
        assert.deepEqual(items, [alive]);
        assert.equal(await published('b'), 1, 'no other subscription is affected');
      });

      it('is kept while active or paused, however old, and for some time after its end', async () => {
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

      it('is found by its idempotency key for as long as the key is valid', async () => {
        const idempotency = { key: digest(newId()), print: digest('x') };
        const one = await subscribed([callback(0, '*')], idempotency);
        await unsubscribe(one);
        await subscribed();
        clock.ms += limits.idempotencyKeepMs;
        for (const beforeMs of [clock.ms, clock.ms - 3_600_000]) {
          await on.store.edit('retain', { beforeMs, limit: 500 });
        }
        const subscription = newSubscription(on.app);
        const output = await on.store.edit('subscribe', { subscription, idempotency });
        assert(output.kind === 'repeated');
        assert.equal(output.subscription.id, one.id);
      });
    });
  });
}
