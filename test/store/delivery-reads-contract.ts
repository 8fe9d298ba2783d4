// The contract of the Store port: reads of events and deliveries. Every test has its own store, because a claim sees the
// lanes of all apps.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import type { DeliveryState } from '../../src/core/domain/delivery.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { DeliveryFilter } from '../../src/store/port/delivery-verbs.ts';
import { VerbFailed } from '../../src/store/port/store.ts';
import { callback, digest, newApp, type OpenSubject } from './subject.ts';
import { deliveryStage, key, nameOf, none, page } from './delivery-stage.ts';
import { newId } from './open-memory.ts';

export function deliveryReadsContract(name: string, open: OpenSubject): void {
  describe(`the delivery contract: ${name}`, () => {
    const {
      on,
      clock,
      subscribed,
      settle,
      publishInput,
      unsubscribe,
      edit,
      publish,
      leased,
      events_,
      pagesOf,
      deliveries,
      allPages,
    } = deliveryStage(open);

    describe('targets', () => {
      it('returns what a send needs, and omits unknown callbacks', async () => {
        const one = await leased();
        const [target, ...others] = await on.store.read('targets', {
          callbacks: [one.callback, 999_999],
        });
        assert.deepEqual(others, []);
        assert.deepEqual(structuredClone(target), {
          callback: one.callback,
          lane: one.lane,
          version: one.version,
          isActive: true,
          subscription: one.subscription,
          appNo: on.app.no,
          appId: on.app.id,
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

      it('is active while paused, and inactive after the end', async () => {
        const one = await leased();
        const isActive = async () =>
          (await on.store.read('targets', { callbacks: [one.callback] }))[0]?.isActive;
        const found = await on.store.read('subscription', {
          appNo: on.app.no,
          id: one.subscription,
        });
        assert(found);
        await edit(found, 'paused');
        assert.equal(await isActive(), true);
        await unsubscribe(found);
        assert.equal(await isActive(), false);
      });
    });

    describe('events', () => {
      it('lists newest first, page by page, with and without a name', async () => {
        const made: string[] = [];
        for (const what of ['a', 'b', 'a', 'a', 'b']) made.push((await publish(what))[0]?.id ?? '');
        await publish('a', { app: await newApp(on.store) });
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

      it('returns undefined for an unknown event, and for one of another app', async () => {
        const [accepted] = await publish('a');
        assert(accepted);
        const other = await newApp(on.store);
        assert.equal(await on.store.read('event', { appNo: on.app.no, id: newId() }), undefined);
        assert.equal(await on.store.read('event', { appNo: other.no, id: accepted.id }), undefined);
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

      it('filters by state, name, event and subscription, and by combinations', async () => {
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
        const other = await newApp(on.store);
        for (const filter of [
          {},
          { state: 'due' },
          { state: 'running' },
          { state: 'dead' },
          { event: one.event },
          { subscription: subscriptions[0]?.id },
        ] as const) {
          const input = { appNo: other.no, page, filter: { ...none, ...filter } };
          assert.deepEqual(await on.store.read('deliveries', input), {
            items: [],
            next: undefined,
          });
        }
        const name_ = { appNo: other.no, ...nameOf(one) };
        assert.equal(await on.store.read('delivery', name_), undefined);
        assert.deepEqual(await on.store.read('attempts', name_), []);
        assert.equal(
          await on.store.read('delivery', { appNo: on.app.no, event: newId(), n: 0 }),
          undefined,
        );
      });

      it('fails on an invalid cursor', async () => {
        for (const after of ['', '5', 'x_y_z']) {
          const input = { appNo: on.app.no, page: { limit: 5, after }, filter: none };
          await assert.rejects(on.store.read('deliveries', input), VerbFailed);
        }
      });
    });

    /** Deliveries in every state, of two events and two subscriptions. */
    async function mixed() {
      const subscriptions = [
        await subscribed([callback(0, '*'), callback(1, 'a')]),
        await subscribed([callback(0, '*')]),
      ];
      const first = (await on.dispatcher.publish({ room: 9 }, publishInput(['a']))).fresh;
      const second = (await on.dispatcher.publish({ room: 9 }, publishInput(['b']))).fresh;
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
  });
}
