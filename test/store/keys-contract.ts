// The contract of the Store port: apps and their keys.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { noQuotas } from '../../src/core/load/quotas.ts';
import { newId } from './open-memory.ts';
import { subscriptionStage } from './subscription-stage.ts';
import { digest, newApp, newKey, type OpenSubject, plain } from './subject.ts';

export function keysContract(name: string, open: OpenSubject): void {
  describe(`the store contract: ${name}`, () => {
    const { on } = subscriptionStage(open);
    const { clock } = on;

    describe('createApp', () => {
      it('creates an app and its first key', async () => {
        const id = newId();
        const key = newKey({ name: 'first', scopes: ['admin', 'read'], expiresMs: 5 });
        const output = await on.store.edit('createApp', { id, name: id, key });
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
          appHasEventTypes: false,
          customer: undefined,
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
        assert.deepEqual(await on.store.read('app', { id }), output.app);
        assert.deepEqual(await on.store.read('app', { name: id }), output.app);
        assert.deepEqual(await on.store.read('key', { id: key.id }), output.key);
      });

      it('refuses a name that is taken, and stores nothing', async () => {
        const app = await newApp(on.store);
        const [id, key] = [newId(), newKey()];
        const output = await on.store.edit('createApp', { id, name: app.name, key });
        assert.deepEqual(output, { kind: 'name_taken' });
        assert.equal(await on.store.read('app', { id }), undefined);
        assert.equal(await on.store.read('key', { id: key.id }), undefined);
      });

      it('refuses a key id that is taken, and does not create the app', async () => {
        const key = newKey();
        await newApp(on.store, key);
        const id = newId();
        const output = await on.store.edit('createApp', {
          id,
          name: id,
          key: newKey({ id: key.id }),
        });
        assert.deepEqual(output, { kind: 'key_taken' });
        assert.equal(await on.store.read('app', { id }), undefined);
      });

      it('returns undefined for an unknown app', async () => {
        assert.equal(await on.store.read('app', { id: newId() }), undefined);
        assert.equal(await on.store.read('app', { name: 'nobody' }), undefined);
      });
    });

    describe('apps', () => {
      it('lists newest first, page by page', async () => {
        const made = [await newApp(on.store), await newApp(on.store), await newApp(on.store)];
        const first = await on.store.read('apps', { page: { limit: 2, after: undefined } });
        assert.deepEqual(first.items, [made[2], made[1]]);
        const second = await on.store.read('apps', { page: { limit: 2, after: first.next } });
        assert.deepEqual(second.items[0], made[0]);
      });
    });

    describe('keys', () => {
      it('creates a key in its app only', async () => {
        const [app, other] = [await newApp(on.store), await newApp(on.store)];
        const output = await on.store.edit('createKey', { appNo: app.no, key: newKey() });
        assert(output.kind === 'created');
        assert.equal(output.key.appId, app.id);
        const page = { limit: 10, after: undefined };
        const listed = await on.store.read('keys', { appNo: app.no, page });
        assert.equal(listed.items.length, 2);
        assert.deepEqual(listed.items[0], output.key);
        assert.equal(listed.next, undefined);
        assert.equal((await on.store.read('keys', { appNo: other.no, page })).items.length, 1);
      });

      it('refuses a key id that is taken in any app', async () => {
        const key = newKey();
        await newApp(on.store, key);
        const other = await newApp(on.store);
        const again = newKey({ id: key.id });
        assert.deepEqual(await on.store.edit('createKey', { appNo: other.no, key: again }), {
          kind: 'key_taken',
        });
      });

      it('rotates: the current hash becomes the old one', async () => {
        const key = newKey();
        const app = await newApp(on.store, key);
        const hash = digest('next');
        const output = await on.store.edit('rotateKey', {
          appNo: app.no,
          id: key.id,
          hash,
          oldUntilMs: clock.ms + 9,
        });
        assert(output.kind === 'rotated');
        assert.deepEqual(plain(output.key.hash), plain(hash));
        assert.deepEqual(plain(output.key.oldHash), plain(key.hash));
        assert.equal(output.key.oldUntilMs, clock.ms + 9);
        assert.deepEqual(await on.store.read('key', { id: key.id }), output.key);
      });

      it('revokes once, and keeps the time of the first revocation', async () => {
        const key = newKey();
        const app = await newApp(on.store, key);
        const revokedMs = clock.ms;
        const first = await on.store.edit('revokeKey', { appNo: app.no, id: key.id });
        assert(first.kind === 'revoked');
        assert.equal(first.key.revokedMs, revokedMs);
        assert.deepEqual(await on.store.read('key', { id: key.id }), first.key);
        clock.ms += 1000;
        const second = await on.store.edit('revokeKey', { appNo: app.no, id: key.id });
        assert.deepEqual(second, { ...first, isRepeated: true });
      });

      it('does not rotate a revoked key', async () => {
        const key = newKey();
        const app = await newApp(on.store, key);
        await on.store.edit('revokeKey', { appNo: app.no, id: key.id });
        const input = { appNo: app.no, id: key.id, hash: digest('x'), oldUntilMs: 1 };
        assert.deepEqual(await on.store.edit('rotateKey', input), { kind: 'revoked' });
      });

      it("treats another app's key as unknown", async () => {
        const key = newKey();
        await newApp(on.store, key);
        const other = await newApp(on.store);
        for (const id of [key.id, 'zzzzzzzz']) {
          const input = { appNo: other.no, id };
          assert.deepEqual(await on.store.edit('revokeKey', input), { kind: 'not_found' });
          const rotation = { ...input, hash: digest('x'), oldUntilMs: 1 };
          assert.deepEqual(await on.store.edit('rotateKey', rotation), { kind: 'not_found' });
        }
        const untouched = await on.store.read('key', { id: key.id });
        assert.equal(untouched?.revokedMs, undefined);
        assert.equal(untouched?.oldHash, undefined);
      });

      it('records when keys were used, and ignores unknown ones', async () => {
        const [a, b, c] = [newKey(), newKey(), newKey()];
        for (const key of [a, b, c]) await newApp(on.store, key);
        const output = await on.store.edit('touchKeys', { ids: [a.id, 'zzzzzzzz', b.id] });
        assert.deepEqual(output, { kind: 'touched' });
        assert.equal((await on.store.read('key', { id: a.id }))?.usedMs, clock.ms);
        assert.equal((await on.store.read('key', { id: b.id }))?.usedMs, clock.ms);
        assert.equal((await on.store.read('key', { id: c.id }))?.usedMs, undefined);
      });

      it('returns undefined for an unknown key', async () => {
        assert.equal(await on.store.read('key', { id: 'zzzzzzzz' }), undefined);
      });
    });
  });
}
