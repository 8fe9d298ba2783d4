// The contract of the Store port, second part: publish, claim, settle, fan out, look. Every test has a
// store of its own, because a claim sees the lanes of all apps.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { noControls } from '../../src/core/controls.ts';
import type { App } from '../../src/core/app.ts';
import type { DeliveryState, Leased } from '../../src/core/delivery.ts';
import { limits } from '../../src/core/limits.ts';
import type { Callback, Subscription } from '../../src/core/subscription.ts';
import type {
  Audience,
  Delivery,
  DeliveryFilter,
  Settlement,
} from '../../src/store/delivery-verbs.ts';
import type { EditInput, Idempotency, Store } from '../../src/store/store.ts';
import { VerbFailed } from '../../src/store/store.ts';
import type { OpenSubject, Subject } from './contract.ts';
import { attempt, callback, digest, inactive, newApp, newSubscription } from './contract.ts';
import { settlementOf } from './delivery-model.ts';
import { newId } from './open-memory.ts';
import type { TestDispatcher } from './test-dispatcher.ts';
import { attachDispatcher } from './test-dispatcher.ts';

const everyone: Audience = { kind: 'everyone' };
const page = { limit: 50, after: undefined };
const none: DeliveryFilter = {
  state: undefined,
  name: undefined,
  event: undefined,
  subscription: undefined,
};

export function deliveryContract(name: string, open: OpenSubject): void {
  describe(`the delivery contract: ${name}`, () => {
    const clock = { ms: 0 };
    let subject: Subject;
    let store: Store;
    let dispatcher: TestDispatcher;
    let app: App;
    beforeEach(async () => {
      clock.ms = 1_700_000_000_000;
      subject = await open({ nowMs: () => clock.ms });
      store = subject.store;
      dispatcher = attachDispatcher(store);
      app = await newApp(store);
    });
    afterEach(async () => {
      await subject.dispose();
    });

    describe('publish', () => {
      it('makes one delivery for every callback that hears the event', async () => {
        const heard = ['a.b.c', 'a.b.*', 'a.*', '*'];
        const deaf = ['a', 'a.b', 'a.b.c.*', 'b.*', 'A.b.c'];
        const all = [...heard, ...deaf].map((pattern, index) => callback(index, pattern));
        await subscribed([...all, inactive(all.length, '*')]);
        const [accepted] = await publish('a.b.c');
        assert(accepted);
        assert.equal(accepted.deliveries, heard.length);
        const made = await deliveries({ event: accepted.id });
        assert.deepEqual(
          made.map(({ n, callback: { position } }) => ({ n, position })),
          [3, 2, 1, 0].map((n) => ({ n, position: n })),
        );
        assert.deepEqual(await tally(), { due: 4 });
      });

      it('keeps the event, also when nobody hears it', async () => {
        const payload = Buffer.from([0, 255, 1, 254]);
        const [accepted] = await publish('a', { payload });
        assert.equal(accepted?.deliveries, 0);
        assert.deepEqual(structuredClone(await eventOf(accepted.id)), {
          id: accepted.id,
          appNo: app.no,
          name: 'a',
          payload: new Uint8Array(payload),
          createdMs: clock.ms,
          deliveries: 0,
          rejected: undefined,
        });
      });

      it('crosses neither apps nor contracts, and leaves out who has ended', async () => {
        await subscribed([callback(0, '*')], { app: await newApp(store) });
        await subscribed([callback(0, '*')], { contract: 'Another' });
        await unsubscribe(await subscribed([callback(0, '*')]));
        assert.equal((await publish('a'))[0]?.deliveries, 0);
      });

      it("does not give Ringback's own events to those who hear everything", async () => {
        await subscribed([callback(0, '*'), callback(1, 'ringback.*'), callback(2, 'ringback.x')]);
        assert.equal((await publish('ringback.x', { contract: '' }))[0]?.deliveries, 2);
        assert.equal((await publish('ringback.x'))[0]?.deliveries, 0, 'they are of no contract');
        assert.equal((await publish('ringbackx'))[0]?.deliveries, 1);
      });

      it('sees a subscription of the same batch, if it came before', async () => {
        const [, first, , second] = await Promise.all([
          store.edit('forget', { idempotencyBeforeMs: 0, limit: 1 }), // Goes alone; the rest gathers.
          publish('a'),
          subscribed(),
          publish('a'),
        ]);
        assert.equal(first[0]?.deliveries, 0);
        assert.equal(second[0]?.deliveries, 1);
      });

      it('keeps all events or none', async () => {
        await subscribed();
        const [first] = await publish('a');
        assert(first);
        const input = publishInput(['x', 'y']);
        const events = [...input.events, { id: first.id, name: 'z', payload: Buffer.from('1') }];
        await assert.rejects(store.edit('publish', { ...input, events }), VerbFailed);
        assert.deepEqual(await tally(), { due: 1 });
        assert.equal((await events_()).length, 1);
        const output = await store.edit('publish', input);
        assert(output.kind === 'accepted');
        assert.deepEqual(
          output.events,
          input.events.map(({ id }) => ({ id, deliveries: 1 })),
        );
      });

      it('fails a poisoned publish alone, and its neighbours go the slow way', async () => {
        await subscribed();
        const [first] = await publish('a');
        assert(first);
        const bad = { ...publishInput([]), events: [{ ...newEvent('b'), id: first.id }] };
        const results = await Promise.allSettled([
          store.edit('forget', { idempotencyBeforeMs: 0, limit: 1 }),
          dispatcher.publish({ room: 9 }, publishInput(['b'])),
          store.edit('publish', bad),
          store.edit('publish', publishInput(['c'])),
        ]);
        assert.deepEqual(
          results.map(({ status }) => status),
          ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
        );
        assert.deepEqual(await tally(), { due: 3 });
      });

      it('addresses one subscription: its callbacks that hear the event', async () => {
        await subscribed();
        const one = await subscribed([callback(0, 'a'), callback(1, '*'), callback(2, 'b')]);
        const audience = { kind: 'subscription', id: one.id } as const;
        const [accepted] = await publish('a', { audience });
        assert.equal(accepted?.deliveries, 2);
        const made = await deliveries({ event: accepted.id });
        assert(made.every(({ subscription }) => subscription === one.id));
      });

      it('addresses all callbacks of a subscription, whatever they hear', async () => {
        const one = await subscribed([callback(0, 'a'), inactive(1, 'x'), callback(2, 'b')]);
        const audience = { kind: 'all_callbacks', id: one.id } as const;
        assert.equal((await publish('ringback.ping', { audience }))[0]?.deliveries, 2);
      });

      it('keeps nothing for a subscription that is unknown, ended or of another app', async () => {
        const ended = await subscribed();
        await unsubscribe(ended);
        const foreign = await subscribed([callback(0, '*')], { app: await newApp(store) });
        for (const id of [newId(), ended.id, foreign.id]) {
          for (const kind of ['subscription', 'all_callbacks'] as const) {
            const input = { ...publishInput(['a']), audience: { kind, id } };
            assert.deepEqual(await store.edit('publish', input), { kind: 'not_found' });
          }
        }
        assert.equal((await events_()).length, 0);
      });

      it('keeps the trace with the event: born, claimed, and of one that has none', async () => {
        await subscribed();
        const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 vendor=x';
        const traced = { ...publishInput(['a', 'b']), trace };
        const { born } = await dispatcher.publish({ room: 1 }, traced);
        await publish('c');
        const { claimed } = await claim();
        assert.deepEqual(
          [...born, ...claimed].map((one) => [one.eventName, one.trace]),
          [
            ['a', trace],
            ['b', trace],
            ['c', undefined],
          ],
        );
      });

      it('waits in a subscription that is paused, until it is resumed', async () => {
        const one = await subscribed();
        const paused = await edit(one, 'paused');
        const { born } = await dispatcher.publish({ room: 9 }, publishInput(['a']));
        await publish('a', { audience: { kind: 'subscription', id: one.id } });
        assert.deepEqual(born, []);
        assert.deepEqual((await claim()).claimed, []);
        assert.equal(dispatcher.outlooks.at(-1)?.readyMs, undefined);
        await edit(paused, 'active');
        assert.equal(dispatcher.outlooks.at(-1)?.readyMs, clock.ms);
        assert.equal((await claim()).claimed.length, 2);
      });

      it('answers a repeated request with the first answer, and writes nothing', async () => {
        await subscribed();
        const idempotency = { key: digest(newId()), print: digest('request') };
        const first = await store.edit('publish', publishInput(['a', 'b'], { idempotency }));
        assert(first.kind === 'accepted');
        await subscribed();
        const again = await store.edit('publish', publishInput(['a', 'b'], { idempotency }));
        assert.deepEqual(again, { kind: 'repeated', events: first.events });
        const other = { ...idempotency, print: digest('another') };
        const mismatch = await store.edit('publish', publishInput(['a'], { idempotency: other }));
        assert.deepEqual(mismatch, { kind: 'mismatch' });
        assert.equal((await events_()).length, 2);
        assert.deepEqual(await tally(), { due: 2 });
      });

      it('answers a repeated request alike after the addressed subscription has ended', async () => {
        const one = await subscribed();
        const audience = { kind: 'subscription', id: one.id } as const;
        const idempotency = { key: digest(newId()), print: digest('request') };
        const input = publishInput(['a'], { audience, idempotency });
        const first = await store.edit('publish', input);
        assert(first.kind === 'accepted');
        await unsubscribe(one);
        assert.deepEqual(
          await store.edit('publish', publishInput(['a'], { audience, idempotency })),
          {
            kind: 'repeated',
            events: first.events,
          },
        );
        const fresh = { ...idempotency, key: digest(newId()) };
        const late = publishInput(['a'], { audience, idempotency: fresh });
        assert.deepEqual(await store.edit('publish', late), { kind: 'not_found' });
        const other = publishInput(['a'], { idempotency: { ...fresh, print: digest('other') } });
        assert.equal((await store.edit('publish', other)).kind, 'accepted', 'no key was kept');
      });
    });

    describe('a fresh delivery', () => {
      it('is taken straight from the publish, with its payload, before that is answered', async () => {
        await subscribed();
        const memory = Buffer.from('....{"x":1}....');
        const payload = memory.subarray(4, 11);
        const input = publishInput(['a.b'], { payload });
        const { output, born } = await dispatcher.publish({ room: 1 }, input);
        assert(output.kind === 'accepted');
        const [delivery] = born;
        assert(delivery !== undefined);
        const { event, eventName, n, tries, attempts } = delivery;
        assert.deepEqual(
          { event, eventName, n, tries, attempts, payload: String(delivery.payload) },
          {
            event: output.events[0]?.id,
            eventName: 'a.b',
            n: 0,
            tries: 0,
            attempts: 0,
            payload: '{"x":1}',
          },
        );
        assert.deepEqual(await tally(), { running: 1 });
        assert.deepEqual((await claim()).claimed, []);
        assert.deepEqual(await settle(delivery, 'delivered'), { kind: 'settled' });
        assert.deepEqual(await tally(), { delivered: 1 });
        assert.equal(Buffer.from((await eventOf(event)).payload).toString(), '{"x":1}');
      });

      it('is taken only as far as there is room, in all and in its lane', async () => {
        await subscribed([callback(0, '*'), callback(1, '*')]);
        const names = ['a', 'b', 'c', 'd'];
        const { born } = await dispatcher.publish({ room: 5, laneRoom: 3 }, publishInput(names));
        assert.equal(born.length, 5);
        const perLane = Map.groupBy(born, ({ lane }) => lane);
        const sizes = [...perLane.values()].map(({ length }) => length);
        assert.deepEqual(new Set(sizes), new Set([2, 3]));
        assert.deepEqual(await tally(), { due: 3, running: 5 });
        assert.equal(dispatcher.outlooks.at(-1)?.readyMs, clock.ms);
      });

      it('waits behind those that wait already', async () => {
        await subscribed();
        await publish('a');
        const { born } = await dispatcher.publish({ room: 9 }, publishInput(['b']));
        assert.deepEqual(born, []);
        const { claimed } = await claim();
        assert.deepEqual(
          claimed.map(({ eventName }) => eventName),
          ['a', 'b'],
        );
        // Now that nothing waits, the next one goes straight again.
        assert.equal((await dispatcher.publish({ room: 9 }, publishInput(['c']))).born.length, 1);
      });

      it('waits in a lane that is full, as the offer says', async () => {
        await subscribed();
        const [first] = (await dispatcher.publish({ room: 9 }, publishInput(['a']))).born;
        assert(first);
        const full: [number, number][] = [[first.lane, 0]];
        const second = await dispatcher.publish({ room: 9, free: full }, publishInput(['b']));
        assert.deepEqual(second.born, []);
        assert.equal(dispatcher.outlooks.at(-1)?.readyMs, undefined);
        const { claimed, readyMs } = await dispatcher.claim({ room: 9, free: full });
        assert.deepEqual([claimed, readyMs], [[], undefined]);
        assert.equal((await claim()).claimed.length, 1);
      });
    });

    describe('claim', () => {
      it('leases what is due, once, the oldest first, with all that sending needs', async () => {
        await subscribed();
        await publish('a', { payload: Buffer.from('1') });
        clock.ms += 1;
        await publish('b', { payload: Buffer.from('2') });
        const { claimed, readyMs } = await claim();
        assert.deepEqual(
          claimed.map(({ eventName, payload }) => [eventName, Buffer.from(payload).toString()]),
          [
            ['a', '1'],
            ['b', '2'],
          ],
        );
        assertNothingDue(readyMs);
        assert.deepEqual(await tally(), { running: 2 });
        assert.deepEqual((await claim()).claimed, []);
      });

      it('shares the room among the lanes, and goes on where it stopped', async () => {
        const count = 3;
        for (let i = 0; i < count; i += 1) await subscribed();
        await publishMany(20);
        const first = await dispatcher.claim({ room: 30, laneRoom: 99 });
        const perLane = Map.groupBy(first.claimed, ({ lane }) => lane);
        assert.deepEqual(
          [...perLane.values()].map(({ length }) => length),
          [10, 10, 10],
        );
        assert.equal(first.readyMs, clock.ms);
        const rest = await dispatcher.claim({ room: 99, laneRoom: 99 });
        assert.equal(rest.claimed.length, 30);
        assertNothingDue(rest.readyMs);
      });

      it('serves first who has waited longest', async () => {
        const [a, b] = [await subscribed([callback(0, 'a')]), await subscribed([callback(0, 'b')])];
        await publish('a');
        clock.ms += 10;
        await publish('b');
        await publish('a');
        clock.ms += 10;
        const order: string[] = [];
        for (let i = 0; i < 3; i += 1) {
          const { claimed } = await dispatcher.claim({ room: 1 });
          order.push(...claimed.map(({ eventName }) => eventName));
          clock.ms += 10;
        }
        assert.deepEqual(order, ['a', 'b', 'a']);
        assert.notEqual(a.id, b.id);
      });

      it('takes at most what a lane has free, and none of a full one', async () => {
        await subscribed();
        await publishMany(10);
        const first = await dispatcher.claim({ room: 99, laneRoom: 4 });
        assert.equal(first.claimed.length, 4);
        const lane = first.claimed[0]?.lane ?? 0;
        const second = await dispatcher.claim({ room: 99, free: [[lane, 1]] });
        assert.equal(second.claimed.length, 1);
        // The claim has filled the lane, so nothing is ready until a slot is free.
        assert.equal(second.readyMs, undefined);
      });
    });

    describe('settle', () => {
      it('delivered: ends it with its attempt', async () => {
        const one = await leased();
        clock.ms += 20;
        const record = attempt({
          status: 200,
          error: undefined,
          response: { headers: [['X-A', '1']], body: Buffer.from('....ok').subarray(4), cut: true },
          warning: 'undeclared',
        });
        await settle(one, 'delivered', { attempt: record });
        assert.deepEqual(await deliveryOf(one), {
          event: one.event,
          n: 0,
          eventName: 'a',
          subscription: one.subscription,
          callback: {
            position: 0,
            label: 'myEvent',
            method: 'post',
            url: 'https://receiver.example/0?event={eventType}',
          },
          state: 'delivered',
          attempts: 1,
          status: 200,
          error: undefined,
          dueMs: undefined,
          createdMs: clock.ms - 20,
          endedMs: clock.ms,
        });
        const { node: _, ...written } = record;
        assert.deepEqual(await attemptsOf(one), [structuredClone({ k: 1, ...written })]);
      });

      it('retry: waits until it is due, and counts the attempt', async () => {
        const one = await leased();
        const dueMs = clock.ms + 5_000;
        const failed = attempt({
          status: undefined,
          error: 'dns',
          message: 'no such host',
          response: undefined,
        });
        await settle(one, 'retry', { dueMs, attempt: failed });
        const waiting = await deliveryOf(one);
        assert.deepEqual(
          [waiting.state, waiting.dueMs, waiting.attempts, waiting.error, waiting.status],
          ['due', dueMs, 1, 'dns', undefined],
        );
        const early = await claim();
        assert.deepEqual([early.claimed, early.readyMs], [[], dueMs]);
        clock.ms = dueMs;
        const [again] = (await claim()).claimed;
        assert.deepEqual([again?.tries, again?.attempts], [1, 1]);
        const running = await deliveryOf(one);
        assert.deepEqual([running.state, running.dueMs], ['running', undefined]);
        const [first] = await attemptsOf(one);
        assert.deepEqual([first?.message, first?.response], ['no such host', undefined]);
      });

      it('released: waits again, with no attempt counted', async () => {
        const one = await leased();
        await settle(one, 'released', { dueMs: clock.ms + 100 });
        clock.ms += 100;
        const [again] = (await claim()).claimed;
        assert.deepEqual([again?.tries, again?.attempts], [0, 0]);
        assert.deepEqual(await attemptsOf(one), []);
      });

      it('dead: ends it and says why', async () => {
        const one = await leased();
        await settle(one, 'dead');
        const dead = await deliveryOf(one);
        assert.deepEqual([dead.state, dead.status, dead.error], ['dead', 500, 'status']);
        const other = await leased();
        await settle(other, 'dead', { attempt: undefined });
        assert.equal((await deliveryOf(other)).error, 'exhausted');
      });

      it('cancelled: ends it without an attempt', async () => {
        const one = await leased();
        await settle(one, 'cancelled');
        assert.deepEqual(await tally(), { cancelled: 1 });
        assert.deepEqual(await attemptsOf(one), []);
      });

      it('gone: ends the subscription with it, as if it had unsubscribed', async () => {
        const one = await leased([callback(0, 'a'), callback(1, '*')]);
        const gone = attempt({ status: 410, error: undefined });
        const settled = await settle(one, 'gone', { attempt: gone });
        assert(settled.kind === 'gone');
        assert.equal(settled.subscription, one.subscription);
        assert.equal(settled.lanes.length, 2);
        assert(settled.lanes.includes(one.lane));
        const ended = await store.read('subscription', { appNo: app.no, id: one.subscription });
        assert.deepEqual([ended?.state, ended?.endedMs], ['ended', clock.ms]);
        const { state, status, attempts } = await deliveryOf(one);
        assert.deepEqual([state, status, attempts], ['cancelled', 410, 1]);
        assert.equal((await publish('a'))[0]?.deliveries, 0);
        assert.deepEqual((await claim()).claimed, []);
        assert.deepEqual(await store.edit('sweep', { limit: 9 }), { cancelled: 1, isMore: false });
      });

      it('changes nothing with a lease that is not the present one', async () => {
        const one = await leased();
        for (const kind of [
          'delivered',
          'retry',
          'dead',
          'gone',
          'cancelled',
          'released',
        ] as const) {
          const late = { ...one, lease: one.lease + 1 };
          assert.deepEqual(await settle(late, kind), { kind: 'stale' });
        }
        assert.deepEqual(await tally(), { running: 1 });
        assert.deepEqual(await attemptsOf(one), []);
        await settle(one, 'delivered');
        assert.deepEqual(await settle(one, 'dead'), { kind: 'stale' });
        assert.deepEqual(await tally(), { delivered: 1 });
      });

      it('lets the first of two count that come in one batch', async () => {
        const [other, one] = [await leased(), await leased()];
        const settled = await Promise.all([
          settle(other, 'delivered'), // Goes alone; the others gather.
          settle(one, 'retry', { dueMs: clock.ms + 5 }),
          settle(one, 'delivered'),
        ]);
        assert.deepEqual(
          settled.map(({ kind }) => kind),
          ['settled', 'settled', 'stale'],
        );
        assert.deepEqual(await tally(), { due: 1, delivered: 1 });
      });

      it('cancels what would have to wait in a subscription that has ended', async () => {
        for (const kind of ['retry', 'released'] as const) {
          const one = await leased();
          await store.edit('unsubscribe', { appNo: app.no, id: one.subscription });
          await settle(one, kind, { dueMs: clock.ms + 5 });
          const { state, attempts } = await deliveryOf(one);
          assert.deepEqual([state, attempts], ['cancelled', kind === 'retry' ? 1 : 0]);
        }
      });

      it('lets a delivery that was under way end as delivered after an unsubscribe', async () => {
        const one = await leased();
        await store.edit('unsubscribe', { appNo: app.no, id: one.subscription });
        await settle(one, 'delivered');
        assert.deepEqual(await tally(), { delivered: 1 });
      });

      it('gives a lane that fails again and again one delivery at a time, then all of them', async () => {
        await subscribed();
        await publishMany(30);
        const { claimed } = await dispatcher.claim({ room: 12, laneRoom: 99 });
        await Promise.all(
          claimed.map(async (one) =>
            settle(one, 'retry', { dueMs: clock.ms, attempt: attempt({ startedMs: clock.ms }) }),
          ),
        );
        const broken = await claim();
        assert.deepEqual([broken.claimed, broken.readyMs], [[], clock.ms + 30_000]);
        clock.ms += 30_000;
        const probe = await dispatcher.claim({ room: 99, laneRoom: 99 });
        assert.equal(probe.claimed.length, 1);
        const [first] = probe.claimed;
        assert(first);
        await settle(first, 'delivered');
        assert.equal((await dispatcher.claim({ room: 99, laneRoom: 99 })).claimed.length, 29);
      });
    });

    describe('fanOut', () => {
      it('reaches who listened when the event was accepted, step by step', async () => {
        const subscriptions = await crowd();
        const targets = subscriptions.length * limits.callbacksPerSubscriptionMax;
        const output = await store.edit('publish', { ...publishInput(['a']), trace: 'a trace' });
        assert(output.kind === 'accepted');
        const [accepted] = output.events;
        assert(accepted);
        assert.equal(accepted.deliveries, undefined);
        assert.equal((await eventOf(accepted.id)).deliveries, undefined);
        assert.equal(dispatcher.outlooks.at(-1)?.isFanningOut, true);
        await subscribed(); // Too late.
        const last = subscriptions.at(-1);
        assert(last);
        await unsubscribe(last); // Ends before its turn.

        const first = await dispatcher.fanOut({ room: 0 });
        assert.deepEqual(first.fannedOut, { deliveries: [], isMore: true });
        const skipped = limits.callbacksPerSubscriptionMax;
        assert.deepEqual(await tally(), { due: limits.fanOutStepMax - skipped });
        const second = await dispatcher.fanOut({ room: 5 });
        assert.equal(second.fannedOut.isMore, false);
        assert.equal(second.fannedOut.deliveries.length, 5);
        const [born] = second.fannedOut.deliveries;
        assert(born);
        assert.deepEqual(
          [born.event, born.eventName, Buffer.from(born.payload).toString(), born.trace],
          [accepted.id, 'a', '{"message":"hello"}', 'a trace'],
        );
        const made = targets - skipped;
        assert.equal((await eventOf(accepted.id)).deliveries, made);
        assert.deepEqual(await tally(), { due: made - 5, running: 5 });
        assert.deepEqual(await settle(born, 'delivered'), { kind: 'settled' });
        const again = await dispatcher.fanOut({ room: 5 });
        assert.deepEqual(again.fannedOut, { deliveries: [], isMore: false });
      });

      it('takes no callback twice, and counts a retry that came in between', async () => {
        await crowd();
        const [accepted] = await publish('a');
        assert(accepted);
        const { fannedOut } = await dispatcher.fanOut({ room: 1 });
        const [born] = fannedOut.deliveries;
        assert(born);
        await settle(born, 'delivered');
        const retried = await store.edit('retryDelivery', { appNo: app.no, ...nameOf(born) });
        assert.deepEqual(retried, { kind: 'due', n: limits.fanOutStepMax });
        while ((await dispatcher.fanOut({ room: 0 })).fannedOut.isMore);
        const { deliveries: count } = await eventOf(accepted.id);
        const { due = 0, delivered = 0 } = await tally();
        assert.equal(count, 5 * limits.callbacksPerSubscriptionMax + 1);
        assert.equal(due + delivered, count);
      });

      it('answers a repeated request while it goes on', async () => {
        await crowd();
        const idempotency = { key: digest(newId()), print: digest('request') };
        const first = await store.edit('publish', publishInput(['a'], { idempotency }));
        assert(first.kind === 'accepted');
        const again = await store.edit('publish', publishInput(['a'], { idempotency }));
        assert.deepEqual(again, { kind: 'repeated', events: first.events });
      });
    });

    describe('startNode', () => {
      it('frees all leases at once, and the old ones are worth nothing', async () => {
        const one = await leased();
        const first = await startAgain();
        assert.equal(first.freed, 1);
        const second = await startAgain();
        assert(second.node > first.node);
        assert.equal(second.freed, 0);
        assert.deepEqual(await settle(one, 'delivered'), { kind: 'stale' });
        const [again] = (await claim()).claimed;
        assert.deepEqual([again?.event, again?.attempts], [one.event, 0]);
      });

      it('frees nothing where other nodes may live', async () => {
        await leased();
        const input = { name: 'here', role: 'all', version: '1.0.0', aloneHere: false } as const;
        assert.equal((await store.edit('startNode', input)).freed, 0);
        assert.deepEqual(await tally(), { running: 1 });
      });

      it('frees what was under way when the process ended', async (t) => {
        if (subject.reopen === undefined) {
          t.skip('nothing outlives the close');
          return;
        }
        const one = await leased();
        const ended = await leased();
        await store.edit('unsubscribe', { appNo: app.no, id: ended.subscription });
        store = await subject.reopen();
        dispatcher = attachDispatcher(store);
        assert.deepEqual(await tally(), { running: 2 });
        assert.equal((await startAgain()).freed, 2);
        const { claimed } = await claim();
        assert.deepEqual(
          claimed.map(({ event }) => event),
          [one.event],
        );
        assert.deepEqual(await store.edit('sweep', { limit: 9 }), { cancelled: 1, isMore: false });
      });
    });

    describe('retryDelivery', () => {
      it('lets a dead one go on: the schedule anew, the attempts counted on', async () => {
        const one = await leased();
        await settle(one, 'dead');
        assert.deepEqual(await retry(one), { kind: 'due', n: 0 });
        const [again] = (await claim()).claimed;
        assert.deepEqual([again?.tries, again?.attempts], [0, 1]);
        assert(again);
        await settle(again, 'delivered');
        const ks = (await attemptsOf(one)).map(({ k }) => k);
        assert.deepEqual(ks, [1, 2]);
        assert.equal((await eventOf(one.event)).deliveries, 1);
        assert.deepEqual(await tally(), { delivered: 1 });
      });

      it('makes a successor for one that was delivered or cancelled', async () => {
        for (const kind of ['delivered', 'cancelled'] as const) {
          const one = await leased();
          await settle(one, kind);
          assert.deepEqual(await retry(one), { kind: 'due', n: 1 });
          const [again] = (await claim()).claimed;
          assert.deepEqual(
            [again?.event, again?.n, again?.callback, again?.attempts],
            [one.event, 1, one.callback, 0],
          );
          assert.equal((await eventOf(one.event)).deliveries, 2);
          assert.equal((await deliveryOf(one)).state, kind);
        }
      });

      it('refuses what is pending, ended, unknown or of another app', async () => {
        const one = await leased();
        assert.deepEqual(await retry(one), { kind: 'pending' });
        await settle(one, 'dead');
        const other = await newApp(store);
        for (const input of [
          { appNo: other.no, ...nameOf(one) },
          { appNo: app.no, event: one.event, n: 7 },
          { appNo: app.no, event: newId(), n: 0 },
        ]) {
          assert.deepEqual(await store.edit('retryDelivery', input), { kind: 'not_found' });
        }
        await store.edit('unsubscribe', { appNo: app.no, id: one.subscription });
        assert.deepEqual(await retry(one), { kind: 'ended' });
      });
    });

    describe('sweep', () => {
      it('cancels what waits in ended subscriptions, a bounded number at a time', async () => {
        const one = await subscribed([callback(0, '*'), callback(1, 'a')]);
        const other = await subscribed();
        await publishMany(4);
        await unsubscribe(one);
        assert.deepEqual(await store.edit('sweep', { limit: 3 }), { cancelled: 3, isMore: true });
        assert.deepEqual(await store.edit('sweep', { limit: 3 }), { cancelled: 3, isMore: true });
        assert.deepEqual(await store.edit('sweep', { limit: 3 }), { cancelled: 2, isMore: false });
        assert.deepEqual(await store.edit('sweep', { limit: 3 }), { cancelled: 0, isMore: false });
        assert.deepEqual(await tally(), { due: 4, cancelled: 8 });
        const left = await deliveries({ state: 'due' });
        assert(left.every(({ subscription }) => subscription === other.id));
      });

      it('cancels what a node that died had under way, though the lane was swept before', async () => {
        const { subscription: id } = await leased();
        await store.edit('unsubscribe', { appNo: app.no, id });
        // A cluster is sure only at the second.
        for (let i = 0; i < 3; i += 1) {
          assert.equal((await store.edit('sweep', { limit: 9 })).cancelled, 0);
        }
        assert.equal((await startAgain()).freed, 1);
        assert.equal((await store.edit('sweep', { limit: 9 })).cancelled, 1);
        assert.deepEqual(await tally(), { cancelled: 1 });
      });
    });

    describe('targets', () => {
      it('says what sending needs to know, and leaves out the unknown', async () => {
        const one = await leased();
        const [target, ...others] = await store.read('targets', {
          callbacks: [one.callback, 999_999],
        });
        assert.deepEqual(others, []);
        assert.deepEqual(structuredClone(target), {
          callback: one.callback,
          lane: one.lane,
          version: one.version,
          isActive: true,
          subscription: one.subscription,
          appNo: app.no,
          appId: app.id,
          contract: 'Ringback',
          operation: 'subscribe',
          definition: 'subscribe/myEvent/0',
          method: 'post',
          url: 'https://receiver.example/0?event={eventType}',
          secrets: new Uint8Array(digest('secrets')),
          controls: noControls,
          headers: undefined,
        });
      });

      it('is active while it is paused, and not any more when it has ended', async () => {
        const one = await leased();
        const isActive = async () =>
          (await store.read('targets', { callbacks: [one.callback] }))[0]?.isActive;
        const found = await store.read('subscription', { appNo: app.no, id: one.subscription });
        assert(found);
        await edit(found, 'paused');
        assert.equal(await isActive(), true);
        await unsubscribe(found);
        assert.equal(await isActive(), false);
      });
    });

    describe('events', () => {
      it('lists newest first, page by page, by name and without', async () => {
        const made: string[] = [];
        for (const what of ['a', 'b', 'a', 'a', 'b']) made.push((await publish(what))[0]?.id ?? '');
        await publish('a', { app: await newApp(store) });
        assert.deepEqual(await events_(), made.toReversed());
        assert.deepEqual(await events_('b'), [made[4], made[1]]);
        assert.deepEqual(await events_('c'), []);
        assert.deepEqual(await pagesOf('a', 2), [[made[3], made[2]], [made[0]]]);
        assert.deepEqual(await pagesOf(undefined, 2), [
          [made[4], made[3]],
          [made[2], made[1]],
          [made[0]],
        ]);
      });

      it('gives undefined for an unknown one, and for one of another app', async () => {
        const [accepted] = await publish('a');
        assert(accepted);
        const other = await newApp(store);
        assert.equal(await store.read('event', { appNo: app.no, id: newId() }), undefined);
        assert.equal(await store.read('event', { appNo: other.no, id: accepted.id }), undefined);
      });

      it('ends a page early when its payloads are large', async () => {
        const payload = Buffer.alloc(limits.pageBytesMax / 2);
        for (let i = 0; i < 3; i += 1) await publish('a', { payload });
        const sizes = (await pagesOf(undefined, 50)).map(({ length }) => length);
        assert.deepEqual(sizes, [2, 1]);
      });
    });

    describe('deliveries', () => {
      it('lists newest first, from the queue and the history together', async () => {
        const { names } = await mixed();
        assert.deepEqual((await deliveries()).map(key), names);
        for (const limit of [1, 2, 3]) {
          assert.deepEqual((await allPages(none, limit)).map(key), names);
        }
      });

      it('filters by state, name, event and subscription, and by several at once', async () => {
        const { all, subscriptions } = await mixed();
        const states: DeliveryState[] = ['due', 'running', 'delivered', 'dead', 'cancelled'];
        const byState: Partial<DeliveryFilter>[] = [{}, ...states.map((state) => ({ state }))];
        const filters = byState.flatMap((filter) => [
          filter,
          ...['a', 'b'].map((what) => ({ ...filter, name: what })),
          ...all.slice(0, 2).map(({ event }) => ({ ...filter, event })),
          ...subscriptions.map(({ id }) => ({ ...filter, subscription: id })),
        ]);
        for (const filter of filters) {
          const expected = all.filter(
            (one) =>
              (filter.state ?? one.state) === one.state &&
              (filter.name ?? one.eventName) === one.eventName &&
              (filter.event ?? one.event) === one.event &&
              (filter.subscription ?? one.subscription) === one.subscription,
          );
          const found = await allPages({ ...none, ...filter }, 2);
          assert.deepEqual(found, expected, JSON.stringify(filter));
        }
      });

      it('shows an app nothing of another', async () => {
        const { all, subscriptions } = await mixed();
        const [one] = all;
        assert(one);
        const other = await newApp(store);
        for (const filter of [
          {},
          { state: 'due' },
          { state: 'running' },
          { state: 'dead' },
          { event: one.event },
          { subscription: subscriptions[0]?.id },
        ] as const) {
          const input = { appNo: other.no, page, filter: { ...none, ...filter } };
          assert.deepEqual(await store.read('deliveries', input), { items: [], next: undefined });
        }
        const name_ = { appNo: other.no, ...nameOf(one) };
        assert.equal(await store.read('delivery', name_), undefined);
        assert.deepEqual(await store.read('attempts', name_), []);
        assert.equal(
          await store.read('delivery', { appNo: app.no, event: newId(), n: 0 }),
          undefined,
        );
      });

      it('fails on a cursor that it never gave', async () => {
        for (const after of ['', '5', 'x_y_z']) {
          const input = { appNo: app.no, page: { limit: 5, after }, filter: none };
          await assert.rejects(store.read('deliveries', input), VerbFailed);
        }
      });
    });

    /** Deliveries in every state, of two events and two subscriptions. */
    async function mixed() {
      const subscriptions = [
        await subscribed([callback(0, '*'), callback(1, 'a')]),
        await subscribed([callback(0, '*')]),
      ];
      const first = (await dispatcher.publish({ room: 9 }, publishInput(['a']))).born;
      const second = (await dispatcher.publish({ room: 9 }, publishInput(['b']))).born;
      for (const [index, kind] of (['delivered', 'dead', 'cancelled'] as const).entries()) {
        const one = first[index];
        assert(one);
        await settle(one, kind);
      }
      const [retried] = second;
      assert(retried);
      await settle(retried, 'retry', { dueMs: clock.ms + 1 });
      const all = await allPages(none, 50);
      assert.deepEqual(new Set(all.map(({ state }) => state)).size, 5);
      const names = [...second.map(key).toReversed(), ...first.map(key).toReversed()];
      return { all, names, subscriptions };
    }

    async function subscribed(
      callbacks: readonly Callback[] = [callback(0, '*')],
      { app: owner = app, contract = 'Ringback' }: { app?: App; contract?: string } = {},
    ): Promise<Subscription> {
      const subscription = newSubscription(owner, { callbacks, contract });
      const output = await store.edit('subscribe', { subscription, idempotency: undefined });
      assert(output.kind === 'created');
      return output.subscription;
    }

    /** More listeners than can be served at once. */
    async function crowd(): Promise<Subscription[]> {
      const made: Subscription[] = [];
      for (let i = 0; i < 5; i += 1) {
        const { callbacksPerSubscriptionMax: length } = limits;
        const pattern = i % 2 === 0 ? 'a' : '*';
        made.push(await subscribed(Array.from({ length }, (_, at) => callback(at, pattern))));
      }
      return made;
    }

    async function unsubscribe({ id }: Subscription): Promise<void> {
      await store.edit('unsubscribe', { appNo: app.no, id });
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

    interface Options {
      app?: App;
      contract?: string;
      payload?: Uint8Array;
      audience?: Audience;
      idempotency?: Idempotency;
    }

    function publishInput(names: readonly string[], options: Options = {}): EditInput<'publish'> {
      const { app: owner = app, contract = 'Ringback', ...rest } = options;
      const { payload, audience = everyone, idempotency } = rest;
      return {
        appNo: owner.no,
        contract,
        events: names.map((one) => newEvent(one, payload)),
        audience,
        idempotency,
      };
    }

    async function publish(what: string, options: Options = {}) {
      const output = await store.edit('publish', publishInput([what], options));
      assert(output.kind === 'accepted');
      return output.events;
    }

    async function publishMany(count: number): Promise<void> {
      const names = Array.from({ length: count }, () => 'a');
      await store.edit('publish', publishInput(names));
    }

    /** A cluster cannot tell at once that nothing is left: it looks again, later and later. */
    function assertNothingDue(readyMs: number | undefined): void {
      if (store.isShared && readyMs !== undefined) assert(readyMs > clock.ms);
      else assert.equal(readyMs, undefined);
    }

    /** Where nobody else can be there a start frees everything; otherwise a rescue must. */
    async function startAgain(): Promise<{ node: number; freed: number }> {
      const input = { name: 'here', role: 'all', version: '1.0.0' } as const;
      const started = await store.edit('startNode', { ...input, aloneHere: !store.isShared });
      if (!store.isShared) return started;
      const { freed } = await store.edit('rescue', { silentMs: 1_000 });
      return { ...started, freed };
    }

    async function claim() {
      return dispatcher.claim({ room: 99 });
    }

    /** A delivery under way, of a subscription of its own. */
    async function leased(
      callbacks = [callback(0, 'a')],
    ): Promise<Leased & { subscription: string }> {
      const { id } = await subscribed(callbacks);
      const input = publishInput(['a'], { audience: { kind: 'subscription', id } });
      const [one] = (await dispatcher.publish({ room: 1 }, input)).born;
      assert(one);
      return { ...one, subscription: id };
    }

    async function settle(
      one: Pick<Leased, 'event' | 'n' | 'lease'>,
      kind: Settlement['outcome']['kind'],
      { dueMs = clock.ms, ...changes }: { dueMs?: number; attempt?: Settlement['attempt'] } = {},
    ) {
      const settlement = settlementOf(one, kind, dueMs);
      return store.settle('attempt' in changes ? { ...settlement, ...changes } : settlement);
    }

    async function retry(one: Leased) {
      return store.edit('retryDelivery', { appNo: app.no, ...nameOf(one) });
    }

    async function eventOf(id: string) {
      const event = await store.read('event', { appNo: app.no, id });
      assert(event !== undefined);
      return event;
    }

    async function events_(what?: string): Promise<string[]> {
      return (await pagesOf(what, 50)).flat();
    }

    async function pagesOf(what: string | undefined, limit: number): Promise<string[][]> {
      const pages: string[][] = [];
      let after: string | undefined;
      do {
        const input = { appNo: app.no, page: { limit, after }, name: what };
        const { items, next } = await store.read('events', input);
        if (items.length > 0) pages.push(items.map(({ id }) => id));
        after = next;
      } while (after !== undefined);
      return pages;
    }

    async function deliveryOf(one: Pick<Leased, 'event' | 'n'>): Promise<Delivery> {
      const found = await store.read('delivery', { appNo: app.no, ...nameOf(one) });
      assert(found !== undefined);
      return structuredClone(found);
    }

    async function attemptsOf(one: Pick<Leased, 'event' | 'n'>) {
      return structuredClone(await store.read('attempts', { appNo: app.no, ...nameOf(one) }));
    }

    async function deliveries(filter: Partial<DeliveryFilter> = {}): Promise<Delivery[]> {
      return allPages({ ...none, ...filter }, 50);
    }

    async function allPages(filter: DeliveryFilter, limit: number): Promise<Delivery[]> {
      const all: Delivery[] = [];
      let after: string | undefined;
      do {
        const input = { appNo: app.no, page: { limit, after }, filter };
        const { items, next } = await store.read('deliveries', input);
        assert(items.length <= limit);
        all.push(...items);
        after = next;
      } while (after !== undefined);
      return all;
    }

    /** States that have any. */
    async function tally(): Promise<Partial<Record<DeliveryState, number>>> {
      const counts = Object.entries(await store.read('tally', {}));
      return Object.fromEntries(counts.filter(([, count]) => count > 0));
    }
  });
}

function newEvent(name: string, payload: Uint8Array = Buffer.from('{"message":"hello"}')) {
  return { id: newId(), name, payload };
}

function nameOf({ event, n }: { event: string; n: number }): { event: string; n: number } {
  return { event, n };
}

function key({ event, n }: { event: string; n: number }): string {
  return `${event} ${n}`;
}
