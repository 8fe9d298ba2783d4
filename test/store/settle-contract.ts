// The contract of the Store port: claims and settlements. Every test has its own store, because a claim sees the lanes of
// all apps.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { attempt, callback, type OpenSubject } from './subject.ts';
import { deliveryStage } from './delivery-stage.ts';

export function settleContract(name: string, open: OpenSubject): void {
  describe(`the delivery contract: ${name}`, () => {
    const {
      on,
      clock,
      subscribed,
      publish,
      publishMany,
      assertNothingDue,
      claim,
      leased,
      settle,
      deliveryOf,
      attemptsOf,
      tally,
    } = deliveryStage(open);

    describe('claim', () => {
      it('leases due deliveries once, oldest first, with everything that a send needs', async () => {
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

      it('shares the room among the lanes, and continues where it stopped', async () => {
        const count = 3;
        for (let i = 0; i < count; i += 1) await subscribed();
        await publishMany(20);
        const first = await on.dispatcher.claim({ room: 30, laneRoom: 99 });
        const perLane = Map.groupBy(first.claimed, ({ lane }) => lane);
        assert.deepEqual(
          [...perLane.values()].map(({ length }) => length),
          [10, 10, 10],
        );
        assert.equal(first.readyMs, clock.ms);
        const rest = await on.dispatcher.claim({ room: 99, laneRoom: 99 });
        assert.equal(rest.claimed.length, 30);
        assertNothingDue(rest.readyMs);
      });

      it('starts with the lane that has waited longest', async () => {
        const [a, b] = [await subscribed([callback(0, 'a')]), await subscribed([callback(0, 'b')])];
        await publish('a');
        clock.ms += 10;
        await publish('b');
        await publish('a');
        clock.ms += 10;
        const order: string[] = [];
        for (let i = 0; i < 3; i += 1) {
          const { claimed } = await on.dispatcher.claim({ room: 1 });
          order.push(...claimed.map(({ eventName }) => eventName));
          clock.ms += 10;
        }
        assert.deepEqual(order, ['a', 'b', 'a']);
        assert.notEqual(a.id, b.id);
      });

      it('respects the free slots of a lane, and skips full ones', async () => {
        await subscribed();
        await publishMany(10);
        const first = await on.dispatcher.claim({ room: 99, laneRoom: 4 });
        assert.equal(first.claimed.length, 4);
        const lane = first.claimed[0]?.lane ?? 0;
        const second = await on.dispatcher.claim({ room: 99, free: [[lane, 1]] });
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
          subject: undefined,
          subscription: one.subscription,
          customer: undefined,
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

      it('retry: stays pending until it is due, and counts the attempt', async () => {
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

      it('released: is pending again, and counts no attempt', async () => {
        const one = await leased();
        await settle(one, 'released', { dueMs: clock.ms + 100 });
        clock.ms += 100;
        const [again] = (await claim()).claimed;
        assert.deepEqual([again?.tries, again?.attempts], [0, 0]);
        assert.deepEqual(await attemptsOf(one), []);
      });

      it('dead: ends it with the reason', async () => {
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

      it('gone: ends the subscription, too, like an unsubscribe', async () => {
        const one = await leased([callback(0, 'a'), callback(1, '*')]);
        const gone = attempt({ status: 410, error: undefined });
        const settled = await settle(one, 'gone', { attempt: gone });
        assert(settled.kind === 'gone');
        assert.equal(settled.subscription, one.subscription);
        assert.equal(settled.lanes.length, 2);
        assert(settled.lanes.includes(one.lane));
        const ended = await on.store.read('subscription', {
          appNo: on.app.no,
          id: one.subscription,
        });
        assert.deepEqual([ended?.state, ended?.endedMs], ['ended', clock.ms]);
        const { state, status, attempts } = await deliveryOf(one);
        assert.deepEqual([state, status, attempts], ['cancelled', 410, 1]);
        assert.equal((await publish('a'))[0]?.deliveries, 0);
        assert.deepEqual((await claim()).claimed, []);
        assert.deepEqual(await on.store.edit('sweep', { limit: 9 }), {
          cancelled: 1,
          isMore: false,
        });
      });

      it('changes nothing with an outdated lease', async () => {
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

      it('uses the first of two outcomes in one batch', async () => {
        const [other, one] = [await leased(), await leased()];
        const settled = await Promise.all([
          settle(other, 'delivered'), // Sent alone; the others are batched.
          settle(one, 'retry', { dueMs: clock.ms + 5 }),
          settle(one, 'delivered'),
        ]);
        assert.deepEqual(
          settled.map(({ kind }) => kind),
          ['settled', 'settled', 'stale'],
        );
        assert.deepEqual(await tally(), { due: 1, delivered: 1 });
      });

      it('cancels a delivery that would be pending in an ended subscription', async () => {
        for (const kind of ['retry', 'released'] as const) {
          const one = await leased();
          await on.store.edit('unsubscribe', { appNo: on.app.no, id: one.subscription });
          await settle(one, kind, { dueMs: clock.ms + 5 });
          const { state, attempts } = await deliveryOf(one);
          assert.deepEqual([state, attempts], ['cancelled', kind === 'retry' ? 1 : 0]);
        }
      });

      it('accepts success of a delivery in flight after an unsubscribe', async () => {
        const one = await leased();
        await on.store.edit('unsubscribe', { appNo: on.app.no, id: one.subscription });
        await settle(one, 'delivered');
        assert.deepEqual(await tally(), { delivered: 1 });
      });

      it('leases only probes of a lane that keeps failing, and everything after a success', async () => {
        await subscribed();
        await publishMany(30);
        const { claimed } = await on.dispatcher.claim({ room: 12, laneRoom: 99 });
        await Promise.all(
          claimed.map(async (one) =>
            settle(one, 'retry', { dueMs: clock.ms, attempt: attempt({ startedMs: clock.ms }) }),
          ),
        );
        const broken = await claim();
        assert.deepEqual([broken.claimed, broken.readyMs], [[], clock.ms + 30_000]);
        clock.ms += 30_000;
        const probe = await on.dispatcher.claim({ room: 99, laneRoom: 99 });
        assert.equal(probe.claimed.length, 1);
        const [first] = probe.claimed;
        assert(first);
        await settle(first, 'delivered');
        assert.equal((await on.dispatcher.claim({ room: 99, laneRoom: 99 })).claimed.length, 29);
      });
    });
  });
}
