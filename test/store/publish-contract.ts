// The contract of the Store port: the deliveries of a publish. Every test has its own store, because a claim sees the lanes
// of all apps.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { VerbFailed } from '../../src/store/port/store.ts';
import { callback, digest, inactive, newApp, type OpenSubject } from './subject.ts';
import { deliveryStage, newEvent } from './delivery-stage.ts';
import { newId } from './open-memory.ts';

export function publishContract(name: string, open: OpenSubject): void {
  describe(`the delivery contract: ${name}`, () => {
    const {
      on,
      clock,
      subscribed,
      unsubscribe,
      edit,
      publishInput,
      publish,
      claim,
      settle,
      eventOf,
      events_,
      deliveries,
      tally,
    } = deliveryStage(open);

    describe('publish', () => {
      it('creates one delivery for every matching callback', async () => {
        const matching = ['a.b.c', 'a.b.*', 'a.*', '*'];
        const deaf = ['a', 'a.b', 'a.b.c.*', 'b.*', 'A.b.c'];
        const all = [...matching, ...deaf].map((pattern, index) => callback(index, pattern));
        await subscribed([...all, inactive(all.length, '*')]);
        const [accepted] = await publish('a.b.c');
        assert(accepted);
        assert.equal(accepted.deliveries, matching.length);
        const made = await deliveries({ event: accepted.id });
        assert.deepEqual(
          made.map(({ n, callback: { position } }) => ({ n, position })),
          [3, 2, 1, 0].map((n) => ({ n, position: n })),
        );
        assert.deepEqual(await tally(), { due: 4 });
      });

      it('stores the event even if no callback matches', async () => {
        const payload = Buffer.from([0, 255, 1, 254]);
        const [accepted] = await publish('a', { payload });
        assert.equal(accepted?.deliveries, 0);
        assert.deepEqual(structuredClone(await eventOf(accepted.id)), {
          id: accepted.id,
          appNo: on.app.no,
          name: 'a',
          payload: new Uint8Array(payload),
          createdMs: clock.ms,
          deliveries: 0,
          subject: undefined,
          customer: undefined,
          rejected: undefined,
          skipped: undefined,
        });
      });

      it('does not cross apps or contracts, and ignores ended subscriptions', async () => {
        await subscribed([callback(0, '*')], { app: await newApp(on.store) });
        await subscribed([callback(0, '*')], { contract: 'Another' });
        await unsubscribe(await subscribed([callback(0, '*')]));
        assert.equal((await publish('a'))[0]?.deliveries, 0);
      });

      it("does not match Ringback's own events with *", async () => {
        await subscribed([callback(0, '*'), callback(1, 'ringback.*'), callback(2, 'ringback.x')]);
        assert.equal((await publish('ringback.x', { contract: '' }))[0]?.deliveries, 2);
        assert.equal((await publish('ringback.x'))[0]?.deliveries, 0, 'they belong to no contract');
        assert.equal((await publish('ringbackx'))[0]?.deliveries, 1);
      });

      it('matches a subscription acknowledged before, whatever is in flight', async () => {
        const inFlight = [publish('a'), publish('a')];
        await subscribed();
        assert.equal((await publish('a'))[0]?.deliveries, 1);
        await Promise.all(inFlight);
      });

      it('matches an earlier subscription of the same batch', async (t) => {
        if (on.store.isShared) {
          t.skip('publishes are in no batch with subscribes');
          return;
        }
        const [first, , second] = await Promise.all([publish('a'), subscribed(), publish('a')]);
        assert.equal(first[0]?.deliveries, 0);
        assert.equal(second[0]?.deliveries, 1);
      });

      it('stores all events or none', async () => {
        await subscribed();
        const [first] = await publish('a');
        assert(first);
        const input = publishInput(['x', 'y']);
        const events = [...input.events, { id: first.id, name: 'z', payload: Buffer.from('1') }];
        await assert.rejects(on.store.edit('publish', { ...input, events }), VerbFailed);
        assert.deepEqual(await tally(), { due: 1 });
        assert.equal((await events_()).length, 1);
        const output = await on.store.edit('publish', input);
        assert(output.kind === 'accepted');
        assert.deepEqual(
          output.events,
          input.events.map(({ id }) => ({ id, deliveries: 1 })),
        );
      });

      it('fails only the poisoned publish, and repeats the others one by one', async () => {
        await subscribed();
        const [first] = await publish('a');
        assert(first);
        const bad = { ...publishInput([]), events: [{ ...newEvent('b'), id: first.id }] };
        const results = await Promise.allSettled([
          on.store.edit('forget', { idempotencyBeforeMs: 0, limit: 1 }),
          on.dispatcher.publish({ room: 9 }, publishInput(['b'])),
          on.store.edit('publish', bad),
          on.store.edit('publish', publishInput(['c'])),
        ]);
        assert.deepEqual(
          results.map(({ status }) => status),
          ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
        );
        assert.deepEqual(await tally(), { due: 3 });
      });

      it('addressed to one subscription reaches its matching callbacks', async () => {
        await subscribed();
        const one = await subscribed([callback(0, 'a'), callback(1, '*'), callback(2, 'b')]);
        const audience = { kind: 'subscription', id: one.id } as const;
        const [accepted] = await publish('a', { audience });
        assert.equal(accepted?.deliveries, 2);
        const made = await deliveries({ event: accepted.id });
        assert(made.every(({ subscription }) => subscription === one.id));
      });

      it('can address all callbacks of a subscription, whatever their patterns', async () => {
        const one = await subscribed([callback(0, 'a'), inactive(1, 'x'), callback(2, 'b')]);
        const audience = { kind: 'all_callbacks', id: one.id } as const;
        assert.equal((await publish('ringback.ping', { audience }))[0]?.deliveries, 2);
      });

      it('stores nothing if the addressed subscription is unknown, ended or of another app', async () => {
        const ended = await subscribed();
        await unsubscribe(ended);
        const foreign = await subscribed([callback(0, '*')], { app: await newApp(on.store) });
        for (const id of [newId(), ended.id, foreign.id]) {
          for (const kind of ['subscription', 'all_callbacks'] as const) {
            const input = { ...publishInput(['a']), audience: { kind, id } };
            assert.deepEqual(await on.store.edit('publish', input), { kind: 'not_found' });
          }
        }
        assert.equal((await events_()).length, 0);
      });

      it('stores the trace with the event, for fresh and claimed deliveries', async () => {
        await subscribed();
        const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 vendor=x';
        const traced = { ...publishInput(['a', 'b']), trace };
        const { fresh } = await on.dispatcher.publish({ room: 1 }, traced);
        await publish('c');
        const { claimed } = await claim();
        assert.deepEqual(
          [...fresh, ...claimed].map((one) => [one.eventName, one.trace]),
          [
            ['a', trace],
            ['b', trace],
            ['c', undefined],
          ],
        );
      });

      it('stays pending in a paused subscription until the resume', async () => {
        const one = await subscribed();
        const paused = await edit(one, 'paused');
        const { fresh } = await on.dispatcher.publish({ room: 9 }, publishInput(['a']));
        await publish('a', { audience: { kind: 'subscription', id: one.id } });
        assert.deepEqual(fresh, []);
        assert.deepEqual((await claim()).claimed, []);
        assert.equal(on.dispatcher.nextWorks.at(-1)?.readyMs, undefined);
        await edit(paused, 'active');
        assert.equal(on.dispatcher.nextWorks.at(-1)?.readyMs, clock.ms);
        assert.equal((await claim()).claimed.length, 2);
      });

      it('answers a repeated request with the first result, and writes nothing', async () => {
        await subscribed();
        const idempotency = { key: digest(newId()), print: digest('request') };
        const first = await on.store.edit('publish', publishInput(['a', 'b'], { idempotency }));
        assert(first.kind === 'accepted');
        await subscribed();
        const again = await on.store.edit('publish', publishInput(['a', 'b'], { idempotency }));
        assert.deepEqual(again, { kind: 'repeated', events: first.events });
        const other = { ...idempotency, print: digest('another') };
        const mismatch = await on.store.edit(
          'publish',
          publishInput(['a'], { idempotency: other }),
        );
        assert.deepEqual(mismatch, { kind: 'mismatch' });
        assert.equal((await events_()).length, 2);
        assert.deepEqual(await tally(), { due: 2 });
      });

      it('answers a repeated request in the same way after the addressed subscription has ended', async () => {
        const one = await subscribed();
        const audience = { kind: 'subscription', id: one.id } as const;
        const idempotency = { key: digest(newId()), print: digest('request') };
        const input = publishInput(['a'], { audience, idempotency });
        const first = await on.store.edit('publish', input);
        assert(first.kind === 'accepted');
        await unsubscribe(one);
        assert.deepEqual(
          await on.store.edit('publish', publishInput(['a'], { audience, idempotency })),
          {
            kind: 'repeated',
            events: first.events,
          },
        );
        const fresh = { ...idempotency, key: digest(newId()) };
        const late = publishInput(['a'], { audience, idempotency: fresh });
        assert.deepEqual(await on.store.edit('publish', late), { kind: 'not_found' });
        const other = publishInput(['a'], { idempotency: { ...fresh, print: digest('other') } });
        assert.equal((await on.store.edit('publish', other)).kind, 'accepted', 'no key was stored');
      });
    });

    describe('a fresh delivery', () => {
      it('is handed over by the publish, with its payload, before the response', async () => {
        await subscribed();
        const memory = Buffer.from('....{"x":1}....');
        const payload = memory.subarray(4, 11);
        const input = publishInput(['a.b'], { payload });
        const { output, fresh } = await on.dispatcher.publish({ room: 1 }, input);
        assert(output.kind === 'accepted');
        const [delivery] = fresh;
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

      it('is limited by the room in total and in its lane', async () => {
        await subscribed([callback(0, '*'), callback(1, '*')]);
        const names = ['a', 'b', 'c', 'd'];
        const { fresh } = await on.dispatcher.publish(
          { room: 5, laneRoom: 3 },
          publishInput(names),
        );
        assert.equal(fresh.length, 5);
        const perLane = Map.groupBy(fresh, ({ lane }) => lane);
        const sizes = [...perLane.values()].map(({ length }) => length);
        assert.deepEqual(new Set(sizes), new Set([2, 3]));
        assert.deepEqual(await tally(), { due: 3, running: 5 });
        assert.equal(on.dispatcher.nextWorks.at(-1)?.readyMs, clock.ms);
      });

      it('queues behind pending ones', async () => {
        await subscribed();
        await publish('a');
        const { fresh } = await on.dispatcher.publish({ room: 9 }, publishInput(['b']));
        assert.deepEqual(fresh, []);
        const { claimed } = await claim();
        assert.deepEqual(
          claimed.map(({ eventName }) => eventName),
          ['a', 'b'],
        );
        // Now that nothing is pending, the next one is handed over directly again.
        assert.equal(
          (await on.dispatcher.publish({ room: 9 }, publishInput(['c']))).fresh.length,
          1,
        );
      });

      it('stays pending in a lane that is full according to the offer', async () => {
        await subscribed();
        const [first] = (await on.dispatcher.publish({ room: 9 }, publishInput(['a']))).fresh;
        assert(first);
        const full: [number, number][] = [[first.lane, 0]];
        const second = await on.dispatcher.publish({ room: 9, free: full }, publishInput(['b']));
        assert.deepEqual(second.fresh, []);
        assert.equal(on.dispatcher.nextWorks.at(-1)?.readyMs, undefined);
        const { claimed, readyMs } = await on.dispatcher.claim({ room: 9, free: full });
        assert.deepEqual([claimed, readyMs], [[], undefined]);
        assert.equal((await claim()).claimed.length, 1);
      });
    });
  });
}
