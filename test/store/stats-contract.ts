// The contract of the Store port, fourth part: figures. What an app did is exact at every instant, what a
// subscription did is there once it was kept, and both survive what they count.
import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import type { App } from '../../src/core/app.ts';
import type { Leased } from '../../src/core/delivery.ts';
import type { Counts, Figures } from '../../src/core/figures.ts';
import { addFigures, noFigures, pendingOf } from '../../src/core/figures.ts';
import { idMaker, timeOf } from '../../src/core/id.ts';
import { bucketOf } from '../../src/core/latency.ts';
import type { Span } from '../../src/core/stats-span.ts';
import { minuteMs, minuteOf, spanBetween, spanOf } from '../../src/core/stats-span.ts';
import type { Subscription } from '../../src/core/subscription.ts';
import { realWorld } from '../../src/core/world.ts';
import type { AppFigures, StepFigures } from '../../src/store/figure-verbs.ts';
import type { NewSubscription, Store } from '../../src/store/store.ts';
import type { OpenSubject, Subject } from './contract.ts';
import { attempt, callback, inactive, newApp, newSubscription } from './contract.ts';
import { settlementOf } from './delivery-model.ts';
import type { TestDispatcher } from './test-dispatcher.ts';
import { attachDispatcher } from './test-dispatcher.ts';

const dayMs = 24 * 60 * minuteMs;

export function statsContract(name: string, open: OpenSubject): void {
  describe(`the contract of figures: ${name}`, () => {
    const clock = { ms: 1_700_000_000_000 };
    const newId = idMaker({ ...realWorld(), nowMs: () => clock.ms });
    let subject: Subject;
    let store: Store;
    let dispatcher: TestDispatcher;
    before(async () => {
      subject = await open({ nowMs: () => clock.ms });
      store = subject.store;
      dispatcher = attachDispatcher(store);
    });
    after(async () => {
      await subject.dispose();
    });

    describe('counts', () => {
      it('knows nothing of an app that did nothing', async () => {
        const app = await newApp(store);
        assert.deepEqual({ ...(await countsOf(app)) }, noFigures().counts);
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
          const settlement = settlementOf(delivery, kind, clock.ms + dayMs);
          await store.settle(settlement);
          assert.equal((await store.settle(settlement)).kind, 'stale');
        }
        const ended = { delivered: 1, dead: 1, cancelled: 1, retried: 1 };
        assert.deepEqual(await some(app), { published: 5, made: 5, ...ended });
        assert.equal(pendingOf(await countsOf(app)), 2);
      });

      it('counts what ends with its subscription: the last attempt, and what waits', async () => {
        const { app, one } = await staged([callback(0, 'a'), callback(1, 'a')]);
        const [delivery] = await leased(one, { room: 1 });
        assert(delivery);
        await store.settle(settlementOf(delivery, 'gone', 0));
        assert.deepEqual(await some(app), { published: 1, made: 2, cancelled: 1 });
        await store.edit('sweep', { limit: 9 });
        assert.deepEqual(await some(app), { published: 1, made: 2, cancelled: 2 });
        assert.equal(pendingOf(await countsOf(app)), 0);
      });

      it('counts what is sent again: a dead one goes on, any other has a successor', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        const [dead] = await leased(one, { room: 1 });
        assert(dead);
        await store.settle(settlementOf(dead, 'dead', 0));
        const again = { appNo: app.no, event: dead.event, n: 0 };
        assert.deepEqual(await store.edit('retryDelivery', again), { kind: 'due', n: 0 });
        assert.equal((await store.edit('retryDelivery', again)).kind, 'pending');
        assert.deepEqual(await some(app), { published: 1, made: 1, revived: 1, dead: 1 });
        assert.equal(pendingOf(await countsOf(app)), 1);
        const two = await subscribed(app, { callbacks: [callback(0, 'a')] });
        const [delivered] = await leased(two, { room: 1 });
        assert(delivered);
        await store.settle(settlementOf(delivered, 'delivered', 0));
        await store.edit('retryDelivery', { ...again, event: delivered.event });
        const { made, revived } = await countsOf(app);
        assert.deepEqual([made, revived, pendingOf(await countsOf(app))], [3, 1, 2]);
      });

      it('counts what expires', async () => {
        const { app, one } = await staged([callback(0, 'a'), callback(1, 'a')]);
        await leased(one, { room: 0 });
        clock.ms += 40 * dayMs;
        let isMore = true;
        while (isMore) {
          const beforeMs = clock.ms - 30 * dayMs;
          ({ isMore } = await store.edit('retain', { beforeMs, limit: 99 }));
        }
        assert.deepEqual(await some(app), { published: 1, made: 2, dead: 2 });
      });

      it('counts nothing of an edit that is refused, and of one that is repeated', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        const input = publishing(one);
        const key = { key: Buffer.alloc(16, 1), print: Buffer.alloc(16, 2) };
        await store.edit('publish', { ...input, idempotency: key });
        await store.edit('publish', { ...publishing(one), idempotency: key });
        const [event] = input.events;
        assert(event);
        const twice = { ...publishing(one), events: [{ ...event, id: newId() }, event] };
        const good = store.edit('publish', publishing(one));
        await assert.rejects(store.edit('publish', twice));
        await good;
        assert.deepEqual(await some(app), { published: 2, made: 2 });
      });

      it('stays when minutes are put together and when they are deleted', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        for (let minute = 0; minute < 3; minute += 1) {
          await leased(one, { room: 0 });
          clock.ms += minuteMs;
        }
        const before_ = { ...(await countsOf(app)) };
        await tidy();
        assert.deepEqual({ ...(await countsOf(app)) }, before_);
        assert.deepEqual((await figuresOf(app)).counts, before_);
        clock.ms += 10 * dayMs;
        await tidy(7 * dayMs);
        assert.deepEqual({ ...(await countsOf(app)) }, before_);
        const span = spanBetween(clock.ms - 20 * dayMs, clock.ms);
        assert.deepEqual((await read(app, span)).steps, []);
      });

      it('outlives the process', async (t) => {
        if (subject.reopen === undefined) {
          t.skip('nothing outlives the close');
          return;
        }
        const { app, one } = await staged([callback(0, 'a')]);
        const [delivery] = await leased(one, { room: 1 });
        assert(delivery);
        await store.settle(settlementOf(delivery, 'delivered', 0));
        store = await subject.reopen();
        dispatcher = attachDispatcher(store);
        await leased(one, { room: 0 });
        assert.deepEqual(await some(app), { published: 2, made: 2, delivered: 1 });
      });
    });

    describe('appFigures', () => {
      it('gives each step what happened in it, and how long attempts took', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        clock.ms = Math.ceil(clock.ms / (30 * minuteMs)) * 30 * minuteMs;
        const startMs = clock.ms;
        for (const tookMs of [3, 90, 90]) {
          const [delivery] = await leased(one, { room: 1 });
          assert(delivery);
          const settlement = settlementOf(delivery, 'delivered', 0);
          await store.settle({ ...settlement, attempt: attempt({ tookMs }) });
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

      it('does not take the sum of all time for a minute', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        await leased(one, { room: 0 });
        clock.ms += 2 * minuteMs;
        await tidy();
        const { steps } = await read(app, spanBetween(-dayMs, clock.ms));
        assert.equal(sumOf(steps).counts.made, 1);
      });

      it('knows the oldest event that waits, behind those of others, too', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        assert.equal((await read(app)).oldestPending, undefined);
        const other = await staged([callback(0, 'a')]);
        const events = (): Event[] => Array.from({ length: 600 }, () => newEvent());
        for (let i = 0; i < 2; i += 1) {
          await store.edit('publish', { ...publishing(other.one), events: events() });
        }
        clock.ms += 5;
        const [first] = await leased(one, { room: 1 });
        assert(first);
        clock.ms += 5;
        await leased(one, { room: 0 });
        assert.equal((await read(app)).oldestPending, first.event);
        assert.equal(timeOf(first.event), clock.ms - 5);
        await store.settle(settlementOf(first, 'delivered', 0));
        assert.equal(timeOf((await read(app)).oldestPending ?? ''), clock.ms);
      });

      it('says what needs attention, the worst first', async () => {
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
            await store.settle(settlementOf(delivery, 'retry', clock.ms + dayMs));
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
        await store.edit('unsubscribe', { appNo: app.no, id: worse.id });
        await edit(bad, 'paused');
        assert.deepEqual(await attentionOf(app), [['disabled', off.id, 0]]);
      });
    });

    describe('subscriptionFigures', () => {
      it('gives what was kept of each, over all its callbacks, and nothing of others', async () => {
        const { app, one } = await staged([callback(0, 'a'), callback(1, 'a')]);
        const two = await subscribed(app, { callbacks: [callback(0, 'a')] });
        const [first, second] = await leased(one, { room: 2 });
        assert(first && second);
        await store.settle(settlementOf(first, 'delivered', 0));
        await store.settle(settlementOf(second, 'retry', clock.ms + dayMs));
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
        const other = await newApp(store);
        assert.deepEqual(await ofSubscriptions(other, [one.id]), []);
      });

      it('writes no more than it is told to, and says whether there is more', async () => {
        await keep();
        const { app, one } = await staged([callback(0, 'a'), callback(1, 'a')]);
        await leased(one, { room: 0 });
        assert.deepEqual(await store.edit('keepFigures', { limit: 1 }), {
          written: 1,
          isMore: true,
        });
        assert.deepEqual(await store.edit('keepFigures', { limit: 1 }), {
          written: 1,
          isMore: false,
        });
        assert.deepEqual(await store.edit('keepFigures', { limit: 1 }), {
          written: 0,
          isMore: false,
        });
        const [found] = await ofSubscriptions(app, [one.id]);
        assert.equal(sumOf(found?.steps ?? []).counts.made, 2);
      });

      it('counts what waits and runs, up to a bound, and finds the oldest', async () => {
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

      it('has by the half hour what is older than some hours', async () => {
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
          const [found] = await store.read('subscriptionFigures', { appNo: app.no, ...asked });
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

      it('forgets what is older than its time', async () => {
        const { app, one } = await staged([callback(0, 'a')]);
        await leased(one, { room: 0 });
        await keep();
        clock.ms += 6 * dayMs;
        await tidy(7 * dayMs);
        const span = spanBetween(clock.ms - 20 * dayMs, clock.ms + 1);
        const input = { appNo: app.no, ids: [one.id], span, pendingMax: 9 };
        const [before_] = await store.read('subscriptionFigures', input);
        assert.equal(before_?.steps.length, 1);
        clock.ms += 2 * dayMs;
        await tidy(7 * dayMs);
        const [after_] = await store.read('subscriptionFigures', input);
        assert.deepEqual(after_?.steps, []);
      });
    });

    async function staged(callbacks: NewSubscription['callbacks']) {
      const app = await newApp(store);
      return { app, one: await subscribed(app, { callbacks }) };
    }

    async function subscribed(app: App, changes: Partial<NewSubscription>): Promise<Subscription> {
      const subscription = newSubscription(app, changes);
      const output = await store.edit('subscribe', { subscription, idempotency: undefined });
      assert(output.kind === 'created');
      return output.subscription;
    }

    async function edit(
      { appNo, id, version }: Subscription,
      state: 'disabled' | 'paused',
    ): Promise<void> {
      const input = { appNo, id, version, state, urls: [], secrets: undefined };
      assert.equal((await store.edit('editSubscription', input)).kind, 'edited');
    }

    type Event = { id: string; name: string; payload: Uint8Array };

    function newEvent(event = 'a'): Event {
      return { id: newId(), name: event, payload: Buffer.from('{"message":"hello"}') };
    }

    function publishing({ appNo, id }: Subscription, event = 'a') {
      const audience = { kind: 'subscription', id } as const;
      const common = { appNo, contract: 'Ringback', idempotency: undefined };
      return { ...common, audience, events: [newEvent(event)] };
    }

    /** An event to one subscription; those of its deliveries that are under way. */
    async function leased(
      one: Subscription,
      { room, event }: { room: number; event?: string },
    ): Promise<Leased[]> {
      const { born } = await dispatcher.publish({ room }, publishing(one, event));
      assert.equal(born.length, room);
      return born;
    }

    async function countsOf(app: App): Promise<Counts> {
      return store.read('counts', { appNo: app.no });
    }

    async function some(app: App): Promise<Partial<Counts>> {
      return nonZero(await countsOf(app));
    }

    async function read(app: App, span: Span = spanOf('1h', clock.ms)): Promise<AppFigures> {
      return store.read('appFigures', { appNo: app.no, span });
    }

    async function figuresOf(app: App): Promise<Figures> {
      return sumOf((await read(app)).steps);
    }

    async function attentionOf(app: App): Promise<unknown[]> {
      const { attention } = await read(app);
      return attention.map(({ kind, subscription, failures }) => [kind, subscription, failures]);
    }

    async function ofSubscriptions(app: App, ids: readonly string[], pendingMax = 99) {
      const span = spanOf('1h', clock.ms);
      return store.read('subscriptionFigures', { appNo: app.no, ids, span, pendingMax });
    }

    async function keep(): Promise<void> {
      while ((await store.edit('keepFigures', { limit: 500 })).isMore);
    }

    async function tidy(keepMs = 400 * dayMs): Promise<void> {
      const kept = { appKeepMs: keepMs, subscriptionKeepMs: keepMs };
      const input = { ...kept, subscriptionFineMs: 2 * 60 * minuteMs, limit: 2 };
      while ((await store.edit('tidyFigures', input)).isMore);
    }
  });
}

function sumOf(steps: readonly StepFigures[]): Figures {
  const sum = noFigures();
  for (const { figures } of steps) addFigures(sum, figures);
  return sum;
}

function nonZero(counts: Counts): Partial<Counts> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

function buckets({ took }: Figures): Record<number, number> {
  return Object.fromEntries([...took.entries()].filter(([, count]) => count > 0));
}
