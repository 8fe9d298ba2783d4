// The contract of the Store port: subscribe and unsubscribe.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { App } from '../../src/core/domain/app.ts';
import type { NewSubscription } from '../../src/store/port/store.ts';
import { newId } from './open-memory.ts';
import { subscriptionStage } from './subscription-stage.ts';
import {
  callback,
  digest,
  inactive,
  newApp,
  newSubscription,
  type OpenSubject,
  plain,
} from './subject.ts';

export function subscribeContract(name: string, open: OpenSubject): void {
  describe(`the store contract: ${name}`, () => {
    const { on, paused, find, subscribed } = subscriptionStage(open);
    const { clock } = on;

    describe('subscribe', () => {
      it('stores the subscription as given', async () => {
        const app = await newApp(on.store);
        const input = newSubscription(app, {
          callbacks: [callback(0, 'a.*'), inactive(1, 'b'), callback(2, '*')],
        });
        const output = await on.store.edit('subscribe', {
          subscription: input,
          idempotency: undefined,
        });
        assert(output.kind === 'created');
        assert.deepEqual(plain(output.subscription), {
          id: input.id,
          appNo: app.no,
          contract: input.contract,
          operation: input.operation,
          state: 'active',
          subject: undefined,
          customer: undefined,
          callbacks: input.callbacks,
          secrets: plain(input.secrets),
          controls: noControls,
          headers: undefined,
          version: output.subscription.version,
          createdMs: clock.ms,
          endedMs: undefined,
          endReason: undefined,
          confirmByMs: undefined,
          exchange: undefined,
        });
        assert(output.subscription.version >= 1);
        assert.deepEqual(await find(app, input.id), output.subscription);
      });

      it('answers a repeated request with the first subscription, and writes nothing', async () => {
        const app = await newApp(on.store);
        const idempotency = { key: digest(newId()), print: digest('request') };
        const first = newSubscription(app);
        const created = await on.store.edit('subscribe', { subscription: first, idempotency });
        assert(created.kind === 'created');
        const second = newSubscription(app);
        const repeated = await on.store.edit('subscribe', { subscription: second, idempotency });
        assert.deepEqual(repeated, {
          kind: 'repeated',
          subscription: created.subscription,
          isReplacing: false,
        });
        assert.equal(await find(app, second.id), undefined);
      });

      it('refuses the key of another request, and writes nothing', async () => {
        const app = await newApp(on.store);
        const key = digest(newId());
        const idempotency = { key, print: digest('one') };
        await on.store.edit('subscribe', { subscription: newSubscription(app), idempotency });
        const second = newSubscription(app);
        const output = await on.store.edit('subscribe', {
          subscription: second,
          idempotency: { key, print: digest('two') },
        });
        assert.deepEqual(output, { kind: 'mismatch' });
        assert.equal(await find(app, second.id), undefined);
      });

      it('keeps idempotency keys of apps apart', async () => {
        const idempotency = { key: digest(newId()), print: digest('request') };
        for (const app of [await newApp(on.store), await newApp(on.store)]) {
          const subscription = newSubscription(app);
          const output = await on.store.edit('subscribe', { subscription, idempotency });
          assert.equal(output.kind, 'created');
        }
      });

      it('deduplicates two equal keys in one batch', async () => {
        const app = await newApp(on.store);
        const idempotency = { key: digest(newId()), print: digest('request') };
        const other = { ...idempotency, print: digest('other') };
        const outputs = await Promise.all(
          // The first is sent alone; the others form one batch.
          [undefined, idempotency, idempotency, other, idempotency].map(async (each) =>
            on.store.edit('subscribe', { subscription: newSubscription(app), idempotency: each }),
          ),
        );
        assert.deepEqual(
          outputs.map(({ kind }) => kind),
          ['created', 'created', 'repeated', 'mismatch', 'repeated'],
        );
        const ids = outputs.map((o) => ('subscription' in o ? o.subscription.id : ''));
        assert.equal(ids[1], ids[2]);
        assert.equal(ids[1], ids[4]);
      });

      it('expires a key exactly at its time', async () => {
        const app = await newApp(on.store);
        const idempotency = { key: digest(newId()), print: digest('one') };
        const later = { ...idempotency, print: digest('two') };
        const subscribe = async (each: typeof idempotency) => {
          const subscription = newSubscription(app);
          return (await on.store.edit('subscribe', { subscription, idempotency: each })).kind;
        };
        assert.equal(await subscribe(idempotency), 'created');
        clock.ms += limits.idempotencyKeepMs;
        assert.equal(await subscribe(idempotency), 'repeated');
        clock.ms += 1;
        assert.equal(await subscribe(later), 'created');
        assert.equal(await subscribe(later), 'repeated');
        assert.equal(await subscribe(idempotency), 'mismatch');
      });
    });

    describe('subscribe at a resource', () => {
      const resource = digest('PUT /hook').toString();

      async function put(app: App, changes: Partial<NewSubscription> = {}) {
        const subscription = newSubscription(app, { resource, ...changes });
        const output = await on.store.edit('subscribe', { subscription, idempotency: undefined });
        assert(output.kind === 'created', output.kind);
        return output;
      }

      it('replaces the earlier subscription there', async () => {
        const [app, other] = [await newApp(on.store), await newApp(on.store)];
        const first = await put(app);
        assert.equal(first.replaced, undefined);
        const apart = [await put(other), await put(app, { resource: `${resource}2` })];
        const second = await put(app);
        assert.equal(second.replaced, first.subscription.id);
        assert.deepEqual(
          apart.map(({ replaced }) => replaced),
          [undefined, undefined],
        );
        assert.equal((await find(app, first.subscription.id))?.state, 'ended');
        const input = { appNo: app.no, resource };
        assert.equal(await on.store.read('subscriptionOf', input), second.subscription.id);
        await on.store.edit('unsubscribe', { appNo: app.no, id: second.subscription.id });
        assert.equal(await on.store.read('subscriptionOf', input), undefined);
        assert.equal((await put(app)).replaced, undefined);
      });

      it('leaves one of many concurrent subscriptions, and does not need additional quota', async () => {
        const app = await newApp(on.store);
        const made = await Promise.all(
          Array.from({ length: 4 }, async () => {
            const subscription = newSubscription(app, { resource });
            const input = { subscription, idempotency: undefined, subscriptionsMax: 1 };
            const output = await on.store.edit('subscribe', input);
            assert(output.kind === 'created', output.kind);
            return output;
          }),
        );
        const ids = made.map(({ subscription }) => subscription.id);
        const states = await Promise.all(ids.map(async (id) => (await find(app, id))?.state));
        assert.deepEqual(
          states.filter((state) => state !== 'ended'),
          ['active'],
        );
        assert.equal(new Set(made.map(({ replaced }) => replaced)).size, 4);
      });

      it('tells a repeated request whether the first one replaced', async () => {
        const app = await newApp(on.store);
        const ask = async (request: string) => {
          const idempotency = { key: digest(`${app.no} ${request}`), print: digest(request) };
          const subscription = newSubscription(app, { resource });
          return on.store.edit('subscribe', { subscription, idempotency });
        };
        const [first, again] = [await ask('first'), await ask('first')];
        const [second, repeated] = [await ask('second'), await ask('second')];
        assert(first.kind === 'created' && again.kind === 'repeated');
        assert(second.kind === 'created' && repeated.kind === 'repeated');
        assert.equal(again.isReplacing, false);
        assert.equal(second.replaced, first.subscription.id);
        assert.deepEqual(repeated, {
          kind: 'repeated',
          subscription: second.subscription,
          isReplacing: true,
        });
        const still = await ask('first');
        assert(still.kind === 'repeated');
        assert.equal(still.subscription.state, 'ended');
        assert.equal((await find(app, second.subscription.id))?.state, 'active');
      });

      it('ends the subscription there by clearResource, once for an idempotency key', async () => {
        const app = await newApp(on.store);
        const { subscription } = await put(app);
        const apart = await put(app, { resource: `${resource}2` });
        const clear = async (request: string, more: { resource?: undefined } = {}) => {
          const idempotency = { key: digest(`${app.no} clear`), print: digest(request) };
          const input = { appNo: app.no, resource, idempotency, ...more };
          return on.store.edit('clearResource', input);
        };
        assert.deepEqual(await clear('one'), {
          kind: 'cleared',
          ended: subscription.id,
          customer: undefined,
        });
        assert.equal((await find(app, subscription.id))?.state, 'ended');
        const next = await put(app);
        assert.equal(next.replaced, undefined);
        assert.deepEqual(await clear('one'), { kind: 'repeated', isReplacing: true });
        assert.deepEqual(await clear('two'), { kind: 'mismatch' });
        assert.equal((await find(app, next.subscription.id))?.state, 'active');
        assert.equal((await find(app, apart.subscription.id))?.state, 'active');
        const none = { appNo: app.no, resource: `${resource}3`, idempotency: undefined };
        assert.deepEqual(await on.store.edit('clearResource', none), {
          kind: 'cleared',
          ended: undefined,
          customer: undefined,
        });
      });

      it('keeps the earlier one when the new one is refused', async () => {
        const app = await newApp(on.store);
        const { subscription: kept } = await put(app);
        const expired = { ...noControls, expiresMs: clock.ms };
        const subscription = newSubscription(app, { resource, controls: expired });
        const output = await on.store.edit('subscribe', { subscription, idempotency: undefined });
        assert.equal(output.kind, 'expired');
        assert.equal((await find(app, kept.id))?.state, 'active');
      });
    });

    describe('subscription', () => {
      it("treats another app's subscription as unknown", async () => {
        const [app, other] = [await newApp(on.store), await newApp(on.store)];
        const { id, version } = await subscribed(app);
        const input = { appNo: other.no, id };
        assert.equal(await on.store.read('subscription', input), undefined);
        assert.deepEqual(await on.store.edit('unsubscribe', input), { kind: 'not_found' });
        const output = await on.store.edit('editSubscription', { ...input, version, ...paused });
        assert.deepEqual(output, { kind: 'not_found' });
        assert.equal((await find(app, id))?.state, 'active');
      });

      it('returns undefined for an unknown one', async () => {
        const app = await newApp(on.store);
        assert.equal(await find(app, newId()), undefined);
      });
    });

    describe('unsubscribe', () => {
      it('ends it and keeps its row', async () => {
        const app = await newApp(on.store);
        const before_ = await subscribed(app);
        clock.ms += 1;
        const output = await on.store.edit('unsubscribe', { appNo: app.no, id: before_.id });
        assert(output.kind === 'ended');
        const { version } = output.subscription;
        assert(version > before_.version);
        assert.deepEqual(output.subscription, {
          ...before_,
          state: 'ended',
          endedMs: clock.ms,
          endReason: 'unsubscribed',
          version,
        });
        assert.deepEqual(await find(app, before_.id), output.subscription);
      });

      it('changes nothing the second time', async () => {
        const app = await newApp(on.store);
        const { id } = await subscribed(app);
        const first = await on.store.edit('unsubscribe', { appNo: app.no, id });
        clock.ms += 1000;
        const second = await on.store.edit('unsubscribe', { appNo: app.no, id });
        assert.deepEqual(second, { ...first, isRepeated: true });
      });

      it('does not know an unknown one', async () => {
        const app = await newApp(on.store);
        const output = await on.store.edit('unsubscribe', { appNo: app.no, id: newId() });
        assert.deepEqual(output, { kind: 'not_found' });
      });
    });
  });
}
