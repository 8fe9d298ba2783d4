// The contract of the Store port: quotas of apps, and the count of subscriptions that they limit.
import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import type { App } from '../../src/core/domain/app.ts';
import { noQuotas } from '../../src/core/load/quotas.ts';
import type { EditOutput, Store } from '../../src/store/port/store.ts';
import type { OpenSubject, Subject } from './subject.ts';
import { digest, newApp, newKey, newSubscription } from './subject.ts';

export function quotaContract(name: string, open: OpenSubject): void {
  describe(`the quota contract: ${name}`, () => {
    let subject: Subject;
    let store: Store;
    before(async () => {
      subject = await open({ nowMs: () => 1_700_000_000_000 });
      store = subject.store;
    });
    after(async () => subject.dispose());

    const seen = async ({ id }: App): Promise<App> => {
      const app = await store.read('app', { id });
      assert(app !== undefined);
      return app;
    };
    const setQuota = async (app: App, subscriptions: number | null): Promise<void> => {
      const edit = { appNo: app.no, name: undefined, quotas: { subscriptions } };
      assert.equal((await store.edit('editApp', edit)).kind, 'edited');
    };
    const subscribe = async (
      app: App,
      subscriptionsMax?: number,
    ): Promise<EditOutput<'subscribe'>> =>
      store.edit('subscribe', {
        subscription: newSubscription(app),
        idempotency: undefined,
        subscriptionsMax,
      });

    describe('editApp', () => {
      it('sets given values, keeps the others, and removes those that are null', async () => {
        const app = await newApp(store);
        assert.deepEqual(app.quotas, noQuotas);
        const edit = async (quotas: object): Promise<App> => {
          const output = await store.edit('editApp', { appNo: app.no, name: undefined, quotas });
          assert(output.kind === 'edited');
          assert.deepEqual(await seen(app), output.app);
          return output.app;
        };
        await edit({ subscriptions: 0, eventsPerSecond: 5 });
        const { quotas } = await edit({ payloadBytes: 9, subscriptions: null });
        assert.deepEqual(quotas, {
          subscriptions: undefined,
          eventsPerSecond: 5,
          payloadBytes: 9,
        });
      });

      it('changes the name, unless it is taken', async () => {
        const [app, other] = [await newApp(store), await newApp(store)];
        const rename = async (to: string): Promise<EditOutput<'editApp'>> =>
          store.edit('editApp', { appNo: app.no, name: to, quotas: {} });
        assert.deepEqual(await rename(other.name), { kind: 'name_taken' });
        assert.equal((await rename(`new ${app.id}`)).kind, 'edited');
        assert.equal((await rename(`new ${app.id}`)).kind, 'edited');
        assert.equal((await seen(app)).name, `new ${app.id}`);
        const nobody = { appNo: 999_999, name: undefined, quotas: {} };
        assert.deepEqual(await store.edit('editApp', nobody), { kind: 'not_found' });
      });

      it('is visible in lookups of a key of the app', async () => {
        const key = newKey();
        const app = await newApp(store, key);
        await setQuota(app, 3);
        assert.equal((await store.read('key', { id: key.id }))?.appQuotas.subscriptions, 3);
      });
    });

    describe('subscribe', () => {
      it('stops exactly at the quota, and continues when a subscription has ended', async () => {
        const app = await newApp(store);
        await setQuota(app, 3);
        const outputs = await Promise.all(Array.from({ length: 5 }, async () => subscribe(app)));
        const kinds = outputs.map(({ kind }) => kind).sort();
        assert.deepEqual(kinds, ['created', 'created', 'created', 'full', 'full']);
        assert.deepEqual(await subscribe(app), { kind: 'full', quota: 3 });
        assert.equal((await seen(app)).subscriptions, 3);
        const [first] = outputs;
        assert(first?.kind === 'created');
        const ended = { appNo: app.no, id: first.subscription.id };
        await store.edit('unsubscribe', ended);
        await store.edit('unsubscribe', ended);
        assert.equal((await seen(app)).subscriptions, 2);
        assert.equal((await subscribe(app)).kind, 'created');
        assert.equal((await subscribe(app)).kind, 'full');
      });

      it('uses the default quota if the app has none', async () => {
        const app = await newApp(store);
        assert.equal((await subscribe(app, 1)).kind, 'created');
        assert.deepEqual(await subscribe(app, 1), { kind: 'full', quota: 1 });
        await setQuota(app, 2);
        assert.equal((await subscribe(app, 1)).kind, 'created');
        await setQuota(app, null);
        assert.deepEqual(await subscribe(app, 1), { kind: 'full', quota: 1 });
        assert.equal((await subscribe(app)).kind, 'created');
      });

      it('answers a repetition although the quota is reached, and stores no key of a refusal', async () => {
        const app = await newApp(store);
        const keyed = async (key: string): Promise<EditOutput<'subscribe'>> =>
          store.edit('subscribe', {
            subscription: newSubscription(app),
            idempotency: { key: digest(key), print: digest('request') },
            subscriptionsMax: 1,
          });
        assert.equal((await keyed('one')).kind, 'created');
        assert.equal((await keyed('one')).kind, 'repeated');
        assert.equal((await keyed('two')).kind, 'full');
        await setQuota(app, 2);
        assert.equal((await keyed('two')).kind, 'created');
      });
    });
  });
}
