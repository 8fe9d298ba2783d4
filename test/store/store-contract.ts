// The contract of the Store port: settings, expiry of idempotency keys, concurrent edits, and closing.
import { strict as assert } from 'node:assert';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { StoreUnavailable, VerbFailed } from '../../src/store/port/store.ts';
import { newId } from './open-memory.ts';
import { migrationsDir, subscriptionStage } from './subscription-stage.ts';
import {
  callback,
  digest,
  inactive,
  newApp,
  newKey,
  newSubscription,
  type OpenSubject,
  plain,
} from './subject.ts';

export function storeContract(name: string, open: OpenSubject): void {
  describe(`the store contract: ${name}`, () => {
    const { on, find, list, subscribed } = subscriptionStage(open);
    const { clock } = on;

    describe('keepSetting', () => {
      it('stores the first value under a name and returns it to every caller', async () => {
        const [a, b] = [digest('a'), digest('b')];
        const setting = { name: newId(), value: a };
        assert.deepEqual(plain(await on.store.edit('keepSetting', setting)), plain({ value: a }));
        const later = { ...setting, value: b };
        assert.deepEqual(plain(await on.store.edit('keepSetting', later)), plain({ value: a }));
        const other = { name: newId(), value: b };
        assert.deepEqual(plain(await on.store.edit('keepSetting', other)), plain({ value: b }));
      });
    });

    describe('forget', () => {
      it('deletes old idempotency keys, a bounded number at a time', async () => {
        clock.ms += 10 * limits.idempotencyKeepMs;
        const beforeMs = clock.ms - limits.idempotencyKeepMs;
        while (
          (await on.store.edit('forget', { idempotencyBeforeMs: beforeMs, limit: 500 })).deleted > 0
        );
        const app = await newApp(on.store);
        const young = { key: digest(newId()), print: digest('p') };
        const olds = Array.from({ length: 5 }, () => ({ ...young, key: digest(newId()) }));
        for (const idempotency of olds) {
          await on.store.edit('subscribe', { subscription: newSubscription(app), idempotency });
        }
        clock.ms += 1000;
        await on.store.edit('subscribe', {
          subscription: newSubscription(app),
          idempotency: young,
        });
        const input = { idempotencyBeforeMs: clock.ms, limit: 3 };
        assert.deepEqual(await on.store.edit('forget', input), { deleted: 3 });
        assert.deepEqual(await on.store.edit('forget', input), { deleted: 2 });
        assert.deepEqual(await on.store.edit('forget', input), { deleted: 0 });
        const subscription = newSubscription(app);
        const output = await on.store.edit('subscribe', { subscription, idempotency: young });
        assert.equal(output.kind, 'repeated');
      });
    });

    describe('health', () => {
      it('returns the current migration of the database', async () => {
        const schema = readdirSync(migrationsDir).length;
        assert.deepEqual(plain(await on.store.read('health', {})), { schema });
      });
    });

    describe('many edits at once', () => {
      it('are executed in order, and each gets its result', async () => {
        const app = await newApp(on.store);
        const ids = await Promise.all(
          Array.from({ length: 800 }, async () => (await subscribed(app)).id),
        );
        const listed: string[] = [];
        let next: string | undefined;
        do {
          const page = await list(app, { limit: limits.pageItemsMax, after: next });
          listed.push(...page.items.map(({ id }) => id));
          next = page.next;
        } while (next !== undefined);
        assert.deepEqual(listed, ids.toReversed());
      });

      it('fail individually if poisoned', async () => {
        const app = await newApp(on.store);
        const { id: taken } = await subscribed(app);
        const isPoisoned = (i: number) => i % 97 === 50;
        const inputs = Array.from({ length: 400 }, (_, i) =>
          newSubscription(app, isPoisoned(i) ? { id: taken } : {}),
        );
        const results = await Promise.allSettled(
          inputs.map(async (subscription) =>
            on.store.edit('subscribe', { subscription, idempotency: undefined }),
          ),
        );
        for (const [i, result] of results.entries()) {
          if (isPoisoned(i)) {
            assert(result.status === 'rejected');
            assert(result.reason instanceof VerbFailed);
            assert.match(result.reason.message, /^Cannot run "subscribe": /);
          } else {
            assert(result.status === 'fulfilled' && result.value.kind === 'created');
            assert.equal(result.value.subscription.id, inputs[i]?.id);
          }
        }
        const versions = results.flatMap((result) =>
          result.status === 'fulfilled' && result.value.kind === 'created'
            ? [result.value.subscription.version]
            : [],
        );
        const [first = 0] = versions;
        assert.deepEqual(
          versions,
          versions.map((_, i) => first + i),
          'a failed edit leaves no trace in the versions',
        );
      });

      it('are visible to the next read once resolved', async () => {
        const app = await newApp(on.store);
        for (let i = 0; i < 100; i += 1) {
          const made = await subscribed(app);
          assert.deepEqual(await find(app, made.id), made);
        }
      });
    });

    describe('a call that violates a constraint', () => {
      it('gets an error, and the store continues', async () => {
        const app = await newApp(on.store);
        const broken = [
          newSubscription(app, { id: 'short' }),
          newSubscription(app, { callbacks: [{ ...callback(0, 'a'), url: '' }] }),
          newSubscription(app, { callbacks: [{ ...inactive(0, 'a'), url: 'https://x/' }] }),
          newSubscription(app, { callbacks: [callback(0, 'a'), callback(0, 'b')] }),
          newSubscription({ ...app, no: 999_999_999 }),
        ];
        for (const subscription of broken) {
          await assert.rejects(
            on.store.edit('subscribe', { subscription, idempotency: undefined }),
            VerbFailed,
          );
          assert.equal(await find(app, subscription.id), undefined);
        }
        const badKeys = [newKey({ scopes: [] }), newKey({ hash: new Uint8Array(31) })];
        for (const key of badKeys) {
          await assert.rejects(on.store.edit('createKey', { appNo: app.no, key }), VerbFailed);
        }
        assert.equal((await list(app, { limit: 5, after: undefined })).items.length, 0);
        await subscribed(app);
      });
    });

    describe('close', () => {
      it('keeps everything that was acknowledged', async (t) => {
        if (on.subject.reopen === undefined) {
          t.skip('nothing outlives the close');
          return;
        }
        const key = newKey();
        const app = await newApp(on.store, key);
        const made = await Promise.all(Array.from({ length: 50 }, async () => subscribed(app)));
        await on.reopen();
        const kept = { ...app, subscriptions: made.length };
        assert.deepEqual(await on.store.read('app', { id: app.id }), kept);
        assert.equal((await on.store.read('key', { id: key.id }))?.appNo, app.no);
        for (const subscription of made) {
          assert.deepEqual(await find(app, subscription.id), subscription);
        }
      });

      it('finishes earlier calls, then refuses new ones, and can be called twice', async () => {
        const app = await newApp(on.store);
        const taken = Array.from({ length: 30 }, async () => subscribed(app));
        const read = on.store.read('app', { id: app.id });
        const closing = [on.store.close(), on.store.close()];
        await assert.rejects(subscribed(app), StoreUnavailable);
        for (const { state } of await Promise.all(taken)) assert.equal(state, 'active');
        assert.equal((await read)?.no, app.no);
        await Promise.all(closing);
        await assert.rejects(on.store.read('health', {}), StoreUnavailable);
        await assert.rejects(on.store.edit('touchKeys', { ids: [] }), StoreUnavailable);
      });
    });
  });
}
