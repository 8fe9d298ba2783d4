// The contract of the Store port: callbacks that an event skips, because its payload does not fit them.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { SkippedCallback } from '../../src/core/domain/event.ts';
import type { Subscription } from '../../src/core/domain/subscription.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Accepted, Audience, NewEvent } from '../../src/store/port/delivery-verbs.ts';
import type { EditInput, EditOutput } from '../../src/store/port/store.ts';
import { controlsStage } from './controls-stage.ts';
import { settlementOf } from './settlement.ts';
import { callback, digest, type OpenSubject, plain } from './subject.ts';

export function skipContract(name: string, open: OpenSubject): void {
  describe(`the contract of skipped callbacks: ${name}`, () => {
    const { on, subscribed, edit, publishInput } = controlsStage(open);

    /** The callback at a position of `subject.ts`, in the operation of a subscription. */
    const skip = (position: number, operation = 'subscribe'): SkippedCallback => {
      const reason = `/a${position} is required, \u0000 "é"`;
      return { operation, definition: callback(position, 'a').definition, reason };
    };

    function input(
      events: readonly Partial<NewEvent>[],
      changes: Partial<EditInput<'publish'>> = {},
    ): EditInput<'publish'> {
      const [event] = publishInput('a').events;
      assert(event);
      const made = events.map((one) => ({ ...event, id: on.newId(), ...one }));
      return { ...publishInput('a'), events: made, ...changes };
    }

    async function accepted(
      events: readonly Partial<NewEvent>[],
      changes: Partial<EditInput<'publish'>> = {},
    ): Promise<readonly Accepted[]> {
      return acceptedIn(await on.store.edit('publish', input(events, changes)));
    }

    /** The positions of the callbacks that have a delivery of the event. */
    async function reached({ id }: Pick<Accepted, 'id'>): Promise<number[]> {
      const found = await on.store.read('deliveries', {
        appNo: on.app.no,
        page: { limit: 100, after: undefined },
        filter: { state: undefined, name: undefined, event: id, subscription: undefined },
      });
      return found.items.map((one) => one.callback.position).toSorted((a, b) => a - b);
    }

    async function skippedBy({ id }: Pick<Accepted, 'id'>): Promise<unknown> {
      return (await on.store.read('event', { appNo: on.app.no, id }))?.skipped;
    }

    describe('publish', () => {
      it('creates no deliveries for them, and the event keeps them with the reasons', async () => {
        await subscribed({ callbacks: [callback(0, 'a'), callback(1, '*'), callback(2, 'a')] });
        await subscribed({ operation: 'another', callbacks: [callback(0, 'a')] });
        const skipped = [skip(0), skip(2), skip(9), skip(1, 'another')];
        const [one] = await accepted([{ skipped }]);
        assert(one);
        assert.deepEqual(plain(one), { id: one.id, deliveries: 2, skipped });
        assert.deepEqual(await reached(one), [0, 1]);
        assert.deepEqual(await skippedBy(one), skipped);
      });

      it('decides for each event of a batch, and of concurrent publishes', async () => {
        await subscribed({ callbacks: [callback(0, 'a'), callback(1, 'a')] });
        const each = [{ skipped: [skip(0)] }, {}, { skipped: [skip(1)] }];
        const all = await Promise.all([
          accepted(each),
          accepted(each.toReversed()),
          accepted([{}]),
        ]);
        assert.deepEqual(
          all.map((events) => events.map(({ deliveries, skipped }) => [deliveries, skipped])),
          [
            [
              [1, [skip(0)]],
              [2, undefined],
              [1, [skip(1)]],
            ],
            [
              [1, [skip(1)]],
              [2, undefined],
              [1, [skip(0)]],
            ],
            [[2, undefined]],
          ],
        );
        for (const [i, expected] of [[1], [0, 1], [0]].entries()) {
          assert.deepEqual(await reached(all[0][i] ?? { id: '' }), expected);
        }
      });

      it('does so whether the listeners are cached or not', async () => {
        await subscribed({ callbacks: [callback(0, 'a'), callback(1, 'a')] });
        for (let n = 0; n <= limits.listenerCacheSteadyTimes + 2; n += 1) {
          const [all, some] = await accepted([{}, { skipped: [skip(0)] }]);
          assert.deepEqual([all?.deliveries, some?.deliveries], [2, 1]);
        }
      });

      it('does so for an addressed subscription, too', async () => {
        const { id } = await subscribed({ callbacks: [callback(0, 'a'), callback(1, 'a')] });
        const audience: Audience = { kind: 'subscription', id };
        const [one] = await accepted([{ skipped: [skip(1)] }], { audience });
        assert(one);
        assert.deepEqual(await reached(one), [0]);
      });

      it('answers a repeated request with the same', async () => {
        await subscribed({ callbacks: [callback(0, 'a'), callback(1, 'a')] });
        const idempotency = { key: digest(on.newId()), print: digest('print') };
        const request = (): EditInput<'publish'> =>
          input([{ skipped: [skip(0), skip(1)] }, {}], { idempotency });
        const first = await on.store.edit('publish', request());
        const second = await on.store.edit('publish', request());
        assert.equal(second.kind, 'repeated');
        assert.deepEqual(acceptedIn(second), acceptedIn(first));
        assert.deepEqual(acceptedIn(second)[0]?.skipped, [skip(0), skip(1)]);
      });
    });

    it('is the same for deliveries that are sent again, after the subscription has changed', async () => {
      const one = await subscribed({ callbacks: [callback(0, 'a'), callback(1, 'b')] });
      const { output, fresh } = await on.dispatcher.publish(
        { room: 9 },
        input([{ skipped: [skip(1)] }]),
      );
      const [event] = acceptedIn(output);
      assert(event);
      for (const leased of fresh) await on.store.settle(settlementOf(leased, 'delivered', 0));
      await edit(one, { events: [{ position: 1, events: ['a'] }] });
      const retried = { appNo: on.app.no, event: event.id, n: 0 };
      assert.deepEqual(await on.store.edit('retryDelivery', retried), {
        kind: 'due',
        n: 1,
        customer: undefined,
      });
      assert.deepEqual(await reached(event), [0, 0]);
    });

    it('is applied by every step of a fan-out', async () => {
      const length = limits.callbacksPerSubscriptionMax;
      const callbacks = Array.from({ length }, (_, at) => callback(at, at % 2 === 0 ? 'a' : '*'));
      const many: Subscription[] = [];
      while (many.length * length <= limits.fanOutStepMax + limits.targetsAtOnceMax) {
        many.push(await subscribed({ callbacks }));
      }
      const [one] = await accepted([{ skipped: [skip(0), skip(3)] }]);
      assert(one);
      assert.equal(one.deliveries, undefined);
      assert.deepEqual(plain(one.skipped), [skip(0), skip(3)]);
      let steps = 1;
      while ((await on.dispatcher.fanOut({ room: 0 })).fannedOut.isMore) steps += 1;
      assert.ok(steps > 1, `${steps} steps`);
      const found = await on.store.read('event', { appNo: on.app.no, id: one.id });
      assert.equal(found?.deliveries, many.length * (length - 2));
      const positions = new Set(await reached(one));
      assert.ok(!positions.has(0) && !positions.has(3) && positions.has(1), String([...positions]));
    });
  });
}

function acceptedIn(output: EditOutput<'publish'>): readonly Accepted[] {
  assert(output.kind === 'accepted' || output.kind === 'repeated', output.kind);
  return output.events;
}
