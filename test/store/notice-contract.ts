// The contract of the Store port: what Ringback tells of itself, and when it gives a receiver up. One
// store for all tests, an app for each.
import { strict as assert } from 'node:assert';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { App } from '../../src/core/app.ts';
import { noControls, type Controls } from '../../src/core/controls.ts';
import type { Leased } from '../../src/core/delivery.ts';
import { idMaker } from '../../src/core/id.ts';
import { brokenAfter } from '../../src/core/lane.ts';
import { limits } from '../../src/core/limits.ts';
import { coarseMinutes, minuteMs } from '../../src/core/stats-span.ts';
import type { Subscription } from '../../src/core/subscription.ts';
import { realWorld } from '../../src/core/world.ts';
import type { Settled } from '../../src/store/delivery-verbs.ts';
import type { EditInput, Store } from '../../src/store/store.ts';
import type { OpenSubject, Subject } from './contract.ts';
import { attempt, callback, newApp, newSubscription } from './contract.ts';
import type { TestDispatcher } from './test-dispatcher.ts';
import { attachDispatcher } from './test-dispatcher.ts';

const page = { limit: 50, after: undefined };

export function noticeContract(name: string, open: OpenSubject): void {
  describe(`the notice contract: ${name}`, () => {
    const clock = { ms: 1_700_000_000_000 };
    const newId = idMaker({ ...realWorld(), nowMs: () => clock.ms });
    let subject: Subject;
    let store: Store;
    let dispatcher: TestDispatcher;
    let app: App;
    before(async () => {
      subject = await open({ nowMs: () => clock.ms });
      store = subject.store;
      dispatcher = attachDispatcher(store);
    });
    beforeEach(async () => {
      app = await newApp(store);
    });
    after(async () => {
      await subject.dispose();
    });

    it('tells of a dead delivery in the transaction that ends it, if anybody listens', async () => {
      const one = await subscribed('*');
      await fail(await born('a'));
      assert.deepEqual(await notices(), [], 'nobody listens');
      await subscribed('ringback.delivery.*');
      const second = await born('a');
      await fail(second);
      const [notice, ...others] = await notices();
      assert.deepEqual(others, []);
      assert.equal(notice?.name, 'ringback.delivery.dead');
      const { message, ...facts } = notice.payload;
      assert.match(String(message), /is dead: its only attempt failed \(status 500\)/);
      assert.deepEqual(facts, {
        subscriberId: `sub_${one.id}`,
        callbackUrl: 'https://receiver.example/0',
        deliveryId: `dlv_${second.event}_0`,
        eventId: `evt_${second.event}`,
        event: 'a',
        reason: 'exhausted',
        attempts: 1,
        status: 500,
        error: 'status',
        at: new Date(clock.ms).toISOString(),
      });
    });

    it('tells nothing of its own events, and nothing to another app', async () => {
      const audience = await subscribed('ringback.*', '*');
      await subscribed('ringback.*');
      await fail(await born('ringback.ping', audience));
      const own = await born('ringback.delivery.dead', audience);
      assert.equal((await settle(own, 'gone')).kind, 'gone');
      app = await newApp(store);
      const one = await subscribed('*');
      await fail(await born('a', one));
      assert.deepEqual(await all(), []);
    });

    it('tells of several that die at once, once each', async () => {
      await subscribed('*');
      await subscribed('ringback.delivery.dead');
      const many = [await born('a'), await born('b'), await born('c')];
      await Promise.all(many.map(fail));
      const told = (await notices()).map(({ payload }) => payload['event']);
      assert.deepEqual(new Set(told), new Set(['a', 'b', 'c']));
      assert.equal(told.length, 3);
    });

    it('tells that a receiver wants no more, also when it asks twice', async () => {
      await subscribed('ringback.subscription.gone');
      const one = await subscribed('*');
      const [first, second] = [await born('a', one), await born('a', one)];
      assert.equal((await settle(first, 'gone')).kind, 'gone');
      assert.equal((await settle(second, 'gone')).kind, 'gone');
      const [notice, ...others] = await notices();
      assert.deepEqual(others, []);
      assert.equal(notice?.name, 'ringback.subscription.gone');
      assert.equal(notice.payload['subscriberId'], `sub_${one.id}`);
      assert.equal(notice.payload['deliveryId'], `dlv_${first.event}_0`);
      assert.match(String(notice.payload['message']), /answered event "a" with status 410/);
    });

    it('tells it also of a ping: that ends a subscription like any other event', async () => {
      await subscribed('ringback.subscription.gone');
      const one = await subscribed('*');
      const ping = await born('ringback.ping', one);
      assert.equal((await settle(ping, 'gone')).kind, 'gone');
      const [notice, ...others] = await notices();
      assert.deepEqual(others, []);
      assert.equal(notice?.payload['subscriberId'], `sub_${one.id}`);
      assert.match(
        String(notice.payload['message']),
        /answered event "ringback.ping" with status 410/,
      );
    });

    it('tells of what waited beyond the retention', async () => {
      await subscribed('ringback.delivery.dead');
      const one = await subscribed('a');
      await publish('a', one);
      clock.ms += 40 * 24 * 60 * 60 * 1000;
      await store.edit('retain', { beforeMs: clock.ms - 1_000, limit: 100 });
      const [notice] = await notices();
      assert.equal(notice?.payload['reason'], 'expired');
      assert.equal(notice.payload['attempts'], 0);
    });

    it('publishes a notice once', async () => {
      await subscribed('*');
      const listener = await subscribed('ringback.delivery.dead');
      await fail(await born('a'));
      const [waiting] = await all();
      assert(waiting);
      const asked = {
        appNo: waiting.appNo,
        contract: '',
        audience: { kind: 'everyone' },
        idempotency: undefined,
        notice: waiting.no,
      } as const;
      const eventOf = () => ({
        id: newId(),
        name: waiting.name,
        payload: Buffer.from(waiting.payload),
      });
      const outputs = await Promise.all([
        store.edit('publish', { ...asked, events: [eventOf()] }),
        store.edit('publish', { ...asked, events: [eventOf()] }),
      ]);
      assert.deepEqual(outputs.map(({ kind }) => kind).toSorted(), ['accepted', 'taken']);
      assert.deepEqual(await all(), []);
      const filter = { ...none, name: waiting.name };
      const { items } = await store.read('deliveries', { appNo: app.no, page, filter });
      assert.deepEqual(
        items.map(({ subscription }) => subscription),
        [listener.id],
        '`*` does not hear it',
      );
    });

    describe('a receiver that has failed for five days', () => {
      it('is given up: its subscription is disabled, and what is published waits', async () => {
        await subscribed('ringback.subscription.*');
        const one = await subscribed('*');
        const { lane, failingMs } = await breakDown(one);
        clock.ms = failingMs + limits.disableAfterMs - 1;
        assert.deepEqual(await failNext(one), { kind: 'settled' }, 'a millisecond is missing');
        assert.deepEqual(await disable(lane), { kind: 'kept' });
        clock.ms = failingMs + limits.disableAfterMs + 60 * 60_000;
        assert.deepEqual(await failNext(one), { kind: 'overdue', appNo: app.no, lane });
        assert.deepEqual(await disable(lane), { kind: 'disabled', subscription: one.id });
        assert.deepEqual(await disable(lane), { kind: 'kept' });
        const { state, version } = await found(one);
        assert.equal(state, 'disabled');
        assert(version > one.version);
        assert.deepEqual(await claimed(await publish('a', one)), []);
        const [notice, ...others] = await notices();
        assert.deepEqual(others, []);
        const { message, ...facts } = notice?.payload ?? {};
        assert.match(String(message), /was disabled: its receiver https:\S+ has failed 12 times/);
        assert.deepEqual(facts, {
          subscriberId: `sub_${one.id}`,
          callbackUrl: 'https://receiver.example/0',
          reason: 'failing',
          failures: brokenAfter + 2,
          failingSince: new Date(failingMs).toISOString(),
          at: new Date(clock.ms).toISOString(),
        });
      });

      it('begins anew when it is enabled again', async () => {
        const one = await subscribed('*');
        const { lane, failingMs } = await breakDown(one);
        clock.ms = failingMs + limits.disableAfterMs;
        await failNext(one);
        assert.equal((await disable(lane)).kind, 'disabled');
        const waiting = await publish('a', one);
        await edit(one, { state: 'active' });
        assert.equal((await health(one)).state, 'ok');
        const [again] = await claimed(waiting);
        assert(again);
        assert.deepEqual(await fail(again), { kind: 'settled' });
        assert.equal((await health(one)).failures, 1);
      });

      it('says nothing of the one that takes its place', async () => {
        for (const controls of [{}, { ordered: true }, { ratePerSecond: 50 }]) {
          const one = await subscribedWith(controls, 'a', 'b');
          const { failingMs } = await breakDown(one);
          clock.ms = failingMs + limits.disableAfterMs - 1;
          await failNext(one);
          const waiting = await publish('a', one);
          const { url = '' } = one.callbacks[0] ?? {};
          await edit(one, { urls: [{ position: 0, url }] });
          assert.equal((await health(one)).state, 'open', 'the same address is no other receiver');
          assert.deepEqual(await claimed(waiting), []);
          clock.ms += 1_000;
          await edit(one, { urls: [{ position: 0, url: 'https://another.example/' }] });
          assert.equal((await health(one)).state, 'ok');
          const [first] = await claimed(waiting);
          assert(first, 'it does not wait for the breaker of the old one');
          assert.deepEqual(await fail(first), { kind: 'settled' });
          assert.equal((await health(one)).failures, 1);
        }
      });

      it('is not forgotten because another receiver has a new address', async () => {
        const one = await subscribed('a', 'b');
        const { lane, failingMs } = await breakDown(one, 'a');
        clock.ms = failingMs + limits.disableAfterMs;
        await edit(one, { urls: [{ position: 1, url: 'https://another.example/' }] });
        assert.deepEqual(await failNext(one, 'a'), { kind: 'overdue', appNo: app.no, lane });
      });

      it('that gets a new address while it is paused begins anew when it is resumed', async () => {
        const one = await subscribed('a');
        await breakDown(one);
        const waiting = await publish('a', one);
        await edit(one, { state: 'paused' });
        await edit(one, { urls: [{ position: 0, url: 'https://another.example/' }] });
        assert.deepEqual(await claimed(waiting), []);
        await edit(one, { state: 'active' });
        assert.equal((await claimed(waiting)).length, 1);
      });

      it('leaves nothing in lanes that drain to the one that takes its place', async () => {
        const one = await subscribed('a');
        const { failingMs } = await breakDown(one);
        const waiting = await publish('a', one);
        clock.ms = failingMs + limits.disableAfterMs;
        const chosen = { controls: { ...noControls, ordered: true }, headers: undefined };
        const urls = [{ position: 0, url: 'https://another.example/' }];
        await edit(one, { chosen, urls });
        const [first] = await claimed(waiting);
        assert(first);
        assert.deepEqual(await fail(first), { kind: 'settled' });
      });

      it('is kept while another receiver of the subscription is reached', async () => {
        const one = await subscribed('a', 'b');
        const { lane, failingMs } = await breakDown(one, 'a');
        clock.ms = failingMs + 2 * 24 * 60 * 60 * 1000;
        await settle(await born('b', one), 'delivered');
        await store.edit('keepFigures', { limit: 1_000 });
        clock.ms = failingMs + limits.disableAfterMs;
        assert.equal((await failNext(one, 'a')).kind, 'overdue');
        assert.deepEqual(await disable(lane), { kind: 'kept' });
        assert.equal((await found(one)).state, 'active');
        clock.ms += 60 * 60_000;
        assert.equal((await failNext(one, 'a')).kind, 'overdue', 'it is tried on');
      });

      it('is kept if another was reached when it began, though figures are coarse by now', async () => {
        const one = await subscribed('a', 'b');
        clock.ms = halfHourAfter(clock.ms) + 10 * 60_000;
        const { lane, failingMs } = await breakDown(one, 'a');
        clock.ms += 5 * 60_000;
        await settle(await born('b', one), 'delivered');
        await coarsen(failingMs + limits.disableAfterMs);
        assert.equal((await failNext(one, 'a')).kind, 'overdue');
        assert.deepEqual(await disable(lane), { kind: 'kept' });
      });

      it('is given up if only itself was reached, a moment before it began', async () => {
        const one = await subscribed('a', 'b');
        clock.ms = halfHourAfter(clock.ms) + 10 * 60_000;
        await breakDown(one, 'b');
        await settle(await born('a', one), 'delivered');
        clock.ms += 5 * 60_000;
        const { lane, failingMs } = await breakDown(one, 'a');
        await coarsen(failingMs + limits.disableAfterMs);
        await failNext(one, 'a');
        assert.equal((await disable(lane)).kind, 'disabled');
      });

      it('breeds nothing where it hears own events only', async () => {
        await subscribed('ringback.*');
        const one = await subscribed('ringback.delivery.dead');
        const { lane, failingMs } = await breakDown(one, 'ringback.delivery.dead');
        clock.ms = failingMs + limits.disableAfterMs;
        await failNext(one, 'ringback.delivery.dead');
        assert.equal((await disable(lane)).kind, 'disabled');
        assert.deepEqual(await notices(), []);
      });

      it('is nobody else’s: another app cannot disable it', async () => {
        const one = await subscribed('*');
        const { lane, failingMs } = await breakDown(one);
        clock.ms = failingMs + limits.disableAfterMs;
        await failNext(one);
        const other = await newApp(store);
        const output = await store.edit('disableFailing', { appNo: other.no, lane });
        assert.deepEqual(output, { kind: 'kept' });
      });
    });

    it('says how the receivers of a subscription do', async () => {
      const one = await subscribed('a', 'b');
      assert.deepEqual(await health(one), {
        state: 'ok',
        failures: 0,
        failingMs: undefined,
        nextAttemptMs: undefined,
      });
      const failingMs = clock.ms;
      const first = await born('a', one);
      const dueMs = clock.ms + 5_000;
      const held = { event: first.event, n: first.n, lease: first.lease };
      const outcome = { kind: 'retry', dueMs } as const;
      await store.settle({ ...held, outcome, attempt: attempt({ startedMs: clock.ms }) });
      const failing = { state: 'failing', failures: 1, failingMs, nextAttemptMs: dueMs };
      assert.deepEqual(await health(one), failing);
      await breakDown(one, 'b');
      const worst = await health(one);
      assert.deepEqual(
        [worst.state, worst.failures, worst.failingMs],
        ['open', brokenAfter, failingMs],
      );
      const other = await newApp(store);
      const foreign = await store.read('subscriptionHealth', { appNo: other.no, id: one.id });
      assert.equal(foreign.state, 'ok', 'nothing of another app');
    });

    async function subscribed(...patterns: string[]): Promise<Subscription> {
      return subscribedWith({}, ...patterns);
    }

    async function subscribedWith(
      controls: Partial<Controls>,
      ...patterns: string[]
    ): Promise<Subscription> {
      const callbacks = patterns.map((pattern, position) => callback(position, pattern));
      const chosen = { ...noControls, ...controls };
      const subscription = newSubscription(app, { callbacks, controls: chosen });
      const output = await store.edit('subscribe', { subscription, idempotency: undefined });
      assert(output.kind === 'created');
      return output.subscription;
    }

    async function edit(
      one: Subscription,
      changes: Partial<EditInput<'editSubscription'>>,
    ): Promise<void> {
      const { id, version } = await found(one);
      const nothing = { state: undefined, urls: [], secrets: undefined };
      const asked = { appNo: app.no, id, version, ...nothing, ...changes };
      assert.equal((await store.edit('editSubscription', asked)).kind, 'edited');
    }

    async function found({ id }: Subscription): Promise<Subscription> {
      const one = await store.read('subscription', { appNo: app.no, id });
      assert(one);
      return one;
    }

    async function health({ id }: Subscription) {
      return structuredClone(await store.read('subscriptionHealth', { appNo: app.no, id }));
    }

    function publishing(what: string, one: Subscription | undefined) {
      return {
        appNo: app.no,
        contract: 'Ringback',
        events: [{ id: newId(), name: what, payload: Buffer.from('{}') }],
        audience:
          one === undefined
            ? ({ kind: 'everyone' } as const)
            : ({
                kind: what === 'ringback.ping' ? 'all_callbacks' : 'subscription',
                id: one.id,
              } as const),
        idempotency: undefined,
      };
    }

    /** Gives the event's id. */
    async function publish(what: string, one: Subscription): Promise<string> {
      const output = await store.edit('publish', publishing(what, one));
      assert(output.kind === 'accepted' && output.events[0]?.deliveries === 1);
      return output.events[0].id;
    }

    /** What can be had of an event now. */
    async function claimed(event: string): Promise<Leased[]> {
      const worked = await dispatcher.claim({ room: 99 });
      return worked.claimed.filter((leased) => leased.event === event);
    }

    /** A delivery that is under way. */
    async function born(what: string, one?: Subscription): Promise<Leased> {
      const [first] = (await dispatcher.publish({ room: 1 }, publishing(what, one))).born;
      assert(first);
      return first;
    }

    async function settle(
      { event, n, lease }: Leased,
      kind: 'delivered' | 'gone',
    ): Promise<Settled> {
      const status = kind === 'gone' ? 410 : 200;
      const made = attempt({ startedMs: clock.ms, status, error: undefined });
      return store.settle({ event, n, lease, outcome: { kind }, attempt: made });
    }

    /** Its last attempt failed. */
    async function fail({ event, n, lease }: Leased): Promise<Settled> {
      const outcome = { kind: 'dead', reason: 'exhausted' } as const;
      const made = attempt({ startedMs: clock.ms, status: 500, error: 'status' });
      return store.settle({ event, n, lease, outcome, attempt: made });
    }

    /** So many failures in a row that the breaker opens. */
    async function breakDown(
      one: Subscription,
      what = 'a',
    ): Promise<{ lane: number; failingMs: number }> {
      const failingMs = clock.ms;
      let lane = 0;
      for (let count = 0; count < brokenAfter; count += 1) {
        const [leased] = await claimed(await publish(what, one));
        assert(leased);
        lane = leased.lane;
        assert.deepEqual(await fail(leased), { kind: 'settled' });
      }
      return { lane, failingMs };
    }

    /** A probe of a broken receiver. */
    async function failNext(one: Subscription, what = 'a'): Promise<Settled> {
      const [probe] = await claimed(await publish(what, one));
      assert(probe);
      return fail(probe);
    }

    /** Goes to a time at which figures are kept by the half hour. */
    async function coarsen(ms: number): Promise<void> {
      await store.edit('keepFigures', { limit: 1_000 });
      clock.ms = ms;
      const { figuresFineMs: subscriptionFineMs, figuresKeepMs: subscriptionKeepMs } = limits;
      const times = { appKeepMs: subscriptionKeepMs, subscriptionFineMs, subscriptionKeepMs };
      await store.edit('tidyFigures', { ...times, limit: 1_000 });
    }

    async function disable(lane: number) {
      return store.edit('disableFailing', { appNo: app.no, lane });
    }

    async function all() {
      const waiting = await store.read('notices', { writtenByMs: clock.ms, limit: 100 });
      return waiting.filter(({ appNo }) => appNo === app.no);
    }

    /** Takes what there is to tell in this app. */
    async function notices(): Promise<{ name: string; payload: Record<string, unknown> }[]> {
      const told = await all();
      for (const { no } of told) await leave(no);
      return told.map(({ name: what, payload }) => ({ name: what, payload: JSON.parse(payload) }));
    }

    async function leave(no: number): Promise<void> {
      const unheard = { ...publishing('x', undefined), contract: 'Nobody' };
      const output = await store.edit('publish', { ...unheard, notice: no });
      assert.equal(output.kind, 'accepted');
    }
  });
}

function halfHourAfter(ms: number): number {
  const halfHourMs = coarseMinutes * minuteMs;
  return (Math.floor(ms / halfHourMs) + 1) * halfHourMs;
}

const none = {
  state: undefined,
  event: undefined,
  subscription: undefined,
  name: undefined,
};
