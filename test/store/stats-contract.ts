// The contract of the Store port: statistics. Those of an app are exact at every moment, those of a subscription appear once
// they are stored, and both outlive the counted rows.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import {
  bucketOf,
  minuteMs,
  minuteOf,
  noStatistics,
  pendingOf,
  spanBetween,
} from '../../src/core/telemetry/statistics.ts';
import { timeOf } from '../../src/core/base/id.ts';
import { attempt, callback, inactive, newApp, type OpenSubject } from './subject.ts';
import { settlementOf } from './settlement.ts';
import { buckets, dayMs, statsStage, sumOf } from './stats-stage.ts';

export function statsContract(name: string, open: OpenSubject): void {
  describe(`the contract of statistics: ${name}`, () => {
    const {
      on,
      staged,
      subscribed,
      edit,
      newEvent,
      publishing,
      leased,
      countsOf,
      some,
      read,
      statisticsOf,
      attentionOf,
      tidy,
    } = statsStage(open);
    const { clock, newId } = on;

    describe('counts', () => {
      it('is zero for an app without activity', async () => {
        const app = await newApp(on.store);
        assert.deepEqual({ ...(await countsOf(app)) }, noStatistics().counts);
      });

      it('counts events and deliveries, in one transaction with them', async () => {
        const { app, one } = await staged([callback(0, 'a'), callback(1, '*')]);
        await leased(one, { room: 1 });
        await leased(one, { room: 0, event: 'unheard' });
        assert.deepEqual(await some(app), { published: 2, made: 3 });
        assert.equal(pendingOf(await countsOf(app)), 3);
      });

      it('counts how each delivery ended, once', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        for (const kind of ['delivered', 'dead', 'cancelled', 'retry', 'released'] as const) {
          const [delivery] = await leased(one, { room: 1 });
          assert(delivery);
          const settlement = settlementOf(delivery, kind, clock.ms + dayMs, clock.ms);
          await on.store.settle(settlement);
          assert.equal((await on.store.settle(settlement)).kind, 'stale');
        }
        const ended = { delivered: 1, dead: 1, cancelled: 1, retried: 1 };
        assert.deepEqual(await some(app), { published: 5, made: 5, ...ended });
        assert.equal(pendingOf(await countsOf(app)), 2);
      });

      it('counts deliveries that end with their subscription: the last attempt, and pending ones', async () => {
        const { app, one } = await staged([callback(0, 'a'), callback(1, 'a')]);
        const [delivery] = await leased(one, { room: 1 });
        assert(delivery);
        await on.store.settle(settlementOf(delivery, 'gone', 0));
        assert.deepEqual(await some(app), { published: 1, made: 2, cancelled: 1 });
        await on.store.edit('sweep', { limit: 9 });
        assert.deepEqual(await some(app), { published: 1, made: 2, cancelled: 2 });
        assert.equal(pendingOf(await countsOf(app)), 0);
      });

      it('counts retries by hand: a revived dead delivery, or a new one', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        const [dead] = await leased(one, { room: 1 });
        assert(dead);
        await on.store.settle(settlementOf(dead, 'dead', 0));
        const again = { appNo: app.no, event: dead.event, n: 0 };
        assert.deepEqual(await on.store.edit('retryDelivery', again), {
          kind: 'due',
          n: 0,
          customer: undefined,
        });
        assert.equal((await on.store.edit('retryDelivery', again)).kind, 'pending');
        assert.deepEqual(await some(app), { published: 1, made: 1, revived: 1, dead: 1 });
        assert.equal(pendingOf(await countsOf(app)), 1);
        const two = await subscribed(app, { callbacks: [callback(0, 'a')] });
        const [delivered] = await leased(two, { room: 1 });
        assert(delivered);
        await on.store.settle(settlementOf(delivered, 'delivered', 0));
        await on.store.edit('retryDelivery', { ...again, event: delivered.event });
        const { made, revived } = await countsOf(app);
        assert.deepEqual([made, revived, pendingOf(await countsOf(app))], [3, 1, 2]);
      });

      it('counts expired deliveries', async () => {
        const { app, one } = await staged([callback(0, 'a'), callback(1, 'a')]);
        await leased(one, { room: 0 });
        clock.ms += 40 * dayMs;
        let isMore = true;
        while (isMore) {
          const beforeMs = clock.ms - 30 * dayMs;
          ({ isMore } = await on.store.edit('retain', { beforeMs, limit: 99 }));
        }
        assert.deepEqual(await some(app), { published: 1, made: 2, dead: 2 });
      });

      it('does not count refused or repeated edits', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        const input = publishing(one);
        const key = { key: Buffer.alloc(16, 1), print: Buffer.alloc(16, 2) };
        await on.store.edit('publish', { ...input, idempotency: key });
        await on.store.edit('publish', { ...publishing(one), idempotency: key });
        const [event] = input.events;
        assert(event);
        const twice = { ...publishing(one), events: [{ ...event, id: newId() }, event] };
        const good = on.store.edit('publish', publishing(one));
        await assert.rejects(on.store.edit('publish', twice));
        await good;
        assert.deepEqual(await some(app), { published: 2, made: 2 });
      });

      it('does not change when minutes are folded or deleted', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        for (let minute = 0; minute < 3; minute += 1) {
          await leased(one, { room: 0 });
          clock.ms += minuteMs;
        }
        const before_ = { ...(await countsOf(app)) };
        await tidy();
        assert.deepEqual({ ...(await countsOf(app)) }, before_);
        assert.deepEqual((await statisticsOf(app)).counts, before_);
        clock.ms += 10 * dayMs;
        await tidy(7 * dayMs);
        assert.deepEqual({ ...(await countsOf(app)) }, before_);
        const span = spanBetween(clock.ms - 20 * dayMs, clock.ms);
        assert.deepEqual((await read(app, span)).steps, []);
      });

      it('survives a restart', async (t) => {
        if (on.subject.reopen === undefined) {
          t.skip('nothing outlives the close');
          return;
        }
        const { app, one } = await staged([callback(0, 'a')]);
        const [delivery] = await leased(one, { room: 1 });
        assert(delivery);
        await on.store.settle(settlementOf(delivery, 'delivered', 0));
        await on.reopen();
        await leased(one, { room: 0 });
        assert.deepEqual(await some(app), { published: 2, made: 2, delivered: 1 });
      });
    });

    describe('appStatistics', () => {
      it('returns counts and durations of attempts for each step of time', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        clock.ms = Math.ceil(clock.ms / (30 * minuteMs)) * 30 * minuteMs;
        const startMs = clock.ms;
        for (const tookMs of [3, 90, 90]) {
          const [delivery] = await leased(one, { room: 1 });
          assert(delivery);
          const settlement = settlementOf(delivery, 'delivered', 0);
          await on.store.settle({ ...settlement, attempt: attempt({ tookMs }) });
          clock.ms += minuteMs;
        }
        await tidy();
        const span = { fromMinute: minuteOf(startMs), stepMinutes: 2 };
        const { steps } = await read(app, { ...span, untilMinute: minuteOf(startMs) + 4 });
        const [first, second, ...others] = steps;
        assert.deepEqual(others, []);
        assert.deepEqual([first?.step, second?.step], [0, 1]);
        assert.equal(first?.figures.counts.delivered, 2);
        assert.deepEqual(buckets(first.figures), { [bucketOf(3)]: 1, [bucketOf(90)]: 1 });
        assert.equal(second?.figures.counts.published, 1);
        assert.deepEqual(buckets(second.figures), { [bucketOf(90)]: 1 });
        const none = await read(app, { ...span, untilMinute: span.fromMinute });
        assert.deepEqual(none.steps, []);
      });

      it('does not treat the total as a minute', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        await leased(one, { room: 0 });
        clock.ms += 2 * minuteMs;
        await tidy();
        const { steps } = await read(app, spanBetween(-dayMs, clock.ms));
        assert.equal(sumOf(steps).counts.made, 1);
      });

      it('finds the oldest pending event, even behind those of other apps', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        assert.equal((await read(app)).oldestPending, undefined);
        const other = await staged([callback(0, 'a')]);
        const events = () => Array.from({ length: 600 }, () => newEvent());
        for (let i = 0; i < 2; i += 1) {
          await on.store.edit('publish', { ...publishing(other.one), events: events() });
        }
        clock.ms += 5;
        const [first] = await leased(one, { room: 1 });
        assert(first);
        clock.ms += 5;
        await leased(one, { room: 0 });
        assert.equal((await read(app)).oldestPending, first.event);
        assert.equal(timeOf(first.event), clock.ms - 5);
        await on.store.settle(settlementOf(first, 'delivered', 0));
        assert.equal(timeOf((await read(app)).oldestPending ?? ''), clock.ms);
      });

      it('lists problems, the worst first', async () => {
        const { app, one: worse } = await staged([callback(0, 'a')]);
        const bad = await subscribed(app, { callbacks: [callback(0, 'a')] });
        const off = await subscribed(app, { callbacks: [callback(0, 'a')] });
        await subscribed(app, { callbacks: [callback(0, 'b'), inactive(1, 'c')] });
        assert.deepEqual(await attentionOf(app), [], 'some targets may be left out');
        for (const [one, failures] of [
          [bad, 1],
          [worse, 2],
        ] as const) {
          for (let i = 0; i < failures; i += 1) {
            const [delivery] = await leased(one, { room: 1 });
            assert(delivery);
            await on.store.settle(settlementOf(delivery, 'retry', clock.ms + dayMs, clock.ms));
          }
        }
        await edit(off, 'disabled');
        assert.deepEqual(await attentionOf(app), [
          ['disabled', off.id, 0],
          ['failing', worse.id, 2],
          ['failing', bad.id, 1],
        ]);
        const [, failing] = (await read(app)).attention;
        const { status, error, url, sinceMs } = failing ?? {};
        const expected = [500, 'status', callback(0, 'a').url, clock.ms];
        assert.deepEqual([status, error, url, sinceMs], expected);
        await on.store.edit('unsubscribe', { appNo: app.no, id: worse.id });
        await edit(bad, 'paused');
        assert.deepEqual(await attentionOf(app), [['disabled', off.id, 0]]);
      });
    });
  });
}
