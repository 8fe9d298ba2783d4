// The contract of the Store port: statistics of subscriptions, and their expiry.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import {
  bucketOf,
  minuteMs,
  minuteOf,
  spanBetween,
  spanOf,
} from '../../src/core/telemetry/statistics.ts';
import type { App } from '../../src/core/domain/app.ts';
import { callback, newApp, type OpenSubject } from './subject.ts';
import { settlementOf } from './settlement.ts';
import { dayMs, nonZero, statsStage, sumOf } from './stats-stage.ts';

export function subscriptionStatsContract(name: string, open: OpenSubject): void {
  describe(`the contract of statistics: ${name}`, () => {
    const { on, staged, subscribed, leased, ofSubscriptions, keep, tidy } = statsStage(open);
    const { clock, newId } = on;
    const onA = [callback(0, 'a')];

    async function ofCustomer(app: App, customer: string, pendingMax = 99) {
      const span = spanOf('1h', clock.ms);
      const input = { appNo: app.no, customer, span, pendingMax };
      const { steps, ...found } = await on.store.read('customerStatistics', input);
      return { ...found, counts: nonZero(sumOf(steps).counts), took: sumOf(steps).took, steps };
    }

    describe('subscriptionStatistics', () => {
      it('returns the stored statistics of each, over all its callbacks', async () => {
        const { app, one } = await staged([callback(0, 'a'), callback(1, 'a')]);
        const two = await subscribed(app, { callbacks: [callback(0, 'a')] });
        const [first, second] = await leased(one, { room: 2 });
        assert(first && second);
        await on.store.settle(settlementOf(first, 'delivered', 0));
        await on.store.settle(settlementOf(second, 'retry', clock.ms + dayMs, clock.ms));
        await leased(two, { room: 0 });
        const found = await ofSubscriptions(app, [two.id, newId(), one.id]);
        assert.deepEqual(
          found.map(({ id, pending, steps }) => [id, pending, steps]),
          [
            [two.id, 1, []],
            [one.id, 1, []],
          ],
        );
        await keep();
        await keep();
        const [ofTwo, ofOne] = await ofSubscriptions(app, [two.id, one.id]);
        assert.deepEqual(nonZero(sumOf(ofTwo?.steps ?? []).counts), { made: 1 });
        const { counts, took } = sumOf(ofOne?.steps ?? []);
        assert.deepEqual(nonZero(counts), { made: 2, delivered: 1, retried: 1 });
        assert.equal(took[bucketOf(12)], 2);
        const other = await newApp(on.store);
        assert.deepEqual(await ofSubscriptions(other, [one.id]), []);
      });

      it('leaves out those of other customers than the given one', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        const mine = await subscribed(app, { callbacks: onA, customer: 'cus_1' });
        const foreign = await subscribed(app, { callbacks: onA, customer: 'cus_2' });
        const input = { appNo: app.no, ids: [one.id, foreign.id, mine.id], pendingMax: 9 };
        const span = spanOf('1h', clock.ms);
        const found = await on.store.read('subscriptionStatistics', {
          ...input,
          customer: 'cus_1',
          span,
        });
        assert.deepEqual(
          found.map(({ id }) => id),
          [mine.id],
        );
      });

      it('writes at most the limit, and reports whether there is more', async () => {
        await keep();
        const { app, one } = await staged([callback(0, 'a'), callback(1, 'a')]);
        await leased(one, { room: 0 });
        assert.deepEqual(await on.store.edit('keepStatistics', { limit: 1 }), {
          written: 1,
          isMore: true,
        });
        assert.deepEqual(await on.store.edit('keepStatistics', { limit: 1 }), {
          written: 1,
          isMore: false,
        });
        assert.deepEqual(await on.store.edit('keepStatistics', { limit: 1 }), {
          written: 0,
          isMore: false,
        });
        const [found] = await ofSubscriptions(app, [one.id]);
        assert.equal(sumOf(found?.steps ?? []).counts.made, 2);
      });

      it('counts pending and running deliveries up to a limit, and finds the oldest', async () => {
        const { app, one } = await staged([callback(0, 'a'), callback(1, 'a')]);
        const [running] = await leased(one, { room: 1 });
        assert(running);
        clock.ms += 1;
        await leased(one, { room: 0 });
        const [found] = await ofSubscriptions(app, [one.id], 5);
        assert.deepEqual(
          [found?.pending, found?.isCapped, found?.oldestPending],
          [4, false, running.event],
        );
        const [capped] = await ofSubscriptions(app, [one.id], 2);
        assert.deepEqual([capped?.pending, capped?.isCapped], [2, true]);
      });

      it('is by the half hour after some hours', async () => {
        clock.ms = Math.ceil(clock.ms / (30 * minuteMs)) * 30 * minuteMs;
        const startMs = clock.ms;
        const { app, one } = await staged([callback(0, 'a')]);
        for (const minutes of [7, 22, 1]) {
          clock.ms += minutes * minuteMs;
          await leased(one, { room: 0 });
        }
        await keep();
        const minutesOf = async (): Promise<unknown> => {
          const span = { fromMinute: minuteOf(startMs), untilMinute: minuteOf(startMs) + 60 };
          const asked = { ids: [one.id], span: { ...span, stepMinutes: 1 }, pendingMax: 9 };
          const [found] = await on.store.read('subscriptionStatistics', {
            appNo: app.no,
            ...asked,
          });
          return found?.steps.map(({ step, figures }) => [step, figures.counts.made]);
        };
        const minutes = [
          [7, 1],
          [29, 1],
          [30, 1],
        ];
        clock.ms += 60 * minuteMs;
        await tidy();
        assert.deepEqual(await minutesOf(), minutes);
        clock.ms += 120 * minuteMs;
        await tidy();
        const halfHours = [
          [0, 2],
          [30, 1],
        ];
        assert.deepEqual(await minutesOf(), halfHours);
        await tidy();
        assert.deepEqual(await minutesOf(), halfHours);
      });

      it('deletes old statistics', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        await leased(one, { room: 0 });
        await keep();
        clock.ms += 6 * dayMs;
        await tidy(7 * dayMs);
        const span = spanBetween(clock.ms - 20 * dayMs, clock.ms + 1);
        const input = { appNo: app.no, ids: [one.id], span, pendingMax: 9 };
        const [before_] = await on.store.read('subscriptionStatistics', input);
        assert.equal(before_?.steps.length, 1);
        clock.ms += 2 * dayMs;
        await tidy(7 * dayMs);
        const [after_] = await on.store.read('subscriptionStatistics', input);
        assert.deepEqual(after_?.steps, []);
      });
    });

    describe('customerStatistics', () => {
      it('sums up its subscriptions, ended ones too, and no others', async () => {
        const { app, one: ofNone } = await staged(onA);
        const other = await newApp(on.store);
        const mine = { callbacks: onA, customer: 'cus_1' };
        const one = await subscribed(app, mine);
        const ended = await subscribed(app, mine);
        const foreign = await subscribed(app, { callbacks: onA, customer: 'cus_2' });
        const elsewhere = await subscribed(other, mine);
        for (const [each, kind] of [
          [one, 'delivered'],
          [ended, 'dead'],
          [foreign, 'delivered'],
          [elsewhere, 'delivered'],
          [ofNone, 'delivered'],
        ] as const) {
          const [delivery] = await leased(each, { room: 1 });
          assert(delivery);
          await on.store.settle(settlementOf(delivery, kind, clock.ms));
          if (each === one) clock.ms += 2 * minuteMs;
        }
        await keep();
        await on.store.edit('unsubscribe', { appNo: app.no, id: ended.id });
        const found = await ofCustomer(app, 'cus_1');
        assert.deepEqual(found.counts, { made: 2, delivered: 1, dead: 1 });
        assert.equal(found.took[bucketOf(12)], 2);
        assert.deepEqual(
          found.steps.map(({ figures }) => nonZero(figures.counts)),
          [
            { made: 1, delivered: 1 },
            { made: 1, dead: 1 },
          ],
        );
        const { pending, oldestPending, isCapped, subscriptionsAreCapped } = found;
        assert.deepEqual(
          [pending, oldestPending, isCapped, subscriptionsAreCapped],
          [0, undefined, false, false],
        );
        assert.deepEqual((await ofCustomer(app, 'cus_2')).counts, { made: 1, delivered: 1 });
        assert.deepEqual((await ofCustomer(app, 'cus_3')).counts, {});
      });

      it('counts pending and running deliveries up to a limit, and finds the oldest', async () => {
        const { app, one: ofNone } = await staged(onA);
        const mine = { callbacks: onA, customer: 'cus_1' };
        const one = await subscribed(app, mine);
        const two = await subscribed(app, mine);
        const foreign = await subscribed(app, { callbacks: onA, customer: 'cus_2' });
        for (const each of [ofNone, foreign]) {
          await leased(each, { room: 1 });
          await leased(each, { room: 0 });
        }
        clock.ms += 1;
        const [running] = await leased(two, { room: 1 });
        assert(running);
        clock.ms += 1;
        for (const each of [one, two, two]) {
          await leased(each, { room: 0 });
          clock.ms += 1;
        }
        const found = await ofCustomer(app, 'cus_1', 5);
        const { pending, isCapped, oldestPending } = found;
        assert.deepEqual([pending, isCapped, oldestPending], [4, false, running.event]);
        await on.store.settle(settlementOf(running, 'delivered', 0));
        const capped = await ofCustomer(app, 'cus_1', 2);
        assert.deepEqual([capped.pending, capped.isCapped], [2, true]);
        const [of] = await ofSubscriptions(app, [one.id]);
        assert.equal(capped.oldestPending, of?.oldestPending);
      });

      it('includes only the newest subscriptions of a customer with too many', async () => {
        const app = await newApp(on.store);
        const mine = { callbacks: onA, customer: 'cus_1' };
        const oldest = await subscribed(app, mine);
        await leased(oldest, { room: 1 });
        await leased(oldest, { room: 0 });
        await keep();
        const newer = limits.customerSummedMax - 1;
        await Promise.all(Array.from({ length: newer }, async () => subscribed(app, mine)));
        const all = await ofCustomer(app, 'cus_1');
        assert.deepEqual(
          [all.pending, all.counts, all.subscriptionsAreCapped],
          [2, { made: 2 }, false],
        );
        await subscribed(app, mine);
        const some = await ofCustomer(app, 'cus_1');
        assert.deepEqual([some.pending, some.counts, some.subscriptionsAreCapped], [0, {}, true]);
        assert.equal(some.oldestPending, undefined);
      });
    });
  });
}
