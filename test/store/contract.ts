// The contract of the Store port: one suite, run on every adapter and every way to it.
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { idMaker } from '../../src/core/id.ts';
import type { Callback } from '../../src/core/subscription.ts';
import { noControls } from '../../src/core/controls.ts';
import { limits } from '../../src/core/limits.ts';
import { noQuotas } from '../../src/core/quotas.ts';
import type { App } from '../../src/core/app.ts';
import type { World } from '../../src/core/world.ts';
import { realWorld } from '../../src/core/world.ts';
import type { AttemptRecord } from '../../src/store/delivery-verbs.ts';
import type { NewKey, NewSubscription, Page, Store } from '../../src/store/store.ts';
import { StoreUnavailable, VerbFailed } from '../../src/store/store.ts';

export interface Subject {
  store: Store;
  /** Closes the store and opens what it kept; undefined where nothing outlives the close. */
  reopen: (() => Promise<Store>) | undefined;
  dispose: () => Promise<void>;
}

export type OpenSubject = (world: Pick<World, 'nowMs'>) => Promise<Subject>;

const migrationsDir = new URL('../../migrations/sqlite', import.meta.url);
const newId = idMaker(realWorld());

export function storeContract(name: string, open: OpenSubject): void {
  describe(`the store contract: ${name}`, () => {
    const clock = { ms: 1_700_000_000_000 };
    const world = { nowMs: () => clock.ms };
    let subject: Subject;
    let store: Store;
    before(async () => {
      subject = await open(world);
      store = subject.store;
    });
    after(async () => {
      await subject.dispose();
    });

    describe('createApp', () => {
      it('makes an app and its first key', async () => {
        const id = newId();
        const key = newKey({ name: 'first', scopes: ['admin', 'read'], expiresMs: 5 });
        const output = await store.edit('createApp', { id, name: id, key });
        assert(output.kind === 'created');
        assert.deepEqual(plain(output.app), {
          no: output.app.no,
          id,
          name: id,
          createdMs: clock.ms,
          quotas: noQuotas,
          subscriptions: 0,
        });
        assert.deepEqual(plain(output.key), {
          id: key.id,
          appNo: output.app.no,
          appId: id,
          appQuotas: noQuotas,
          name: 'first',
          scopes: ['admin', 'read'],
          hash: plain(key.hash),
          oldHash: undefined,
          oldUntilMs: undefined,
          createdMs: clock.ms,
          expiresMs: 5,
          revokedMs: undefined,
          usedMs: undefined,
        });
        assert.deepEqual(await store.read('app', { id }), output.app);
        assert.deepEqual(await store.read('app', { name: id }), output.app);
        assert.deepEqual(await store.read('key', { id: key.id }), output.key);
      });

      it('refuses a name that is taken, and keeps nothing of the second', async () => {
        const app = await newApp(store);
        const [id, key] = [newId(), newKey()];
        const output = await store.edit('createApp', { id, name: app.name, key });
        assert.deepEqual(output, { kind: 'name_taken' });
        assert.equal(await store.read('app', { id }), undefined);
        assert.equal(await store.read('key', { id: key.id }), undefined);
      });

      it('refuses a key id that is taken, and keeps no app without a key', async () => {
        const key = newKey();
        await newApp(store, key);
        const id = newId();
        const output = await store.edit('createApp', {
          id,
          name: id,
          key: newKey({ id: key.id }),
        });
        assert.deepEqual(output, { kind: 'key_taken' });
        assert.equal(await store.read('app', { id }), undefined);
      });

      it('gives undefined for an unknown app', async () => {
        assert.equal(await store.read('app', { id: newId() }), undefined);
        assert.equal(await store.read('app', { name: 'nobody' }), undefined);
      });
    });

    describe('apps', () => {
      it('lists newest first, page by page', async () => {
        const made = [await newApp(store), await newApp(store), await newApp(store)];
        const first = await store.read('apps', { page: { limit: 2, after: undefined } });
        assert.deepEqual(first.items, [made[2], made[1]]);
        const second = await store.read('apps', { page: { limit: 2, after: first.next } });
        assert.deepEqual(second.items[0], made[0]);
      });
    });

    describe('keys', () => {
      it('creates a key in its app only', async () => {
        const [app, other] = [await newApp(store), await newApp(store)];
        const output = await store.edit('createKey', { appNo: app.no, key: newKey() });
        assert(output.kind === 'created');
        assert.equal(output.key.appId, app.id);
        const page = { limit: 10, after: undefined };
        const listed = await store.read('keys', { appNo: app.no, page });
        assert.equal(listed.items.length, 2);
        assert.deepEqual(listed.items[0], output.key);
        assert.equal(listed.next, undefined);
        assert.equal((await store.read('keys', { appNo: other.no, page })).items.length, 1);
      });

      it('refuses a key id that is taken, in whichever app', async () => {
        const key = newKey();
        await newApp(store, key);
        const other = await newApp(store);
        const again = newKey({ id: key.id });
        assert.deepEqual(await store.edit('createKey', { appNo: other.no, key: again }), {
          kind: 'key_taken',
        });
      });

      it('rotates: the present hash becomes the old one', async () => {
        const key = newKey();
        const app = await newApp(store, key);
        const hash = digest('next');
        const output = await store.edit('rotateKey', {
          appNo: app.no,
          id: key.id,
          hash,
          oldUntilMs: clock.ms + 9,
        });
        assert(output.kind === 'rotated');
        assert.deepEqual(plain(output.key.hash), plain(hash));
        assert.deepEqual(plain(output.key.oldHash), plain(key.hash));
        assert.equal(output.key.oldUntilMs, clock.ms + 9);
        assert.deepEqual(await store.read('key', { id: key.id }), output.key);
      });

      it('revokes once, and keeps the time of the first', async () => {
        const key = newKey();
        const app = await newApp(store, key);
        const revokedMs = clock.ms;
        const first = await store.edit('revokeKey', { appNo: app.no, id: key.id });
        assert(first.kind === 'revoked');
        assert.equal(first.key.revokedMs, revokedMs);
        assert.deepEqual(await store.read('key', { id: key.id }), first.key);
        clock.ms += 1000;
        assert.deepEqual(await store.edit('revokeKey', { appNo: app.no, id: key.id }), first);
      });

      it('does not rotate a revoked key', async () => {
        const key = newKey();
        const app = await newApp(store, key);
        await store.edit('revokeKey', { appNo: app.no, id: key.id });
        const input = { appNo: app.no, id: key.id, hash: digest('x'), oldUntilMs: 1 };
        assert.deepEqual(await store.edit('rotateKey', input), { kind: 'revoked' });
      });

      it("treats another app's key as unknown", async () => {
        const key = newKey();
        await newApp(store, key);
        const other = await newApp(store);
        for (const id of [key.id, 'zzzzzzzz']) {
          const input = { appNo: other.no, id };
          assert.deepEqual(await store.edit('revokeKey', input), { kind: 'not_found' });
          const rotation = { ...input, hash: digest('x'), oldUntilMs: 1 };
          assert.deepEqual(await store.edit('rotateKey', rotation), { kind: 'not_found' });
        }
        const untouched = await store.read('key', { id: key.id });
        assert.equal(untouched?.revokedMs, undefined);
        assert.equal(untouched?.oldHash, undefined);
      });

      it('notes when keys were used, and ignores unknown ones', async () => {
        const [a, b, c] = [newKey(), newKey(), newKey()];
        for (const key of [a, b, c]) await newApp(store, key);
        const output = await store.edit('touchKeys', { ids: [a.id, 'zzzzzzzz', b.id] });
        assert.deepEqual(output, { kind: 'touched' });
        assert.equal((await store.read('key', { id: a.id }))?.usedMs, clock.ms);
        assert.equal((await store.read('key', { id: b.id }))?.usedMs, clock.ms);
        assert.equal((await store.read('key', { id: c.id }))?.usedMs, undefined);
      });

      it('gives undefined for an unknown key', async () => {
        assert.equal(await store.read('key', { id: 'zzzzzzzz' }), undefined);
      });
    });

    describe('subscribe', () => {
      it('keeps the subscription as it was given', async () => {
        const app = await newApp(store);
        const input = newSubscription(app, {
          callbacks: [callback(0, 'a.*'), inactive(1, 'b'), callback(2, '*')],
        });
        const output = await store.edit('subscribe', {
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
          callbacks: input.callbacks,
          secrets: plain(input.secrets),
          controls: noControls,
          headers: undefined,
          version: output.subscription.version,
          createdMs: clock.ms,
          endedMs: undefined,
        });
        assert(output.subscription.version >= 1);
        assert.deepEqual(await find(app, input.id), output.subscription);
      });

      it('answers a repeated request with the first subscription, and writes nothing', async () => {
        const app = await newApp(store);
        const idempotency = { key: digest(newId()), print: digest('request') };
        const first = newSubscription(app);
        const created = await store.edit('subscribe', { subscription: first, idempotency });
        assert(created.kind === 'created');
        const second = newSubscription(app);
        const repeated = await store.edit('subscribe', { subscription: second, idempotency });
        assert.deepEqual(repeated, { kind: 'repeated', subscription: created.subscription });
        assert.equal(await find(app, second.id), undefined);
      });

      it('refuses the key of another request, and writes nothing', async () => {
        const app = await newApp(store);
        const key = digest(newId());
        const idempotency = { key, print: digest('one') };
        await store.edit('subscribe', { subscription: newSubscription(app), idempotency });
        const second = newSubscription(app);
        const output = await store.edit('subscribe', {
          subscription: second,
          idempotency: { key, print: digest('two') },
        });
        assert.deepEqual(output, { kind: 'mismatch' });
        assert.equal(await find(app, second.id), undefined);
      });

      it('keeps idempotency keys of apps apart', async () => {
        const idempotency = { key: digest(newId()), print: digest('request') };
        for (const app of [await newApp(store), await newApp(store)]) {
          const subscription = newSubscription(app);
          const output = await store.edit('subscribe', { subscription, idempotency });
          assert.equal(output.kind, 'created');
        }
      });

      it('lets the second of two equal keys in one batch see the first', async () => {
        const app = await newApp(store);
        const idempotency = { key: digest(newId()), print: digest('request') };
        const other = { ...idempotency, print: digest('other') };
        const outputs = await Promise.all(
          // The first goes alone; the others gather into one batch.
          [undefined, idempotency, idempotency, other, idempotency].map(async (each) =>
            store.edit('subscribe', { subscription: newSubscription(app), idempotency: each }),
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

      it('forgets a key that is older than its time, and not a moment before', async () => {
        const app = await newApp(store);
        const idempotency = { key: digest(newId()), print: digest('one') };
        const later = { ...idempotency, print: digest('two') };
        const subscribe = async (each: typeof idempotency) => {
          const subscription = newSubscription(app);
          return (await store.edit('subscribe', { subscription, idempotency: each })).kind;
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

    describe('subscription', () => {
      it("treats another app's subscription as unknown", async () => {
        const [app, other] = [await newApp(store), await newApp(store)];
        const { id, version } = await subscribed(app);
        const input = { appNo: other.no, id };
        assert.equal(await store.read('subscription', input), undefined);
        assert.deepEqual(await store.edit('unsubscribe', input), { kind: 'not_found' });
        const output = await store.edit('editSubscription', { ...input, version, ...paused });
        assert.deepEqual(output, { kind: 'not_found' });
        assert.equal((await find(app, id))?.state, 'active');
      });

      it('gives undefined for an unknown one', async () => {
        const app = await newApp(store);
        assert.equal(await find(app, newId()), undefined);
      });
    });

    describe('unsubscribe', () => {
      it('ends it and keeps its row', async () => {
        const app = await newApp(store);
        const before_ = await subscribed(app);
        clock.ms += 1;
        const output = await store.edit('unsubscribe', { appNo: app.no, id: before_.id });
        assert(output.kind === 'ended');
        const { version } = output.subscription;
        assert(version > before_.version);
        assert.deepEqual(output.subscription, {
          ...before_,
          state: 'ended',
          endedMs: clock.ms,
          version,
        });
        assert.deepEqual(await find(app, before_.id), output.subscription);
      });

      it('changes nothing the second time', async () => {
        const app = await newApp(store);
        const { id } = await subscribed(app);
        const first = await store.edit('unsubscribe', { appNo: app.no, id });
        clock.ms += 1000;
        assert.deepEqual(await store.edit('unsubscribe', { appNo: app.no, id }), first);
      });

      it('does not know an unknown one', async () => {
        const app = await newApp(store);
        const output = await store.edit('unsubscribe', { appNo: app.no, id: newId() });
        assert.deepEqual(output, { kind: 'not_found' });
      });
    });

    describe('editSubscription', () => {
      it('changes the state, the targets and the secrets in one step', async () => {
        const app = await newApp(store);
        const old = await subscribed(app, { callbacks: [callback(0, 'a'), inactive(1, 'b')] });
        const secrets = digest('new secrets');
        const output = await store.edit('editSubscription', {
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

      it('leaves alone what the edit does not name', async () => {
        const app = await newApp(store);
        const old = await subscribed(app);
        const output = await edit(old, {});
        assert(output.kind === 'edited');
        assert.deepEqual(output.subscription, { ...old, version: output.subscription.version });
      });

      it('refuses an edit that was made for an older version', async () => {
        const app = await newApp(store);
        const old = await subscribed(app);
        assert.equal((await edit(old, { state: 'paused' })).kind, 'edited');
        assert.deepEqual(await edit(old, { state: 'active' }), { kind: 'stale' });
        assert.equal((await find(app, old.id))?.state, 'paused');
      });

      it('lets only one of two edits of the same version through', async () => {
        const app = await newApp(store);
        const old = await subscribed(app);
        const outputs = await Promise.all([
          store.edit('touchKeys', { ids: [] }),
          edit(old, { state: 'paused' }),
          edit(old, { state: 'disabled' }),
        ]);
        assert.deepEqual(
          outputs.map(({ kind }) => kind),
          ['touched', 'edited', 'stale'],
        );
      });

      it('does not bring back what has ended', async () => {
        const app = await newApp(store);
        const old = await subscribed(app);
        await store.edit('unsubscribe', { appNo: app.no, id: old.id });
        assert.deepEqual(await edit(old, { state: 'active' }), { kind: 'ended' });
      });

      it('fails on a position that does not exist, and changes nothing', async () => {
        const app = await newApp(store);
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
      it('lists newest first; a page is stable while others subscribe', async () => {
        const app = await newApp(store);
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

      it('says that a full last page is the last', async () => {
        const app = await newApp(store);
        await subscribed(app);
        await subscribed(app);
        const page = await list(app, { limit: 2, after: undefined });
        assert.equal(page.items.length, 2);
        assert.equal(page.next, undefined);
      });

      it('ends a page early when what they chose is large', async () => {
        const app = await newApp(store);
        const metadata = { a: 'x'.repeat(limits.pageBytesMax / 2) };
        for (let i = 0; i < 3; i += 1) {
          const subscription = newSubscription(app, { controls: { ...noControls, metadata } });
          await store.edit('subscribe', { subscription, idempotency: undefined });
        }
        const first = await list(app, { limit: 50, after: undefined });
        assert.equal(first.items.length, 2);
        const second = await list(app, { limit: 50, after: first.next });
        assert.equal(second.items.length, 1);
        assert.equal(second.next, undefined);
      });

      it('filters by state', async () => {
        const app = await newApp(store);
        const [a, b] = [await subscribed(app), await subscribed(app)];
        await store.edit('unsubscribe', { appNo: app.no, id: a.id });
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

      it('shows an app nothing of another, also with a cursor of the other', async () => {
        const [app, other] = [await newApp(store), await newApp(store)];
        await subscribed(app);
        for (let i = 0; i < 3; i += 1) await subscribed(other);
        const { next } = await list(other, { limit: 1, after: undefined });
        assert.notEqual(next, undefined);
        const empty = await newApp(store);
        assert.deepEqual(await list(empty, { limit: 9, after: next }), {
          items: [],
          next: undefined,
        });
        assert.deepEqual((await list(app, { limit: 9, after: undefined })).items.length, 1);
      });

      it('examines a bounded number of rows, and goes on where it stopped', async () => {
        const app = await newApp(store);
        const { id } = await subscribed(app);
        await store.edit('unsubscribe', { appNo: app.no, id });
        const chunk = 460;
        // They are examined in pieces, of which the last may be too much.
        for (let i = 0; i < (1.15 * limits.rowsExaminedMax) / limits.lookRows; i += chunk) {
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

      it('fails on a cursor that it never gave', async () => {
        const app = await newApp(store);
        for (const cursor of ['', '0', '-1', 'x', '1e3', '99999999999999999999']) {
          await assert.rejects(list(app, { limit: 5, after: cursor }), VerbFailed);
        }
      });
    });

    describe('keepSetting', () => {
      it('keeps the first value under a name and gives it to everyone', async () => {
        const [a, b] = [digest('a'), digest('b')];
        const setting = { name: newId(), value: a };
        assert.deepEqual(plain(await store.edit('keepSetting', setting)), plain({ value: a }));
        const later = { ...setting, value: b };
        assert.deepEqual(plain(await store.edit('keepSetting', later)), plain({ value: a }));
        const other = { name: newId(), value: b };
        assert.deepEqual(plain(await store.edit('keepSetting', other)), plain({ value: b }));
      });
    });

    describe('forget', () => {
      it('deletes old idempotency keys, a bounded number at a time', async () => {
        clock.ms += 10 * limits.idempotencyKeepMs;
        const beforeMs = clock.ms - limits.idempotencyKeepMs;
        while (
          (await store.edit('forget', { idempotencyBeforeMs: beforeMs, limit: 500 })).deleted > 0
        );
        const app = await newApp(store);
        const young = { key: digest(newId()), print: digest('p') };
        const olds = Array.from({ length: 5 }, () => ({ ...young, key: digest(newId()) }));
        for (const idempotency of olds) {
          await store.edit('subscribe', { subscription: newSubscription(app), idempotency });
        }
        clock.ms += 1000;
        await store.edit('subscribe', { subscription: newSubscription(app), idempotency: young });
        const input = { idempotencyBeforeMs: clock.ms, limit: 3 };
        assert.deepEqual(await store.edit('forget', input), { deleted: 3 });
        assert.deepEqual(await store.edit('forget', input), { deleted: 2 });
        assert.deepEqual(await store.edit('forget', input), { deleted: 0 });
        const subscription = newSubscription(app);
        const output = await store.edit('subscribe', { subscription, idempotency: young });
        assert.equal(output.kind, 'repeated');
      });
    });

    describe('health', () => {
      it('says which migration the database is at', async () => {
        const schema = readdirSync(migrationsDir).length;
        assert.deepEqual(plain(await store.read('health', {})), { schema });
      });
    });

    describe('many edits at once', () => {
      it('keeps their order and answers each', async () => {
        const app = await newApp(store);
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

      it('fails the poisoned ones alone', async () => {
        const app = await newApp(store);
        const { id: taken } = await subscribed(app);
        const isPoisoned = (i: number) => i % 97 === 50;
        const inputs = Array.from({ length: 400 }, (_, i) =>
          newSubscription(app, isPoisoned(i) ? { id: taken } : {}),
        );
        const results = await Promise.allSettled(
          inputs.map(async (subscription) =>
            store.edit('subscribe', { subscription, idempotency: undefined }),
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

      it('shows every resolved edit to the next read', async () => {
        const app = await newApp(store);
        for (let i = 0; i < 100; i += 1) {
          const made = await subscribed(app);
          assert.deepEqual(await find(app, made.id), made);
        }
      });
    });

    describe('a caller that breaks a rule', () => {
      it('is told so, and the store goes on', async () => {
        const app = await newApp(store);
        const broken = [
          newSubscription(app, { id: 'short' }),
          newSubscription(app, { callbacks: [{ ...callback(0, 'a'), url: '' }] }),
          newSubscription(app, { callbacks: [{ ...inactive(0, 'a'), url: 'https://x/' }] }),
          newSubscription(app, { callbacks: [callback(0, 'a'), callback(0, 'b')] }),
          newSubscription({ ...app, no: 999_999_999 }),
        ];
        for (const subscription of broken) {
          await assert.rejects(
            store.edit('subscribe', { subscription, idempotency: undefined }),
            VerbFailed,
          );
          assert.equal(await find(app, subscription.id), undefined);
        }
        const badKeys = [newKey({ scopes: [] }), newKey({ hash: new Uint8Array(31) })];
        for (const key of badKeys) {
          await assert.rejects(store.edit('createKey', { appNo: app.no, key }), VerbFailed);
        }
        assert.equal((await list(app, { limit: 5, after: undefined })).items.length, 0);
        await subscribed(app);
      });
    });

    describe('close', () => {
      it('keeps everything that was acknowledged', async (t) => {
        if (subject.reopen === undefined) {
          t.skip('nothing outlives the close');
          return;
        }
        const key = newKey();
        const app = await newApp(store, key);
        const made = await Promise.all(Array.from({ length: 50 }, async () => subscribed(app)));
        store = await subject.reopen();
        const kept = { ...app, subscriptions: made.length };
        assert.deepEqual(await store.read('app', { id: app.id }), kept);
        assert.equal((await store.read('key', { id: key.id }))?.appNo, app.no);
        for (const subscription of made) {
          assert.deepEqual(await find(app, subscription.id), subscription);
        }
      });

      it('finishes what was handed over, then refuses, and may be called twice', async () => {
        const app = await newApp(store);
        const taken = Array.from({ length: 30 }, async () => subscribed(app));
        const read = store.read('app', { id: app.id });
        const closing = [store.close(), store.close()];
        await assert.rejects(subscribed(app), StoreUnavailable);
        for (const { state } of await Promise.all(taken)) assert.equal(state, 'active');
        assert.equal((await read)?.no, app.no);
        await Promise.all(closing);
        await assert.rejects(store.read('health', {}), StoreUnavailable);
        await assert.rejects(store.edit('touchKeys', { ids: [] }), StoreUnavailable);
      });
    });

    const paused = { state: 'paused', urls: [], secrets: undefined } as const;

    async function find(app: App, id: string) {
      return store.read('subscription', { appNo: app.no, id });
    }

    async function list(
      app: App,
      page: { limit: number; after: string | undefined },
      state?: 'active' | 'paused' | 'ended',
    ): Promise<Page<{ id: string }>> {
      return store.read('subscriptions', { appNo: app.no, page, state });
    }

    async function subscribed(app: App, changes: Partial<NewSubscription> = {}) {
      const subscription = newSubscription(app, changes);
      const output = await store.edit('subscribe', { subscription, idempotency: undefined });
      assert(output.kind === 'created');
      return output.subscription;
    }

    async function edit(
      { appNo, id, version }: { appNo: number; id: string; version: number },
      changes: {
        state?: 'active' | 'paused' | 'disabled';
        urls?: { position: number; url: string }[];
      },
    ) {
      const { state, urls = [] } = changes;
      return store.edit('editSubscription', {
        appNo,
        id,
        version,
        state,
        urls,
        secrets: undefined,
      });
    }
  });
}

export async function newApp(store: Store, key = newKey()): Promise<App> {
  const id = newId();
  const output = await store.edit('createApp', { id, name: `app ${id}`, key });
  assert(output.kind === 'created');
  return output.app;
}

export function newKey(changes: Partial<NewKey> = {}): NewKey {
  const id = newId();
  return {
    id: id.slice(-8),
    hash: digest(id),
    name: 'a key',
    scopes: ['subscribe'],
    expiresMs: undefined,
    ...changes,
  };
}

export function newSubscription(
  app: Pick<App, 'no'>,
  changes: Partial<NewSubscription> = {},
): NewSubscription {
  return {
    id: newId(),
    appNo: app.no,
    contract: 'Ringback',
    operation: 'subscribe',
    callbacks: [callback(0, '*')],
    secrets: digest('secrets'),
    ...changes,
  };
}

export function callback(position: number, event: string): Callback {
  return {
    position,
    label: 'myEvent',
    events: event.split(' '),
    definition: `subscribe/myEvent/${position}`,
    method: 'post',
    url: `https://receiver.example/${position}?event={eventType}`,
    inactive: undefined,
  };
}

/** A failed attempt, unless the changes say otherwise. */
export function attempt(changes: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    node: 1,
    startedMs: 1_700_000_000_000,
    tookMs: 12,
    status: 500,
    error: 'status',
    message: undefined,
    request: { method: 'post', url: 'https://receiver.example/0?event=a' },
    response: { headers: [['server', 'x']], body: Buffer.from('no'), cut: false },
    warning: undefined,
    ...changes,
  };
}

export function inactive(position: number, event: string): Callback {
  return { ...callback(position, event), url: '', inactive: 'body#/failedUrl is missing' };
}

export function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}

/** Bytes from a thread are Uint8Array, bytes made here may be Buffer: compare their values only. */
function plain<T>(value: T): T {
  return structuredClone(value);
}
