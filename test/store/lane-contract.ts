// The contract of the Store port: order, rate limits and concurrency limits. Every test has its own store, because a claim
// sees the lanes of all apps.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { callback, inactive, type OpenSubject } from './subject.ts';
import { laneStage, plenty } from './lane-stage.ts';
import type { Room } from './test-dispatcher.ts';

export function laneContract(name: string, open: OpenSubject): void {
  describe(`the lane contract: ${name}`, () => {
    const {
      on,
      subscribe,
      change,
      choose,
      publishing,
      publish,
      claim,
      settle,
      drain,
      names,
      lanesOf,
    } = laneStage(open);
    const { clock } = on;

    describe('an ordered subscription', () => {
      it('leases one delivery at a time over all callbacks, in order', async () => {
        await subscribe({ ordered: true });
        const events = await publish(3);
        const [first, ...others] = await claim();
        assert(first);
        assert.deepEqual(others, []);
        assert.deepEqual(await claim(), []);
        await settle([first], 'retry');
        const [again] = await claim();
        assert.deepEqual(names([first]), names(again === undefined ? [] : [again]));
        await settle(again === undefined ? [] : [again], 'dead');
        const rest = await drain();
        assert.deepEqual(
          [...names([first]), ...names(rest)],
          events.flatMap((event) => [`${event} 0`, `${event} 1`]),
        );
        assert.equal(lanesOf([first, ...rest]).length, 1);
      });

      it('orders events published after the switch; pending deliveries drain separately', async () => {
        const id = await subscribe();
        const before = await publish(2);
        await choose(id, { ordered: true });
        const after = await publish(2);
        const claimed = await claim();
        assert.deepEqual(
          names(claimed).toSorted(),
          [...before.flatMap((event) => [`${event} 0`, `${event} 1`]), `${after[0]} 0`].toSorted(),
        );
        assert.equal(lanesOf(claimed).length, 3);
        await settle(claimed);
        assert.deepEqual(names(await drain()), [`${after[0]} 1`, `${after[1]} 0`, `${after[1]} 1`]);
      });

      it('that stops being ordered drains in order, beside later deliveries', async () => {
        const id = await subscribe({ ordered: true });
        const before = await publish(2);
        const [head] = await claim();
        assert(head);
        await choose(id);
        const after = await publish(2);
        const fresh = await claim();
        assert.deepEqual(
          names(fresh).toSorted(),
          after.flatMap((event) => [`${event} 0`, `${event} 1`]).toSorted(),
        );
        assert.equal(lanesOf(fresh).length, 2);
        assert.equal(lanesOf([...fresh, head]).length, 3);
        await settle([...fresh, head]);
        assert.deepEqual(names(await drain()), [
          `${before[0]} 1`,
          `${before[1]} 0`,
          `${before[1]} 1`,
        ]);
      });

      it('that becomes ordered again continues where it was', async () => {
        const id = await subscribe({ ordered: true });
        const before = await publish();
        await choose(id);
        await choose(id, { ordered: true });
        const after = await publish();
        const all = await drain();
        assert.equal(lanesOf(all).length, 1);
        assert.deepEqual(
          names(all),
          [...before, ...after].flatMap((event) => [`${event} 0`, `${event} 1`]),
        );
      });

      it('orders retries by hand and replays, too', async () => {
        const id = await subscribe();
        const [event = ''] = await publish();
        await settle(await claim(), 'dead');
        await choose(id, { ordered: true });
        const [next = ''] = await publish();
        for (const n of [1, 0]) {
          const output = await on.store.edit('retryDelivery', { appNo: on.app.no, event, n });
          assert.equal(output.kind, 'due');
        }
        const all = await drain();
        assert.deepEqual(names(all), [`${next} 0`, `${next} 1`, `${event} 1`, `${event} 0`]);
        assert.equal(lanesOf(all).length, 1);
      });

      it('uses the same lane for a callback that gets its URL later', async () => {
        const id = await subscribe({ ordered: true }, [callback(0, 'a'), inactive(1, 'a')]);
        await change(id, { urls: [{ position: 1, url: 'https://late.example/' }] });
        const [event] = await publish();
        const all = await drain();
        assert.deepEqual(names(all), [`${event} 0`, `${event} 1`]);
        assert.equal(lanesOf(all).length, 1);
      });
    });

    describe('a rate limit', () => {
      it('applies to all callbacks together', async () => {
        await subscribe({ ratePerSecond: 4 });
        await publish(4);
        assert.equal((await drain()).length, 4);
        clock.ms += 249;
        assert.equal((await drain()).length, 0);
        clock.ms += 1;
        assert.equal((await drain()).length, 1);
        clock.ms += 400;
        assert.equal((await drain()).length, 1);
        clock.ms += 60_000;
        assert.equal((await drain()).length, 2);
      });

      it('applies to fresh deliveries, too', async () => {
        await subscribe({ ratePerSecond: 1 });
        const { fresh } = await on.dispatcher.publish(plenty, publishing(2));
        assert.deepEqual(fresh, []);
        assert.equal((await drain()).length, 1);
      });

      it('applies to pending deliveries at once when it changes', async () => {
        const id = await subscribe({ ratePerSecond: 0.01 }, [callback(0, 'a')]);
        await publish(9);
        assert.equal((await drain()).length, 1);
        clock.ms += 500;
        await choose(id, { ratePerSecond: 4 });
        assert.equal((await drain()).length, 2, 'since the last one');
        await choose(id, { ratePerSecond: 0.1 });
        clock.ms += 9_999;
        assert.equal((await drain()).length, 0);
        clock.ms += 1;
        assert.equal((await drain()).length, 1);
        await choose(id);
        const { readyMs } = await on.dispatcher.claim({ room: 0 });
        assert.equal(readyMs, clock.ms);
        assert.equal((await drain()).length, 5);
      });

      it('is kept when the subscription becomes ordered', async () => {
        const id = await subscribe({ ratePerSecond: 1 });
        await publish();
        assert.equal((await drain()).length, 1);
        await choose(id, { ratePerSecond: 1, ordered: true });
        await publish();
        assert.equal((await drain()).length, 0);
        clock.ms += 1_000;
        // Earlier pending deliveries have a separate lane.
        assert.equal((await drain()).length, 2);
      });
    });

    describe('an outcome without an offer', () => {
      /** Settles, and returns the forecast of that cycle of work. */
      const prepared = async (...settling: Parameters<typeof settle>) => {
        const { works } = on.dispatcher;
        const before = works.length;
        assert.equal((await settle(...settling)).length, 1);
        assert.equal(works.length, before + 1);
        return works.at(-1)?.readyMs;
      };

      it('does not report an unchanged lane, which may be full', async () => {
        await subscribe({}, [callback(0, 'a')]);
        const { fresh } = await on.dispatcher.publish({ room: 1 }, publishing(3));
        assert.equal(fresh.length, 1);
        assert.equal(await prepared(fresh), undefined);
        const { claimed, readyMs } = await on.dispatcher.claim({ room: 1 });
        assert.deepEqual([claimed.length, readyMs], [1, clock.ms]);
      });

      it('reports when the next delivery of an ordered lane may be claimed, and when the same one may', async () => {
        await subscribe({ ordered: true });
        await publish(2);
        assert.equal(await prepared(await claim()), clock.ms);
        assert.equal(await prepared(await claim(), 'retry', clock.ms + 500), clock.ms + 500);
      });
    });

    describe('a concurrency', () => {
      it('limits claims and fresh inserts, including deliveries in flight on the node', async () => {
        await subscribe({ concurrency: 3 }, [callback(0, 'a')]);
        const { fresh } = await on.dispatcher.publish(plenty, publishing(5));
        assert.deepEqual(
          fresh.map(({ concurrency }) => concurrency),
          [3, 3, 3],
        );
        const lane = fresh[0]?.lane ?? 0;
        const full: Room = { ...plenty, free: [[lane, 61]], inFlight: [[lane, 3]] };
        const { claimed, readyMs } = await on.dispatcher.claim(full);
        assert.deepEqual([claimed, readyMs], [[], undefined], 'a freed slot causes the next claim');
        const some = await claim({ ...full, inFlight: [[lane, 2]] });
        assert.deepEqual(
          some.map(({ concurrency }) => concurrency),
          [3],
        );
      });

      it('applies to pending deliveries when it changes, and is reported by a settle', async () => {
        const id = await subscribe();
        await publish(4);
        const first = await claim({ room: 4, laneRoom: 2 });
        assert.deepEqual(await settle(first.slice(0, 1)), [{ kind: 'settled' }]);
        await choose(id, { concurrency: 1 });
        const settled = await settle(first.slice(1));
        const told = { kind: 'settled', concurrency: 1 };
        assert.deepEqual(settled, [told, told, told]);
        const next = await claim();
        assert.equal(next.length, 2, 'one for each callback');
        await settle(next);
        await choose(id);
        assert.equal((await claim()).length, 2);
      });
    });
  });
}
