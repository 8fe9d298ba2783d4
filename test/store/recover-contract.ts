// The contract of the Store port: fan-outs, leases of dead nodes, retries by hand, and sweeps. Every test has its own store,
// because a claim sees the lanes of all apps.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { callback, digest, newApp, type OpenSubject } from './subject.ts';
import { deliveryStage, nameOf } from './delivery-stage.ts';
import { newId } from './open-memory.ts';

export function recoverContract(name: string, open: OpenSubject): void {
  describe(`the delivery contract: ${name}`, () => {
    const {
      on,
      subscribed,
      crowd,
      unsubscribe,
      publishInput,
      publish,
      publishMany,
      startAgain,
      claim,
      leased,
      settle,
      retry,
      eventOf,
      deliveryOf,
      attemptsOf,
      deliveries,
      tally,
    } = deliveryStage(open);

    describe('fanOut', () => {
      it('reaches the subscriptions at the time of the publish, step by step', async () => {
        const subscriptions = await crowd();
        const targets = subscriptions.length * limits.callbacksPerSubscriptionMax;
        const output = await on.store.edit('publish', { ...publishInput(['a']), trace: 'a trace' });
        assert(output.kind === 'accepted');
        const [accepted] = output.events;
        assert(accepted);
        assert.equal(accepted.deliveries, undefined);
        assert.equal((await eventOf(accepted.id)).deliveries, undefined);
        assert.equal(on.dispatcher.nextWorks.at(-1)?.isFanningOut, true);
        await subscribed(); // Too late.
        const last = subscriptions.at(-1);
        assert(last);
        await unsubscribe(last); // Ends before the fan-out reaches it.

        const first = await on.dispatcher.fanOut({ room: 0 });
        assert.deepEqual(first.fannedOut, { deliveries: [], isMore: true });
        assert.deepEqual(await tally(), { due: limits.fanOutStepMin });
        const second = await on.dispatcher.fanOut({ room: 100 });
        assert.equal(second.fannedOut.isMore, true);
        const running = second.fannedOut.deliveries.length;
        assert.ok(running > limits.fanOutStepMin && running <= 100, `${running} are inserted`);
        while ((await on.dispatcher.fanOut({ room: 0 })).fannedOut.isMore);
        const [fresh] = second.fannedOut.deliveries;
        assert(fresh);
        assert.deepEqual(
          [fresh.event, fresh.eventName, Buffer.from(fresh.payload).toString(), fresh.trace],
          [accepted.id, 'a', '{"message":"hello"}', 'a trace'],
        );
        const made = targets - limits.callbacksPerSubscriptionMax;
        assert.equal((await eventOf(accepted.id)).deliveries, made);
        assert.deepEqual(await tally(), { due: made - running, running });
        assert.deepEqual(await settle(fresh, 'delivered'), { kind: 'settled' });
        const again = await on.dispatcher.fanOut({ room: 5 });
        assert.deepEqual(again.fannedOut, { deliveries: [], isMore: false });
      });

      it('respects the limit of a step, whatever the room', async () => {
        await crowd();
        await publish('a');
        const { fannedOut } = await on.dispatcher.fanOut({ room: 100, stepMax: 7 });
        assert.deepEqual([fannedOut.deliveries.length, fannedOut.isMore], [7, true]);
        assert.deepEqual(await tally(), { running: 7 });
      });

      it('avoids short steps with a large payload, because each step reads it', async () => {
        await crowd();
        const payload = new Uint8Array(limits.fanOutSharedBytesMax + 1).fill(0x20);
        payload.set([0x7b, 0x7d]);
        const input = publishInput(['a']);
        const events = input.events.map((event) => ({ ...event, payload }));
        await on.store.edit('publish', { ...input, events });
        const { fannedOut } = await on.dispatcher.fanOut({ room: 50, stepMax: 7 });
        assert.equal(fannedOut.deliveries.length, 50);
      });

      it('does not repeat a callback, and counts a retry in between', async () => {
        await crowd();
        const [accepted] = await publish('a');
        assert(accepted);
        const { fannedOut } = await on.dispatcher.fanOut({ room: 1 });
        const [fresh] = fannedOut.deliveries;
        assert(fresh);
        await settle(fresh, 'delivered');
        const retried = await on.store.edit('retryDelivery', {
          appNo: on.app.no,
          ...nameOf(fresh),
        });
        assert.deepEqual(retried, { kind: 'due', n: limits.fanOutStepMin, customer: undefined });
        while ((await on.dispatcher.fanOut({ room: 0 })).fannedOut.isMore);
        const { deliveries: count } = await eventOf(accepted.id);
        const { due = 0, delivered = 0 } = await tally();
        assert.equal(count, 5 * limits.callbacksPerSubscriptionMax + 1);
        assert.equal(due + delivered, count);
      });

      it('answers a repeated request while it is in progress', async () => {
        await crowd();
        const idempotency = { key: digest(newId()), print: digest('request') };
        const first = await on.store.edit('publish', publishInput(['a'], { idempotency }));
        assert(first.kind === 'accepted');
        const again = await on.store.edit('publish', publishInput(['a'], { idempotency }));
        assert.deepEqual(again, { kind: 'repeated', events: first.events });
      });
    });

    describe('startNode', () => {
      it('releases all leases at once, and old leases become invalid', async () => {
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

      it('releases nothing if there may be other nodes', async () => {
        await leased();
        const input = { name: 'here', role: 'all', version: '1.0.0', aloneHere: false } as const;
        assert.equal((await on.store.edit('startNode', input)).freed, 0);
        assert.deepEqual(await tally(), { running: 1 });
      });

      it('releases deliveries that were in flight when the process ended', async (t) => {
        if (on.subject.reopen === undefined) {
          t.skip('nothing outlives the close');
          return;
        }
        const one = await leased();
        const ended = await leased();
        await on.store.edit('unsubscribe', { appNo: on.app.no, id: ended.subscription });
        await on.reopen();
        assert.deepEqual(await tally(), { running: 2 });
        assert.equal((await startAgain()).freed, 2);
        const { claimed } = await claim();
        assert.deepEqual(
          claimed.map(({ event }) => event),
          [one.event],
        );
        assert.deepEqual(await on.store.edit('sweep', { limit: 9 }), {
          cancelled: 1,
          isMore: false,
        });
      });
    });

    describe('retryDelivery', () => {
      it('revives a dead delivery: the schedule restarts, the attempts count on', async () => {
        const one = await leased();
        await settle(one, 'dead');
        assert.deepEqual(await retry(one), { kind: 'due', n: 0, customer: undefined });
        const [again] = (await claim()).claimed;
        assert.deepEqual([again?.tries, again?.attempts], [0, 1]);
        assert(again);
        await settle(again, 'delivered');
        const ks = (await attemptsOf(one)).map(({ k }) => k);
        assert.deepEqual(ks, [1, 2]);
        assert.equal((await eventOf(one.event)).deliveries, 1);
        assert.deepEqual(await tally(), { delivered: 1 });
      });

      it('creates a new delivery for a delivered or cancelled one', async () => {
        for (const kind of ['delivered', 'cancelled'] as const) {
          const one = await leased();
          await settle(one, kind);
          assert.deepEqual(await retry(one), { kind: 'due', n: 1, customer: undefined });
          const [again] = (await claim()).claimed;
          assert.deepEqual(
            [again?.event, again?.n, again?.callback, again?.attempts],
            [one.event, 1, one.callback, 0],
          );
          assert.equal((await eventOf(one.event)).deliveries, 2);
          assert.equal((await deliveryOf(one)).state, kind);
        }
      });

      it('refuses a delivery that is pending, unknown, of an ended subscription or of another app', async () => {
        const one = await leased();
        assert.deepEqual(await retry(one), { kind: 'pending' });
        await settle(one, 'dead');
        const other = await newApp(on.store);
        for (const input of [
          { appNo: other.no, ...nameOf(one) },
          { appNo: on.app.no, event: one.event, n: 7 },
          { appNo: on.app.no, event: newId(), n: 0 },
        ]) {
          assert.deepEqual(await on.store.edit('retryDelivery', input), { kind: 'not_found' });
        }
        await on.store.edit('unsubscribe', { appNo: on.app.no, id: one.subscription });
        assert.deepEqual(await retry(one), { kind: 'ended' });
      });
    });

    describe('sweep', () => {
      it('cancels pending deliveries of ended subscriptions, a bounded number at a time', async () => {
        const one = await subscribed([callback(0, '*'), callback(1, 'a')]);
        const other = await subscribed();
        await publishMany(4);
        await unsubscribe(one);
        assert.deepEqual(await on.store.edit('sweep', { limit: 3 }), {
          cancelled: 3,
          isMore: true,
        });
        assert.deepEqual(await on.store.edit('sweep', { limit: 3 }), {
          cancelled: 3,
          isMore: true,
        });
        assert.deepEqual(await on.store.edit('sweep', { limit: 3 }), {
          cancelled: 2,
          isMore: false,
        });
        assert.deepEqual(await on.store.edit('sweep', { limit: 3 }), {
          cancelled: 0,
          isMore: false,
        });
        assert.deepEqual(await tally(), { due: 4, cancelled: 8 });
        const left = await deliveries({ state: 'due' });
        assert(left.every(({ subscription }) => subscription === other.id));
      });

      it('cancels deliveries that a dead node had in flight, although the lane was swept before', async () => {
        const { subscription: id } = await leased();
        await on.store.edit('unsubscribe', { appNo: on.app.no, id });
        // A cluster needs a second sweep to be sure.
        for (let i = 0; i < 3; i += 1) {
          assert.equal((await on.store.edit('sweep', { limit: 9 })).cancelled, 0);
        }
        assert.equal((await startAgain()).freed, 1);
        assert.equal((await on.store.edit('sweep', { limit: 9 })).cancelled, 1);
        assert.deepEqual(await tally(), { cancelled: 1 });
      });
    });
  });
}
