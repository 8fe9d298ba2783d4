// The contract of the Store port: customers of subscriptions and events.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { Subscription } from '../../src/core/domain/subscription.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { NewEvent } from '../../src/store/port/delivery-verbs.ts';
import type { EditInput, EditOutput } from '../../src/store/port/store.ts';
import { controlsStage } from './controls-stage.ts';
import { none, page } from './notice-stage.ts';
import { settlementOf } from './settlement.ts';
import { callback, type OpenSubject } from './subject.ts';

export function customerContract(name: string, open: OpenSubject): void {
  describe(`the customer contract: ${name}`, () => {
    const { on, subscribed, edit, publishInput } = controlsStage(open);
    const { clock, newId } = on;
    const onA = [callback(0, 'a')];
    const everyone = { kind: 'everyone' } as const;

    async function publish(
      event: Partial<NewEvent>,
      audience: EditInput<'publish'>['audience'] = everyone,
    ): Promise<EditOutput<'publish'>> {
      const events = [{ ...publishInput('a').events[0], ...event }] as NewEvent[];
      return on.store.edit('publish', { ...publishInput('a'), events, audience });
    }

    /** The subscriptions that get a delivery of the event, or why there is none. */
    async function reached(
      event: Partial<NewEvent>,
      audience: EditInput<'publish'>['audience'] = everyone,
    ): Promise<readonly string[] | string> {
      const output = await publish(event, audience);
      if (output.kind !== 'accepted') return output.kind;
      const filter = { ...none, event: output.events[0]?.id };
      const { items } = await on.store.read('deliveries', { appNo: on.app.no, page, filter });
      return items.map((one) => one.subscription).toSorted();
    }

    const idsOf = (...some: readonly Subscription[]): string[] =>
      some.map(({ id }) => id).toSorted();

    describe('publish', () => {
      it('of a customer reaches only its subscriptions, without one those of all', async () => {
        const one = await subscribed({ callbacks: onA, customer: 'cus_1' });
        const two = await subscribed({ callbacks: [callback(0, '*')], customer: 'cus_2' });
        const noCustomer = await subscribed({ callbacks: onA });
        assert.deepEqual(await reached({ customer: 'cus_1' }), idsOf(one));
        assert.deepEqual(await reached({ customer: 'cus_2' }), idsOf(two));
        assert.deepEqual(await reached({ customer: 'cus_3' }), []);
        assert.deepEqual(await reached({}), idsOf(one, two, noCustomer));
      });

      it('needs both to match: the subject and the customer', async () => {
        const subject = 'job';
        const one = await subscribed({ callbacks: onA, subject, customer: 'cus_1' });
        const two = await subscribed({ callbacks: onA, subject, customer: 'cus_2' });
        const any = await subscribed({ callbacks: onA, customer: 'cus_1' });
        assert.deepEqual(await reached({ subject, customer: 'cus_1' }), idsOf(one, any));
        assert.deepEqual(await reached({ subject: 'other', customer: 'cus_1' }), idsOf(any));
        assert.deepEqual(await reached({ subject }), idsOf(one, two, any));
        assert.deepEqual(await reached({ subject: 'other', customer: 'cus_2' }), []);
        assert.equal(await reached({ customer: 'cus_1' }), 'subject_missing');
        assert.deepEqual(await reached({ customer: 'cus_3' }), [], 'it passes no subject by');
        const all = { kind: 'any_subject' } as const;
        assert.deepEqual(await reached({ customer: 'cus_1' }, all), idsOf(one, any));
      });

      it('is not confused by customers and subjects that look alike', async () => {
        const one = await subscribed({ callbacks: onA, customer: 'a' });
        await subscribed({ callbacks: onA, subject: 'b', customer: '*' });
        assert.deepEqual(await reached({ customer: 'a' }), idsOf(one));
        assert.deepEqual(await reached({ subject: 'a', customer: '*' }), []);
        assert.deepEqual(await reached({ subject: '*', customer: 'b' }), []);
      });

      it('to a subscription of another customer reaches nobody; without one it gets its customer', async () => {
        const one = await subscribed({ callbacks: onA, customer: 'cus_1' });
        const audience = { kind: 'subscription', id: one.id } as const;
        assert.deepEqual(await reached({ customer: 'cus_2' }, audience), []);
        assert.deepEqual(await reached({ customer: 'cus_1' }, audience), idsOf(one));
        const output = await publish({}, audience);
        assert(output.kind === 'accepted');
        const id = output.events[0]?.id ?? '';
        const found = await on.store.read('event', { appNo: on.app.no, id });
        assert.equal(found?.customer, 'cus_1');
      });

      it('reaches many by a fan-out, and only those of the customer', async () => {
        const length = limits.callbacksPerSubscriptionMax;
        const callbacks = Array.from({ length }, (_, at) => callback(at, 'a'));
        const count = Math.ceil((limits.targetsAtOnceMax + 1) / length);
        for (let i = 0; i < count; i += 1) await subscribed({ callbacks, customer: 'many' });
        await subscribed({ callbacks: onA, customer: 'other' });
        for (const [customer, most] of [
          ['many', count * length],
          [undefined, count * length + 1],
        ] as const) {
          const output = await publish({ customer });
          assert(output.kind === 'accepted');
          const id = output.events[0]?.id ?? '';
          assert.equal(output.events[0]?.deliveries, undefined);
          while ((await on.dispatcher.fanOut({ room: 0 })).fannedOut.isMore);
          const found = await on.store.read('event', { appNo: on.app.no, id });
          assert.equal(found?.deliveries, most);
        }
      });

      it('confirms only subscriptions of its customer by their subject', async () => {
        const unconfirmed = { callbacks: onA, subject: 'job', confirmByMs: clock.ms + 10 };
        const one = await subscribed({ ...unconfirmed, customer: 'cus_1' });
        assert.deepEqual(await reached({ subject: 'job', customer: 'cus_2' }), []);
        assert.deepEqual(await publish({ subject: 'job', customer: 'cus_1' }), {
          kind: 'unconfirmed',
          ids: [one.id],
        });
        assert.deepEqual(await publish({ subject: 'job' }), { kind: 'unconfirmed', ids: [one.id] });
        const confirmed = await on.store.edit('confirmSubscription', {
          appNo: on.app.no,
          id: one.id,
        });
        assert.equal(confirmed.kind, 'confirmed');
        assert.deepEqual(await reached({ subject: 'job', customer: 'cus_2' }), []);
        assert.deepEqual(await reached({ subject: 'job', customer: 'cus_1' }), idsOf(one));
      });
    });

    it('edits of the customer hold from the next publish on', async () => {
      const callbacks = [callback(0, 'a'), callback(1, 'b')];
      const one = await subscribed({ callbacks });
      assert.deepEqual(await reached({ customer: 'cus_1' }), []);
      const owned = await edit(one, { customer: 'cus_1' });
      assert.equal(owned.customer, 'cus_1');
      assert.deepEqual(await reached({ customer: 'cus_1' }), idsOf(one));
      assert.deepEqual(await reached({ name: 'b', customer: 'cus_1' }), idsOf(one));
      const moved = await edit(owned, { customer: 'cus_2' });
      assert.deepEqual(await reached({ customer: 'cus_1' }), []);
      assert.deepEqual(await reached({ customer: 'cus_2' }), idsOf(one));
      const kept = await edit(moved, { events: [{ position: 0, events: ['c'] }] });
      assert.equal(kept.customer, 'cus_2');
      assert.deepEqual(await reached({ name: 'c', customer: 'cus_2' }), idsOf(one));
      const free = await edit(kept, { customer: null });
      assert.equal(free.customer, undefined);
      assert.deepEqual(await reached({ name: 'c', customer: 'cus_2' }), []);
      assert.deepEqual(await reached({ name: 'c' }), idsOf(one));
    });

    it('notices reach the customer of the subscription that they are about, and those without one', async () => {
      const dead = 'ringback.delivery.dead';
      const mine = await subscribed({ callbacks: onA, customer: 'cus_1' });
      const watching = await subscribed({ callbacks: [callback(0, dead)], customer: 'cus_1' });
      await subscribed({ callbacks: [callback(0, 'ringback.*')], customer: 'cus_2' });
      const operator = await subscribed({ callbacks: [callback(0, dead)] });
      const fail = async (customer: string | undefined): Promise<void> => {
        const input = publishInput('a');
        const events = input.events.map((one) => ({ ...one, id: newId(), customer }));
        const { fresh } = await on.dispatcher.publish({ room: 9 }, { ...input, events });
        for (const one of fresh) await on.store.settle(settlementOf(one, 'dead', clock.ms));
      };
      await fail('cus_1');
      const notices = await on.store.read('notices', { writtenByMs: clock.ms, limit: 99 });
      const own = notices.filter(({ appNo }) => appNo === on.app.no);
      assert.deepEqual(
        own.map((one) => [one.name, one.customer]),
        [[dead, 'cus_1']],
      );
      const about = { name: dead, customer: 'cus_1' };
      const event = { ...publishInput(dead).events[0], ...about } as NewEvent;
      const output = await on.store.edit('publish', {
        ...publishInput(dead),
        contract: '',
        events: [event],
        notice: own[0]?.no ?? 0,
      });
      assert(output.kind === 'accepted');
      const filter = { ...none, event: event.id };
      const { items } = await on.store.read('deliveries', { appNo: on.app.no, page, filter });
      assert.deepEqual(items.map((one) => one.subscription).toSorted(), idsOf(watching, operator));
      await on.store.edit('unsubscribe', { appNo: on.app.no, id: watching.id });
      await on.store.edit('unsubscribe', { appNo: on.app.no, id: operator.id });
      await fail('cus_1');
      const after = await on.store.read('notices', { writtenByMs: clock.ms, limit: 99 });
      assert.deepEqual(
        after.filter(({ appNo }) => appNo === on.app.no),
        [],
        `nobody of the customer of ${mine.id} listens`,
      );
    });
  });
}
