// The contract of the Store port: edits and lists of subscriptions.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { VerbFailed } from '../../src/store/port/store.ts';
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

export function editSubscriptionContract(name: string, open: OpenSubject): void {
  describe(`the store contract: ${name}`, () => {
    const { on, find, list, subscribed, edit } = subscriptionStage(open);

    describe('editSubscription', () => {
      it('changes the state, the URLs and the secrets in one step', async () => {
        const app = await newApp(on.store);
        const old = await subscribed(app, { callbacks: [callback(0, 'a'), inactive(1, 'b')] });
        const secrets = digest('new secrets');
        const output = await on.store.edit('editSubscription', {
          appNo: app.no,
          id: old.id,
          version: old.version,
          state: 'paused',
          urls: [
            { position: 0, url: 'https://new.example/a' },
            { position: 1, url: 'https://new.example/b' },
          ],
          secrets,
        });
        assert(output.kind === 'edited');
        const { version } = output.subscription;
        assert(version > old.version);
        assert.deepEqual(plain(output.subscription), {
          ...old,
          state: 'paused',
          version,
          secrets: plain(secrets),
          callbacks: [
            { ...callback(0, 'a'), url: 'https://new.example/a' },
            { ...inactive(1, 'b'), url: 'https://new.example/b', inactive: undefined },
          ],
        });
        assert.deepEqual(await find(app, old.id), output.subscription);
      });

      it('does not change what the edit does not name', async () => {
        const app = await newApp(on.store);
        const old = await subscribed(app);
        const output = await edit(old, {});
        assert(output.kind === 'edited');
        assert.deepEqual(output.subscription, { ...old, version: output.subscription.version });
      });

      it('refuses an edit that was made for an older version', async () => {
        const app = await newApp(on.store);
        const old = await subscribed(app);
        assert.equal((await edit(old, { state: 'paused' })).kind, 'edited');
        assert.deepEqual(await edit(old, { state: 'active' }), { kind: 'stale' });
        assert.equal((await find(app, old.id))?.state, 'paused');
      });

      it('lets only one of two edits of the same version through', async () => {
        const app = await newApp(on.store);
        const old = await subscribed(app);
        const outputs = await Promise.all([
          on.store.edit('touchKeys', { ids: [] }),
          edit(old, { state: 'paused' }),
          edit(old, { state: 'disabled' }),
        ]);
        assert.deepEqual(
          outputs.map(({ kind }) => kind),
          ['touched', 'edited', 'stale'],
        );
      });

      it('cannot revive an ended subscription', async () => {
        const app = await newApp(on.store);
        const old = await subscribed(app);
        await on.store.edit('unsubscribe', { appNo: app.no, id: old.id });
        assert.deepEqual(await edit(old, { state: 'active' }), { kind: 'ended' });
      });

      it('fails on a position that does not exist, and changes nothing', async () => {
        const app = await newApp(on.store);
        const old = await subscribed(app);
        const urls = [
          { position: 0, url: 'https://new.example/' },
          { position: 7, url: 'https://new.example/' },
        ];
        await assert.rejects(edit(old, { state: 'paused', urls }), VerbFailed);
        assert.deepEqual(await find(app, old.id), old);
      });
    });

    describe('subscriptions', () => {
      it('lists newest first, with stable pages while others subscribe', async () => {
        const app = await newApp(on.store);
        const made: string[] = [];
        for (let i = 0; i < 7; i += 1) made.push((await subscribed(app)).id);
        const pages: string[][] = [];
        let next: string | undefined;
        do {
          const page = await list(app, { limit: 3, after: next });
          pages.push(page.items.map(({ id }) => id));
          next = page.next;
          await subscribed(app);
        } while (next !== undefined);
        const [a, b, c, d, e, f, g] = made;
        assert.deepEqual(pages, [[g, f, e], [d, c, b], [a]]);
      });

      it('has no cursor after a full last page', async () => {
        const app = await newApp(on.store);
        await subscribed(app);
        await subscribed(app);
        const page = await list(app, { limit: 2, after: undefined });
        assert.equal(page.items.length, 2);
        assert.equal(page.next, undefined);
      });

      it('ends a page early if the settings are large', async () => {
        const app = await newApp(on.store);
        const metadata = { a: 'x'.repeat(limits.pageBytesMax / 2) };
        for (let i = 0; i < 3; i += 1) {
          const subscription = newSubscription(app, { controls: { ...noControls, metadata } });
          await on.store.edit('subscribe', { subscription, idempotency: undefined });
        }
        const first = await list(app, { limit: 50, after: undefined });
        assert.equal(first.items.length, 2);
        const second = await list(app, { limit: 50, after: first.next });
        assert.equal(second.items.length, 1);
        assert.equal(second.next, undefined);
      });

      it('filters by state', async () => {
        const app = await newApp(on.store);
        const [a, b] = [await subscribed(app), await subscribed(app)];
        await on.store.edit('unsubscribe', { appNo: app.no, id: a.id });
        await edit(b, { state: 'paused' });
        for (const [state, id] of [
          ['ended', a.id],
          ['paused', b.id],
        ] as const) {
          const page = await list(app, { limit: 5, after: undefined }, state);
          assert.deepEqual(
            page.items.map((item) => item.id),
            [id],
          );
        }
        assert.deepEqual((await list(app, { limit: 5, after: undefined }, 'active')).items, []);
      });

      it('shows an app nothing of another, even with its cursor', async () => {
        const [app, other] = [await newApp(on.store), await newApp(on.store)];
        await subscribed(app);
        for (let i = 0; i < 3; i += 1) await subscribed(other);
        const { next } = await list(other, { limit: 1, after: undefined });
        assert.notEqual(next, undefined);
        const empty = await newApp(on.store);
        assert.deepEqual(await list(empty, { limit: 9, after: next }), {
          items: [],
          next: undefined,
        });
        assert.deepEqual((await list(app, { limit: 9, after: undefined })).items.length, 1);
      });

      it('examines a bounded number of rows, and continues where it stopped', async () => {
        const app = await newApp(on.store);
        const { id } = await subscribed(app);
        await on.store.edit('unsubscribe', { appNo: app.no, id });
        const chunk = 460;
        // Rows are examined in chunks, and the last chunk may exceed the limit.
        for (let i = 0; i < (1.15 * limits.rowsExaminedMax) / limits.indexProbeRows; i += chunk) {
          await Promise.all(Array.from({ length: chunk }, async () => subscribed(app)));
        }
        const page = await list(app, { limit: 5, after: undefined }, 'ended');
        assert.deepEqual(page.items, []);
        assert.notEqual(page.next, undefined);
        const rest = await list(app, { limit: 5, after: page.next }, 'ended');
        assert.deepEqual(
          rest.items.map((item) => item.id),
          [id],
        );
        assert.equal(rest.next, undefined);
      });

      it('fails on an invalid cursor', async () => {
        const app = await newApp(on.store);
        for (const cursor of ['', '0', '-1', 'x', '1e3', '99999999999999999999']) {
          await assert.rejects(list(app, { limit: 5, after: cursor }), VerbFailed);
        }
      });
    });
  });
}
