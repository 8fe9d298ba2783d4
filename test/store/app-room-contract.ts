// What an app may take of a node's window, as the store obeys it: in claims, in what a publish leases, and in what it
// says is ready next. One app may have any number of lanes ready before those of others.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { App } from '../../src/core/domain/app.ts';
import type { Leased } from '../../src/core/domain/delivery.ts';
import type { EditInput } from '../../src/store/port/store.ts';
import { newId } from './open-memory.ts';
import { freshStage } from './store-stage.ts';
import { callback, newApp, newSubscription, type OpenSubject } from './subject.ts';

/** More lanes than one claim looks at. */
const many = 320;
const unlimited = { room: 256, unproven: 256, laneRoom: 8 };

export function appRoomContract(name: string, open: OpenSubject): void {
  describe(`room of apps: ${name}`, () => {
    const on = freshStage(open);
    const room = { room: 64, laneRoom: 8 };

    /** Subscriptions with up to 64 lanes each. */
    async function subscribe(app: App, lanes: number): Promise<void> {
      for (let made = 0; made < lanes; made += 64) {
        const callbacks = Array.from({ length: Math.min(64, lanes - made) }, (_, i) =>
          callback(i, `e${made + i}`),
        );
        const subscription = newSubscription(app, { callbacks });
        await on.store.edit('subscribe', { subscription, idempotency: undefined });
      }
    }

    function events(app: App, lanes: number): EditInput<'publish'> {
      const payload = Buffer.from('1');
      return {
        appNo: app.no,
        contract: 'Ringback',
        events: Array.from({ length: lanes }, (_, i) => ({ id: newId(), name: `e${i}`, payload })),
        audience: { kind: 'everyone' },
        idempotency: undefined,
      };
    }

    /** An app with a delivery waiting in each of so many lanes. */
    async function appWith(lanes: number): Promise<App> {
      const app = await newApp(on.store);
      await subscribe(app, lanes);
      await on.store.edit('publish', events(app, lanes));
      return app;
    }

    const countOf = (some: readonly Leased[], app: App): number =>
      some.filter(({ appNo }) => appNo === app.no).length;

    it('is shared by a claim, whichever app has been ready for longer, and however often', async () => {
      const flood = await appWith(many);
      on.clock.ms += 1_000;
      const other = await appWith(20);
      const { claimed } = await on.dispatcher.claim(room);
      assert.equal(claimed.length, 64);
      assert.equal(countOf(claimed, other), 20);
      assert.equal(countOf(claimed, flood), 44);
    });

    it('bounds what a claim takes of an app, and says when others are ready', async () => {
      const flood = await appWith(many);
      const apps = new Map([[flood.no, { ...unlimited, room: 5 }]]);
      const first = await on.dispatcher.claim({ ...room, apps });
      assert.equal(countOf(first.claimed, flood), 5);
      assert.equal(first.readyMs, undefined, 'whoever frees a slot of the app asks again');
      on.clock.ms += 1_000;
      const other = await appWith(20);
      const full = { ...room, apps: new Map([[flood.no, { ...unlimited, room: 0 }]]) };
      const { readyMs } = await on.dispatcher.claim({ ...full, room: 0 });
      assert.equal(readyMs, on.clock.ms, 'of the other app');
      const { claimed } = await on.dispatcher.claim(full);
      assert.deepEqual([countOf(claimed, flood), countOf(claimed, other)], [0, 20]);
    });

    it('is kept for proven lanes, where an app has none for others', async () => {
      const app = await appWith(many);
      const [first] = (await on.dispatcher.claim({ ...room, room: 1 })).claimed;
      assert(first);
      const last = first.lane + many - 1;
      const apps = new Map([[app.no, { ...unlimited, unproven: 0 }]]);
      const known = { ...room, apps, free: [[last, 3] satisfies [number, number]] };
      const { claimed } = await on.dispatcher.claim(known);
      assert.deepEqual(
        claimed.map(({ lane }) => lane),
        [last],
      );
      const unproven = new Set([last]);
      assert.deepEqual((await on.dispatcher.claim({ ...known, unproven })).claimed, []);
    });

    it('is not ready again where a publish leaves only slots that are kept for fresh events', async () => {
      const flood = await appWith(many);
      on.clock.ms += 1_000;
      const other = await newApp(on.store);
      await subscribe(other, 2);
      const kept = { room: 4, unproven: 4 };
      const apps = new Map([[flood.no, { room: 4, unproven: 4, laneRoom: 8, kept }]]);
      const { fresh } = await on.dispatcher.publish({ ...room, apps }, events(other, 2));
      assert.equal(fresh.length, 2);
      assert.equal(on.dispatcher.nextWorks.at(-1)?.readyMs, undefined, 'a claim would be in vain');
      const published = await on.dispatcher.publish({ ...room, apps, free: [] }, events(flood, 1));
      assert.equal(published.fresh.length, 0, 'its lane has a backlog');
      assert.equal((await on.dispatcher.claim(room)).claimed.length, 64);
    });

    it('bounds what a publish leases', async () => {
      const app = await newApp(on.store);
      await subscribe(app, 20);
      const bounded = { ...room, appRoom: { room: 9, unproven: 6 } };
      const { fresh } = await on.dispatcher.publish(bounded, events(app, 20));
      assert.equal(fresh.length, 6, 'all of them are new');
      assert.equal(countOf(fresh, app), 6);
      const free = fresh.map(({ lane }) => [lane, 0] satisfies [number, number]);
      const apps = new Map([[app.no, { ...unlimited, room: 8 }]]);
      const { claimed } = await on.dispatcher.claim({ ...room, apps, free });
      assert.equal(claimed.length, 8);
    });
  });
}
