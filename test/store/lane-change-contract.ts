// The contract of the Store port: deliveries, statistics and health when a subscription changes its lanes. Every test has
// its own store, because a claim sees the lanes of all apps.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import { spanBetween } from '../../src/core/telemetry/statistics.ts';
import { callback, inactive, type OpenSubject } from './subject.ts';
import { laneStage } from './lane-stage.ts';

export function laneChangeContract(name: string, open: OpenSubject): void {
  describe(`the lane change contract: ${name}`, () => {
    const { on, subscribe, change, choose, publish, claim, settle, drain, lanesOf } =
      laneStage(open);
    const { clock } = on;

    describe('a change of lanes', () => {
      it('made while it is paused takes effect at the resume', async () => {
        const id = await subscribe();
        await publish();
        const set = async (state: 'active' | 'paused' | 'disabled'): Promise<void> =>
          change(id, { state });
        await set('paused');
        await choose(id, { ordered: true });
        await publish();
        assert.deepEqual(await claim(), []);
        await set('active');
        assert.equal((await claim()).length, 3);
      });

      it('does not carry over failures of an old lane', async () => {
        const id = await subscribe();
        await publish();
        await settle(await claim(), 'dead');
        const appNo = on.app.no;
        const health = async () => {
          const [one] = await on.store.read('subscriptionHealth', { appNo, ids: [id] });
          assert(one);
          return one;
        };
        const span = spanBetween(clock.ms, clock.ms + 1);
        const attention = async () =>
          (await on.store.read('appStatistics', { appNo, span })).attention;
        assert.equal((await health()).state, 'failing');
        assert.equal((await attention()).length, 2);
        await choose(id, { ordered: true });
        assert.equal((await health()).state, 'ok');
        assert.deepEqual(await attention(), []);
        // A change back finds no failures either.
        await choose(id);
        assert.equal((await health()).state, 'ok');
      });

      it('keeps all deliveries in the lists of the subscription', async () => {
        const id = await subscribe();
        const events = await publish();
        await choose(id, { ordered: true });
        events.push(...(await publish()));
        await drain();
        await choose(id, { ratePerSecond: 1 });
        events.push(...(await publish()));
        const page = { limit: 50, after: undefined };
        const anything = { state: undefined, name: undefined, event: undefined };
        const filter = { ...anything, subscription: id };
        const { items } = await on.store.read('deliveries', { appNo: on.app.no, page, filter });
        assert.deepEqual(
          items.map(({ event, n }) => `${event} ${n}`).toSorted(),
          events.flatMap((event) => [`${event} 0`, `${event} 1`]).toSorted(),
        );
      });

      it('leaves nothing that an unsubscribe would not end', async () => {
        const id = await subscribe();
        await publish();
        for (const controls of [{ ordered: true }, { ratePerSecond: 1 }, {}]) {
          await choose(id, controls);
          await publish();
        }
        await on.store.edit('unsubscribe', { appNo: on.app.no, id });
        assert.deepEqual(await claim(), []);
        assert.equal((await on.store.edit('sweep', { limit: 50 })).cancelled, 8);
      });

      it('together with a new URL is atomic', async () => {
        const id = await subscribe({}, [callback(0, 'a'), inactive(1, 'a')]);
        await change(id, {
          urls: [{ position: 1, url: 'https://late.example/' }],
          chosen: { controls: { ...noControls, ratePerSecond: 2 }, headers: undefined },
        });
        await publish(2);
        const all = await drain();
        assert.equal(all.length, 2);
        assert.equal(lanesOf(all).length, 1);
      });
    });
  });
}
