// The contract of the Store port: what order, rate and concurrency do to deliveries. Every test has a store
// of its own, because a claim sees the lanes of all apps.
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
      it('gives one delivery at a time, of all its callbacks, in their order', async () => {
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

      it('begins with what is published after the switch; what waits goes its own way', async () => {
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

      it('that ceases to be one drains in its order, beside what comes then', async () => {
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

      it('that becomes one again goes on where it was', async () => {
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

      it('gets what is sent again, by hand or by a replay, into its order', async () => {
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

      it('gives a callback that gets its target later the same lane', async () => {
        const id = await subscribe({ ordered: true }, [callback(0, 'a'), inactive(1, 'a')]);
        await change(id, { urls: [{ position: 1, url: 'https://late.example/' }] });
        const [event] = await publish();
        const all = await drain();
        assert.deepEqual(names(all), [`${event} 0`, `${event} 1`]);
        assert.equal(lanesOf(all).length, 1);
      });
    });

    describe('a rate limit', () => {
      it('holds for all callbacks together', async () => {
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

      it('lets nothing by that is fresh', async () => {
        await subscribe({ ratePerSecond: 1 });
        const { fresh } = await on.dispatcher.publish(plenty, publishing(2));
        assert.deepEqual(fresh, []);
        assert.equal((await drain()).length, 1);
      });

      it('that changes is obeyed at once by what waits, and found again by a claim', async () => {
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

      it('is not forgotten by becoming ordered', async () => {
        const id = await subscribe({ ratePerSecond: 1 });
        await publish();
        assert.equal((await drain()).length, 1);
        await choose(id, { ratePerSecond: 1, ordered: true });
        await publish();
        assert.equal((await drain()).length, 0);
        clock.ms += 1_000;
        // What waited before has a lane of its own.
        assert.equal((await drain()).length, 2);
      });
    });

    describe('an outcome that comes without an offer', () => {
      /** Hands in one of them, and gives what its cycle of work foresaw. */
      const prepared = async (...settling: Parameters<typeof settle>) => {
        const { works } = on.dispatcher;
        const before = works.length;
        assert.equal((await settle(...settling)).length, 1);
        assert.equal(works.length, before + 1);
        return works.at(-1)?.readyMs;
      };

      it('hears of no lane that it leaves as it is: it may be full there', async () => {
        await subscribe({}, [callback(0, 'a')]);
        const { fresh } = await on.dispatcher.publish({ room: 1 }, publishing(3));
        assert.equal(fresh.length, 1);
        assert.equal(await prepared(fresh), undefined);
        const { claimed, readyMs } = await on.dispatcher.claim({ room: 1 });
        assert.deepEqual([claimed.length, readyMs], [1, clock.ms]);
      });

      it('hears when the next one of an order may go, and when the same one may', async () => {
        await subscribe({ ordered: true });
        await publish(2);
        assert.equal(await prepared(await claim()), clock.ms);
        assert.equal(await prepared(await claim(), 'retry', clock.ms + 500), clock.ms + 500);
      });
    });

    describe('a concurrency', () => {
      it('is kept by claims and fresh inserts, with what is in flight on the node', async () => {
        await subscribe({ concurrency: 3 }, [callback(0, 'a')]);
        const { fresh } = await on.dispatcher.publish(plenty, publishing(5));
        assert.deepEqual(
          fresh.map(({ concurrency }) => concurrency),
          [3, 3, 3],
        );
        const lane = fresh[0]?.lane ?? 0;
        const full: Room = { ...plenty, free: [[lane, 61]], inFlight: [[lane, 3]] };
        const { claimed, readyMs } = await on.dispatcher.claim(full);
        assert.deepEqual([claimed, readyMs], [[], undefined], 'whoever frees a slot asks again');
        const some = await claim({ ...full, inFlight: [[lane, 2]] });
        assert.deepEqual(
          some.map(({ concurrency }) => concurrency),
          [3],
        );
      });

      it('that changes holds for what waits, and whoever settles hears of it', async () => {
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
