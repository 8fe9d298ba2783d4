// The contract of lists: whatever the query, following all pages must return exactly the rows that a plain filter selects,
// newest first and without duplicates.
import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import type { App } from '../../src/core/domain/app.ts';
import type { Event } from '../../src/core/domain/event.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Subscription } from '../../src/core/domain/subscription.ts';
import type { Delivery, DeliveryFilter } from '../../src/store/port/delivery-verbs.ts';
import type { Store } from '../../src/store/port/store.ts';
import { fc } from '../fast-check.ts';
import {
  fits,
  follow,
  hears,
  isOf,
  isWithin,
  key,
  minuteMs,
  names,
  newestFirst,
  none,
  patterns,
  pick,
  positioned,
  readAll,
  setStage,
} from './search-stage.ts';
import type { OpenSubject, Subject } from './subject.ts';

export function searchContract(name: string, open: OpenSubject): void {
  describe(`lists: ${name}`, () => {
    const startMs = 1_700_000_000_000;
    const clock = { ms: startMs };
    let subject: Subject;
    let store: Store;
    let apps: readonly App[] = [];
    let subscriptions: readonly Subscription[] = [];
    let events: readonly Event[] = [];
    let deliveries: readonly Delivery[] = [];
    before(async () => {
      subject = await open({ nowMs: () => clock.ms });
      store = subject.store;
      const stage = await setStage(store, clock);
      apps = stage.apps;
      subscriptions = await readAll(stage.subscriptions, async ({ appNo, id }) =>
        store.read('subscription', { appNo, id }),
      );
      events = await readAll(stage.events, async (one) => store.read('event', one));
      const keys = events.flatMap(({ id, appNo, deliveries: count }) =>
        Array.from({ length: count ?? 0 }, (_, n) => ({ event: id, n, appNo })),
      );
      deliveries = await readAll(keys, async (one) => store.read('delivery', one));
    });
    after(async () => subject.dispose());

    const time = fc.option(
      fc.integer({ min: -5, max: 95 }).map((minute) => startMs + minute * minuteMs),
      { nil: undefined },
    );
    const pattern = fc.option(fc.constantFrom(...patterns), { nil: undefined });
    const limit = fc.constantFrom(2, 17, 500);
    const app = fc.constantFrom(0, 1, 2);

    it('finds deliveries by any filter', async () => {
      const states = ['due', 'running', 'delivered', 'dead', 'cancelled'] as const;
      const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
      const filters = fc.record({
        state: maybe(fc.constantFrom(...states, 'pending', 'retrying', 'ended')),
        name: pattern,
        subject: maybe(fc.constantFrom('one', 'two', 'none')),
        customer: maybe(fc.constantFrom('cus_1', 'cus_2', 'cus_many', 'none')),
        event: fc.option(fc.nat(), { nil: undefined, freq: 1 }),
        subscription: maybe(fc.nat()),
        status: maybe(fc.constantFrom('2xx', '3xx', '4xx', '5xx', '204', '404', '503', '599')),
        error: maybe(
          fc.constantFrom('timeout', 'status', 'redirect', 'tls', 'expired', 'exhausted'),
        ),
        fromMs: time,
        untilMs: time,
      });
      // At most a few filters at a time, or hardly anything would match.
      const few = fc
        .tuple(filters, fc.subarray(Object.keys(none), { maxLength: 3 }))
        .map(([all, kept]) => ({
          ...none,
          ...Object.fromEntries(kept.map((k) => [k, Reflect.get(all, k)])),
        }));
      await fc.assert(
        fc.asyncProperty(few, limit, app, async (drawn, most, owner) => {
          const appNo = apps[owner]?.no ?? 0;
          const filter: DeliveryFilter = {
            ...drawn,
            event: pick(events, drawn.event)?.id,
            subscription: pick(subscriptions, drawn.subscription)?.id,
          };
          const expected = deliveries
            .filter((one) => appOf(one) === appNo && fits(one, filter))
            .sort(newestFirst);
          const found = await follow(most, expected.length, async (page) =>
            positioned(await store.read('deliveries', { appNo, page, filter })),
          );
          assert.deepEqual(found.map(key), expected.map(key));
          assert.deepEqual(found, expected);
        }),
        { numRuns: 150, endOnFailure: true },
      );
    });

    it('finds running deliveries if nothing is pending', async () => {
      const appNo = apps[2]?.no ?? 0;
      const running = deliveries.filter((one) => appOf(one) === appNo).sort(newestFirst);
      assert.equal(running.length, limits.searchRowsMin + 9);
      assert(running.every(({ state }) => state === 'running'));
      const subscription = running[0]?.subscription;
      const page = { limit: 100, after: undefined };
      for (const filter of [none, { ...none, subscription }]) {
        for (const state of ['running', 'pending', undefined] as const) {
          const input = { appNo, page, filter: { ...filter, state } };
          assert.deepEqual((await store.read('deliveries', input)).items, running);
        }
        const due = { appNo, page, filter: { ...filter, state: 'due' as const } };
        assert.deepEqual((await store.read('deliveries', due)).items, []);
      }
    });

    it('finds events by name, pattern, subject, customer and time', async () => {
      const subject_ = fc.constantFrom(undefined, undefined, 'one', 'two', 'none');
      const customer = fc.constantFrom(undefined, undefined, 'cus_1', 'cus_2', 'none');
      const about = { subject: subject_, customer };
      const filters = fc.record({ name: pattern, ...about, fromMs: time, untilMs: time });
      await fc.assert(
        fc.asyncProperty(filters, limit, app, async (filter, most, owner) => {
          const appNo = apps[owner]?.no ?? 0;
          const expected = events
            .filter((one) => one.appNo === appNo && isOf(one.name, filter.name))
            .filter((one) => (filter.subject ?? one.subject) === one.subject)
            .filter((one) => (filter.customer ?? one.customer) === one.customer)
            .filter(({ id }) => isWithin(id, filter))
            .sort((a, b) => (a.id < b.id ? 1 : -1));
          const found = await follow(most, expected.length, async (page) =>
            positioned(await store.read('events', { appNo, page, ...filter })),
          );
          assert.deepEqual(
            found.map(({ id }) => id),
            expected.map(({ id }) => id),
          );
        }),
        { numRuns: 60, endOnFailure: true },
      );
    });

    it('finds subscriptions by state, event, URL, subject and customer', async () => {
      const filters = fc.record({
        state: fc.constantFrom(undefined, 'active' as const, 'ended' as const),
        event: fc.constantFrom(undefined, ...names, 'ringback.ping', 'other', 'job.done'),
        url: fc.constantFrom(undefined, '/1', 'EXAMPLE/0', 'receiver', 'elsewhere', '%', '_'),
        subject: fc.constantFrom(undefined, undefined, 'one', 'two', 'none'),
        customer: fc.constantFrom(undefined, undefined, 'cus_1', 'cus_many', 'none'),
      });
      await fc.assert(
        fc.asyncProperty(filters, limit, app, async (filter, most, owner) => {
          const appNo = apps[owner]?.no ?? 0;
          const expected = subscriptions
            .filter((one) => one.appNo === appNo && hears(one, filter))
            .toReversed();
          const found = await follow(most, expected.length, async (page) =>
            store.read('subscriptions', { appNo, page, ...filter }),
          );
          assert.deepEqual(
            found.map(({ id }) => id),
            expected.map(({ id }) => id),
          );
        }),
        { numRuns: 60, endOnFailure: true },
      );
    });

    function appOf({ event }: Delivery): number {
      return events.find(({ id }) => id === event)?.appNo ?? 0;
    }
  });
}
