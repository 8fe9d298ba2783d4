// The contract of the Store port: subjects of subscriptions and events, unconfirmed subscriptions, and final callbacks.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import type { Leased } from '../../src/core/domain/delivery.ts';
import { subjectBeforeAnswer, type Subscription } from '../../src/core/domain/subscription.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { NewEvent } from '../../src/store/port/delivery-verbs.ts';
import type { EditInput, EditOutput } from '../../src/store/port/store.ts';
import { controlsStage } from './controls-stage.ts';
import { settlementOf } from './settlement.ts';
import { callback, digest, inactive, newApp, type OpenSubject, plain } from './subject.ts';

export function subjectContract(name: string, open: OpenSubject): void {
  describe(`the subject contract: ${name}`, () => {
    const { on, find, subscribed, tryEdit, publishInput } = controlsStage(open);
    const { clock, newId } = on;
    const onA = [callback(0, 'a')];
    const everyone = { kind: 'everyone' } as const;
    const anySubject = { kind: 'any_subject' } as const;

    async function publish(
      events: readonly Partial<NewEvent>[],
      changes: Partial<EditInput<'publish'>> = {},
    ): Promise<EditOutput<'publish'>> {
      const [event] = publishInput('a').events;
      assert(event);
      return on.store.edit('publish', {
        ...publishInput('a'),
        events: events.map((one) => ({ ...event, id: newId(), ...one })),
        ...changes,
      });
    }

    async function reached(
      event: Partial<NewEvent>,
      audience: EditInput<'publish'>['audience'] = everyone,
    ): Promise<number | undefined | string> {
      const output = await publish([event], { audience });
      return output.kind === 'accepted' ? output.events[0]?.deliveries : output.kind;
    }

    async function confirm(
      { id }: Pick<Subscription, 'id'>,
      changes: Partial<EditInput<'confirmSubscription'>> = {},
    ): Promise<Subscription> {
      const input = { appNo: on.app.no, id, ...changes };
      const output = await on.store.edit('confirmSubscription', input);
      assert(output.kind === 'confirmed', output.kind);
      assert.deepEqual(await find(id), output.subscription);
      return output.subscription;
    }

    /** Its pending deliveries, leased; those of other tests are leased, too. */
    async function claimed({ id }: Subscription): Promise<readonly Leased[]> {
      const all = (await on.dispatcher.claim({ room: 999, laneRoom: 99 })).claimed;
      const callbacks = all.map((one) => one.callback);
      const targets = await on.store.read('targets', { callbacks });
      const own = targets.filter(({ subscription }) => subscription === id);
      return all.filter((one) => own.some((target) => target.callback === one.callback));
    }

    describe('publish', () => {
      it('reaches subscriptions with the subject of the event, and those without one', async () => {
        await subscribed({ callbacks: [callback(0, 'a.*')] });
        await subscribed({ callbacks: [callback(0, 'a.b a.*'), callback(1, '*')], subject: 'one' });
        await subscribed({ callbacks: [callback(0, 'a.b')], subject: 'two' });
        assert.equal(await reached({ name: 'a.b', subject: 'one' }), 3);
        assert.equal(await reached({ name: 'a.b', subject: 'two' }), 2);
        assert.equal(await reached({ name: 'a.b', subject: 'three' }), 1);
        assert.equal(await reached({ name: 'a.c', subject: 'two' }), 1);
        assert.equal(await reached({ name: 'a.b', subject: 'three' }, anySubject), 4);
        assert.equal(await reached({ name: 'a.b' }, anySubject), 4);
      });

      it('requires a subject only if it matters to a subscription', async () => {
        const ended = await subscribed({ callbacks: onA, subject: 'one' });
        assert.equal(await reached({}), 'subject_missing');
        assert.equal(await reached({ name: 'b' }), 0);
        const events = [{ name: 'b' }, { id: newId(), name: 'a' }];
        const output = await publish(events);
        assert.deepEqual(output, { kind: 'subject_missing', event: events[1]?.id });
        const found = await on.store.read('events', {
          appNo: on.app.no,
          page: { limit: 9, after: undefined },
          name: undefined,
        });
        assert.deepEqual(
          found.items.map((one) => one.name),
          ['b'],
          'a refused publish writes nothing',
        );
        await on.store.edit('unsubscribe', { appNo: on.app.no, id: ended.id });
        assert.equal(await reached({}), 0);
      });

      it('is not confused by names that look like keys, nor by own events', async () => {
        await subscribed({ callbacks: [callback(0, 'ringback.event.rejected')], subject: 'one' });
        const output = await publish([{ name: 'ringback.event.rejected' }], { contract: '' });
        assert(output.kind === 'accepted');
        assert.equal(output.events[0]?.deliveries, 1);
        assert.equal(await reached({}), 0);
      });

      it('of an addressed subscription tells its subject from others, and keeps it', async () => {
        const one = await subscribed({ callbacks: onA, subject: 'one' });
        const audience = { kind: 'subscription', id: one.id } as const;
        assert.equal(await reached({ subject: 'two' }, audience), 0);
        assert.equal(await reached({ subject: 'one' }, audience), 1);
        const output = await publish([{}], { audience });
        assert(output.kind === 'accepted');
        const id = output.events[0]?.id ?? '';
        assert.equal(output.events[0]?.deliveries, 1);
        assert.equal((await on.store.read('event', { appNo: on.app.no, id }))?.subject, 'one');
      });

      it('reaches many by a fan-out, whatever their subjects', async () => {
        const length = limits.callbacksPerSubscriptionMax;
        const callbacks = Array.from({ length }, (_, at) => callback(at, 'a'));
        const count = Math.ceil((limits.targetsAtOnceMax + 1) / length);
        for (let i = 0; i < count; i += 1) await subscribed({ callbacks, subject: 'many' });
        await subscribed({ callbacks: onA, subject: 'other' });
        for (const [audience, most] of [
          [everyone, count * length],
          [anySubject, count * length + 1],
        ] as const) {
          const output = await publish([{ subject: 'many' }], { audience });
          assert(output.kind === 'accepted');
          const id = output.events[0]?.id ?? '';
          assert.equal(output.events[0]?.deliveries, undefined);
          while ((await on.dispatcher.fanOut({ room: 0 })).fannedOut.isMore);
          const found = await on.store.read('event', { appNo: on.app.no, id });
          assert.equal(found?.deliveries, most);
        }
      });
    });

    describe('an unconfirmed subscription', () => {
      const unconfirmed = async (changes = {}): Promise<Subscription> =>
        subscribed({ callbacks: onA, confirmByMs: clock.ms + 10, ...changes });

      it('is not found by a publish, and cannot be changed, until it is confirmed', async () => {
        const one = await unconfirmed({ callbacks: [...onA, inactive(1, 'a')] });
        assert.deepEqual([one.state, one.confirmByMs], ['unconfirmed', clock.ms + 10]);
        assert.equal(await reached({}), 0);
        assert.deepEqual(await tryEdit(one, { state: 'active' }), { kind: 'unconfirmed' });
        const listed = await on.store.read('subscriptions', {
          appNo: on.app.no,
          page: { limit: 9, after: undefined },
          state: 'unconfirmed',
        });
        assert.deepEqual(listed.items, [one]);
        const confirmed = await confirm(one);
        assert.deepEqual([confirmed.state, confirmed.confirmByMs], ['active', undefined]);
        assert.deepEqual(confirmed.controls, noControls);
        assert.equal(await reached({}), 1);
        assert.deepEqual(await confirm(one), confirmed);
        assert.equal((await claimed(one)).length, 1);
      });

      it('gets its subject, expiry, headers and missing targets when it is confirmed', async () => {
        const callbacks = [callback(0, 'a'), inactive(1, 'a'), inactive(2, 'a')];
        const one = await unconfirmed({ callbacks });
        const given = [callback(0, 'x'), callback(1, 'b'), callback(2, 'c')];
        const more = { ...callback(3, 'd'), definition: given[1]?.definition ?? '' };
        const filled = {
          subject: 'one',
          expiresMs: clock.ms + 99,
          headers: digest('headers'),
          callbacks: [...given, more],
        };
        const confirmed = await confirm(one, filled);
        assert.deepEqual(
          [confirmed.subject, confirmed.controls.expiresMs, plain(confirmed.headers)],
          ['one', clock.ms + 99, plain(filled.headers)],
        );
        assert.deepEqual(
          confirmed.callbacks.map(({ position, events, inactive: why }) => [position, events, why]),
          [
            [0, ['a'], undefined],
            [1, ['b'], undefined],
            [2, ['c'], undefined],
            [3, ['d'], undefined],
          ],
        );
        for (const event of ['a', 'b', 'c', 'd']) {
          assert.equal(await reached({ name: event, subject: 'one' }), 1, event);
          assert.equal(await reached({ name: event, subject: 'two' }), 0, event);
        }
        const again = { subject: 'two', expiresMs: 1, headers: digest('other'), callbacks: given };
        assert.deepEqual(await confirm(one, again), confirmed);
      });

      it('is completed even if a publish confirmed it first', async () => {
        const one = await unconfirmed({ callbacks: [callback(0, 'a'), inactive(1, 'b')] });
        const early = await confirm(one);
        assert.equal(await reached({}), 1);
        const late = await confirm(one, { subject: 'one', callbacks: [callback(1, 'b')] });
        assert(late.version > early.version);
        assert.deepEqual(
          [late.subject, late.controls.expiresMs],
          ['one', clock.ms + limits.subjectKeepMs],
        );
        assert.equal(await reached({}), 'subject_missing');
        assert.deepEqual(
          [
            await reached({ subject: 'one' }),
            await reached({ subject: 'two' }),
            await reached({ name: 'b', subject: 'one' }),
          ],
          [1, 0, 1],
        );
      });

      it('keeps the request that made it, and the status of the answer', async () => {
        const request = { requestId: 'req_1', status: undefined };
        const one = await unconfirmed({ exchange: request });
        assert.deepEqual(one.exchange, request);
        assert.deepEqual((await confirm(one)).exchange, request);
        const confirmed = await confirm(one, { status: 201 });
        assert.deepEqual(confirmed.exchange, { ...request, status: 201 });
        const other = await unconfirmed({ exchange: request });
        const refusal = { appNo: on.app.no, id: other.id, reason: 'refused', status: 409 } as const;
        const refused = await on.store.edit('unsubscribe', refusal);
        assert(refused.kind === 'ended');
        const { endReason, exchange } = refused.subscription;
        assert.deepEqual([endReason, exchange], ['refused', { ...request, status: 409 }]);
        await on.store.edit('unsubscribe', { ...refusal, status: 500 });
        assert.deepEqual((await find(other.id))?.exchange, exchange);
        const whole = { requestId: 'req_2', status: 202 };
        assert.deepEqual((await subscribed({ callbacks: onA, exchange: whole })).exchange, whole);
      });

      it('has its id as subject until its own is known', async () => {
        const id = newId();
        const before = subjectBeforeAnswer(id);
        const one = await unconfirmed({ id, subject: before });
        assert.equal((await confirm(one)).subject, before);
        assert.deepEqual(
          [await reached({ subject: before }), await reached({ subject: 'one' })],
          [1, 0],
        );
        const byId = { kind: 'subscription', id } as const;
        assert.equal(await reached({ subject: 'one' }, byId), 1);
        const named = await confirm(one, { subject: 'one' });
        assert.equal(named.subject, 'one');
        assert.deepEqual(
          [await reached({ subject: before }), await reached({ subject: 'one' })],
          [0, 1],
        );
        assert.equal(await reached({ subject: 'two' }, byId), 0);
        assert.equal((await confirm(one, { subject: 'two' })).subject, 'one');
      });

      it('says why a callback stays inactive', async () => {
        const one = await unconfirmed({ callbacks: [...onA, inactive(1, 'a')] });
        const reasons = async (given: string): Promise<unknown[]> => {
          const why = { ...inactive(1, 'a'), inactive: given };
          const { callbacks } = await confirm(one, { callbacks: [callback(0, 'x'), why] });
          return callbacks.map((each) => each.inactive);
        };
        assert.deepEqual(await reasons('its host is forbidden'), [
          undefined,
          'its host is forbidden',
        ]);
        assert.deepEqual(await reasons('it has no scheme'), [undefined, 'it has no scheme']);
      });

      it('is reported by a publish that names it, which writes nothing', async () => {
        const one = await unconfirmed({ subject: 'one' });
        const named = { kind: 'unconfirmed', ids: [one.id] };
        const before = { key: digest(newId()), print: digest('print') };
        const byId = {
          audience: { kind: 'subscription', id: one.id },
          idempotency: before,
        } as const;
        assert.deepEqual(await publish([{}], byId), named);
        const bySubject = { idempotency: before };
        assert.deepEqual(await publish([{ subject: 'one' }], bySubject), named);
        assert.equal(await reached({ subject: 'two' }), 0);
        const elsewhere = { contract: 'Other' };
        assert.equal((await publish([{ subject: 'one' }], elsewhere)).kind, 'accepted');
        await confirm(one);
        const published = await publish([{ subject: 'one' }], bySubject);
        assert(published.kind === 'accepted');
        assert.equal(published.events[0]?.deliveries, 1);
      });

      it('ends if it is not confirmed in time, and says so', async () => {
        const left = await on.store.read('expiring', { beforeMs: clock.ms, limit: 64 });
        for (const old of left.expired) await on.store.edit('expireSubscription', old);
        const one = await unconfirmed({ subject: 'one' });
        const input = { appNo: on.app.no, id: one.id };
        clock.ms += 9;
        const read = { beforeMs: clock.ms, limit: 9 };
        const { expired, nextMs } = await on.store.read('expiring', read);
        assert.deepEqual([expired, nextMs], [[], clock.ms + 1]);
        assert.deepEqual(await on.store.edit('expireSubscription', input), { kind: 'kept' });
        clock.ms += 1;
        const due = await on.store.read('expiring', { ...read, beforeMs: clock.ms });
        assert.deepEqual(due.expired, [input]);
        assert.deepEqual(await on.store.edit('expireSubscription', input), { kind: 'ended' });
        const ended = await find(one.id);
        assert.deepEqual([ended?.state, ended?.endReason], ['ended', 'unconfirmed']);
        assert.equal((await on.store.edit('confirmSubscription', input)).kind, 'ended');
        assert.equal(await reached({ subject: 'one' }), 0);
        const app = await newApp(on.store);
        const foreign = { appNo: app.no, id: one.id };
        assert.equal((await on.store.edit('confirmSubscription', foreign)).kind, 'not_found');
      });

      it('replaces the subscription of its resource only when it is confirmed', async () => {
        const resource = digest('PUT /hook').toString();
        const earlier = await subscribed({ callbacks: onA, resource });
        const one = await unconfirmed();
        assert.equal((await find(earlier.id))?.state, 'active');
        const input = { appNo: on.app.no, id: one.id, resource };
        const output = await on.store.edit('confirmSubscription', input);
        assert(output.kind === 'confirmed');
        assert.equal(output.replaced, earlier.id);
        const ended = await find(earlier.id);
        assert.deepEqual([ended?.state, ended?.endReason], ['ended', 'replaced']);
        assert.equal(await reached({}), 1);
        const of = await on.store.read('subscriptionOf', { appNo: on.app.no, resource });
        assert.equal(of, one.id);
        await confirm(one, { resource });
        assert.equal((await find(one.id))?.state, 'active');
        const early = await unconfirmed();
        await confirm(early);
        assert.equal((await find(one.id))?.state, 'active', 'its resource is not known yet');
        await confirm(early, { resource });
        assert.equal((await find(one.id))?.endReason, 'replaced');
        assert.equal((await find(early.id))?.state, 'active');
      });
    });

    describe('a final delivery', () => {
      const finals = onA.map(({ definition }) => definition);

      for (const kind of ['delivered', 'dead'] as const) {
        it(`ends the subscription when it is ${kind}`, async () => {
          const one = await subscribed({ callbacks: onA, subject: newId() });
          await publish([{ subject: one.subject }, { subject: one.subject }]);
          const [first] = await claimed(one);
          assert(first);
          const retried = settlementOf(first, 'released', clock.ms);
          await on.store.settle({ ...retried, finals });
          assert.equal((await find(one.id))?.state, 'active', 'a retry is not the end');
          const [again] = await claimed(one);
          assert(again);
          const settled = await on.store.settle({
            ...settlementOf(again, kind, clock.ms),
            finals,
          });
          assert(settled.kind === 'gone');
          assert.equal(settled.subscription, one.id);
          const ended = await find(one.id);
          assert.deepEqual([ended?.state, ended?.endReason], ['ended', 'final']);
          assert.equal(await reached({ subject: one.subject }), 0);
          const { event, n } = again;
          const retry = await on.store.edit('retryDelivery', { event, n, appNo: on.app.no });
          assert.equal(retry.kind, 'ended');
        });
      }

      it('waits for the others of its event, and not for callbacks that are not final', async () => {
        const two = ['a', 'b'].map((event, at) => ({ ...callback(at, event), definition: 'two' }));
        const callbacks = [...two, { ...callback(2, 'a'), definition: 'two' }, callback(3, 'a')];
        const one = await subscribed({ callbacks, subject: newId() });
        const { subject } = one;
        await publish([{ subject }]);
        await publish([{ subject, name: 'b' }]);
        const found = (await claimed(one)).filter(({ eventName }) => eventName === 'a');
        const [event, other] = found.toSorted((a, b) => a.callback - b.callback);
        assert(found.length === 3 && event !== undefined && other !== undefined);
        const settle = async (settled: Leased, outcome: 'delivered' | 'dead') =>
          on.store.settle({ ...settlementOf(settled, outcome, clock.ms), finals: ['two'] });
        assert.equal((await settle(event, 'delivered')).kind, 'settled');
        assert.equal((await find(one.id))?.state, 'active', 'the other URL is still to be sent to');
        assert.equal((await settle(other, 'dead')).kind, 'gone');
        assert.equal((await find(one.id))?.endReason, 'final');
      });

      it('waits for those that a fan-out in progress has yet to make', async () => {
        const length = limits.callbacksPerSubscriptionMax;
        const callbacks = Array.from({ length }, (_, at) => {
          return { ...callback(at, 'a'), definition: 'many' };
        });
        const subject = newId();
        const one = await subscribed({ callbacks, subject });
        const count = Math.ceil((limits.targetsAtOnceMax + 1) / length);
        for (let i = 1; i < count; i += 1) await subscribed({ callbacks, subject });
        assert.equal(await reached({ subject }), undefined);
        const settleAll = async (): Promise<string[]> => {
          const kinds: string[] = [];
          for (const leased of await claimed(one)) {
            const settlement = settlementOf(leased, 'delivered', clock.ms);
            kinds.push((await on.store.settle({ ...settlement, finals: ['many'] })).kind);
          }
          return kinds;
        };
        await on.dispatcher.fanOut({ room: 0 });
        const early = await settleAll();
        assert(early.length > 0 && early.length < length, `${early.length} in the first step`);
        assert(early.every((kind) => kind === 'settled'));
        assert.equal((await find(one.id))?.state, 'active');
        while ((await on.dispatcher.fanOut({ room: 0 })).fannedOut.isMore);
        const late = await settleAll();
        assert.equal(early.length + late.length, length);
        assert.deepEqual([late.indexOf('gone'), late.at(-1)], [late.length - 1, 'gone']);
        assert.equal((await find(one.id))?.endReason, 'final');
      });

      it('of several that are settled together ends its subscription once', async () => {
        const two = ['a', 'a'].map((event, at) => ({ ...callback(at, event), definition: 'two' }));
        const one = await subscribed({ callbacks: two, subject: newId() });
        await publish([{ subject: one.subject }]);
        const found = await claimed(one);
        assert.equal(found.length, 2);
        const settled = await Promise.all(
          found.map(async (leased) =>
            on.store.settle({ ...settlementOf(leased, 'delivered', clock.ms), finals: ['two'] }),
          ),
        );
        assert.deepEqual(settled.map(({ kind }) => kind).toSorted(), ['gone', 'settled']);
        assert.equal((await find(one.id))?.endReason, 'final');
      });

      it('that a replay sends again ends nothing that came later', async () => {
        const resource = digest('PUT /again').toString();
        const earlier = await subscribed({ callbacks: onA, subject: 'again', resource });
        await publish([{ subject: 'again' }]);
        const [first] = await claimed(earlier);
        assert(first);
        await on.store.settle({ ...settlementOf(first, 'delivered', clock.ms), finals });
        const later = await subscribed({ callbacks: onA, subject: 'again', resource });
        const { event, n } = first;
        const again = await on.store.edit('retryDelivery', { event, n, appNo: on.app.no });
        assert.equal(again.kind, 'ended');
        const late = await on.store.settle({
          ...settlementOf(first, 'delivered', clock.ms),
          finals,
        });
        assert.equal(late.kind, 'stale');
        assert.equal((await find(later.id))?.state, 'active');
      });
    });
  });
}
