// The contract of the Store port: sessions of the console.
import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import type { App } from '../../src/core/domain/app.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { makeToken, type PortalGrant, type SessionKind } from '../../src/core/domain/session.ts';
import { realWorld } from '../../src/core/base/world.ts';
import type { NewKey, Store } from '../../src/store/port/store.ts';
import { VerbFailed } from '../../src/store/port/store.ts';
import type { OpenSubject, Subject } from './subject.ts';
import { newApp, newKey } from './subject.ts';

const lifeMs = 1_000;

export function sessionContract(name: string, open: OpenSubject): void {
  describe(`the session contract: ${name}`, () => {
    const clock = { ms: 1_700_000_000_000 };
    let subject: Subject;
    let store: Store;
    const key = newKey();
    before(async () => {
      subject = await open({ nowMs: () => clock.ms });
      store = subject.store;
      await newApp(store, key);
    });
    after(async () => subject.dispose());

    const create = async (kind: SessionKind, portal?: PortalGrant): Promise<Uint8Array> => {
      const { hash } = makeToken(realWorld());
      const secret = { keyId: key.id, keyHash: key.hash };
      const input = { hash, kind, ...secret, expiresMs: clock.ms + lifeMs, portal };
      assert.equal((await store.edit('createSession', input)).kind, 'created');
      return hash;
    };
    const read = async (hash: Uint8Array) => store.read('session', { hash });
    const take = async (hash: Uint8Array, opens: 'console' | 'portal' = 'console') =>
      store.edit('takeTicket', { hash, opens });

    it('stores a session with its key and its times', async () => {
      const hash = await create('session');
      const found = await read(hash);
      assert.deepEqual(
        {
          ...found,
          hash: Buffer.from(found?.hash ?? []),
          keyHash: Buffer.from(found?.keyHash ?? []),
        },
        {
          hash: Buffer.from(hash),
          keyId: key.id,
          keyHash: Buffer.from(key.hash),
          createdMs: clock.ms,
          expiresMs: clock.ms + lifeMs,
          portal: undefined,
        },
      );
      assert.equal(await read(makeToken(realWorld()).hash), undefined);
    });

    it('refuses an unknown key, an expired session and an invalid hash', async () => {
      const { hash } = makeToken(realWorld());
      const [keyId, keyHash] = [key.id, key.hash];
      const good = {
        hash,
        kind: 'session',
        keyId,
        keyHash,
        expiresMs: clock.ms + 1,
      } as const;
      const unknown = await store.edit('createSession', { ...good, keyId: 'zzzzzzzz' });
      assert.deepEqual(unknown, { kind: 'not_found' });
      const over = { ...good, expiresMs: clock.ms };
      await assert.rejects(store.edit('createSession', over), VerbFailed);
      const short = { ...good, hash: hash.subarray(1) };
      await assert.rejects(store.edit('createSession', short), VerbFailed);
      const ofNothing = { ...good, keyHash: keyHash.subarray(1) };
      await assert.rejects(store.edit('createSession', ofNothing), VerbFailed);
      assert.equal(await read(hash), undefined);
    });

    it('redeems a ticket once', async () => {
      const hash = await create('ticket');
      assert.equal(await read(hash), undefined, 'a ticket is not a session');
      const all = await Promise.all([1, 2, 3].map(async () => take(hash)));
      const plain = all.map((one) =>
        one.kind === 'taken' ? { ...one, keyHash: Buffer.from(one.keyHash) } : one,
      );
      assert.deepEqual(plain, [
        { kind: 'taken', keyId: key.id, keyHash: Buffer.from(key.hash), portal: undefined },
        { kind: 'not_found' },
        { kind: 'not_found' },
      ]);
    });

    it('keeps what a link to a portal grants, which opens no session of the console', async () => {
      const portal = {
        customer: 'cus_1',
        can: ['view', 'retry'],
        theme: 'dark',
        language: undefined,
        untilMs: clock.ms + 10 * lifeMs,
      } as const;
      const hash = await create('ticket', portal);
      assert.deepEqual(await take(hash), { kind: 'not_found' });
      const taken = await take(hash, 'portal');
      const { language, ...kept } = portal;
      assert.deepEqual(taken.kind === 'taken' && taken.portal, kept);
      assert.equal(language, undefined);
      assert.deepEqual((await read(await create('session', portal)))?.portal, kept);
      const console = await create('ticket');
      assert.deepEqual(await take(console, 'portal'), { kind: 'not_found' });
      assert.equal((await take(console)).kind, 'taken');
    });

    it('does not redeem an expired ticket, nor a session', async () => {
      const [ticket, session] = [await create('ticket'), await create('session')];
      const taken = await take(session);
      assert.deepEqual(taken, { kind: 'not_found' });
      clock.ms += lifeMs;
      const late = await take(ticket);
      assert.deepEqual(late, { kind: 'not_found' });
    });

    it('prolongs a session, never shortens it, and does not affect tickets or other sessions', async () => {
      const [session, other, ticket] = [
        await create('session'),
        await create('session'),
        await create('ticket'),
      ];
      const untilMs = clock.ms + 10 * lifeMs;
      for (const hash of [session, ticket]) {
        await store.edit('prolongSession', { hash, expiresMs: untilMs });
        await store.edit('prolongSession', { hash, expiresMs: clock.ms + 1 });
      }
      assert.equal((await read(session))?.expiresMs, untilMs);
      assert.equal((await read(other))?.expiresMs, clock.ms + lifeMs);
      clock.ms += lifeMs;
      const late = await take(ticket);
      assert.deepEqual(late, { kind: 'not_found' });
    });

    it('ends a session permanently', async () => {
      const [session, other, ticket] = [
        await create('session'),
        await create('session'),
        await create('ticket'),
      ];
      for (const hash of [session, session, ticket]) await store.edit('endSession', { hash });
      await store.edit('prolongSession', { hash: session, expiresMs: clock.ms + lifeMs });
      assert.equal(await read(session), undefined);
      assert.notEqual(await read(other), undefined);
      assert.equal((await take(ticket)).kind, 'taken');
    });

    it('deletes expired rows, a bounded number at a time', async () => {
      clock.ms += 100 * lifeMs;
      const forget = async (limit: number): Promise<number> =>
        (await store.edit('forgetSessions', { beforeMs: clock.ms, limit })).deleted;
      while ((await forget(100)) > 0);
      const old = [await create('session'), await create('ticket'), await create('session')];
      clock.ms += lifeMs + 1;
      const young = await create('session');
      assert.deepEqual([await forget(2), await forget(2), await forget(2)], [2, 1, 0]);
      for (const hash of old) assert.equal(await read(hash), undefined);
      assert.notEqual(await read(young), undefined);
    });

    describe('adminKey', () => {
      const admin = async (app: App): Promise<string | undefined> =>
        (await store.read('adminKey', { appNo: app.no, nowMs: clock.ms }))?.keyId;
      const add = async (app: App, changes: Partial<NewKey>): Promise<string> => {
        const made = newKey({ scopes: ['read', 'admin'], ...changes });
        await store.edit('createKey', { appNo: app.no, key: made });
        return made.id;
      };

      it('is the oldest active key that may manage the app', async () => {
        const app = await newApp(store, newKey({ scopes: ['read'] }));
        assert.equal(await admin(app), undefined);
        await add(app, { expiresMs: clock.ms });
        const revoked = await add(app, {});
        await store.edit('revokeKey', { appNo: app.no, id: revoked });
        const first = await add(app, { expiresMs: clock.ms + 1 });
        const second = await add(app, {});
        assert.equal(await admin(app), first);
        clock.ms += 1;
        assert.equal(await admin(app), second);
        assert.equal(await admin({ ...app, no: app.no + 1_000 }), undefined);
      });

      it('is found behind many others', async () => {
        const app = await newApp(store, newKey({ scopes: ['read'] }));
        const others = Array.from({ length: limits.searchRowsMin }, async () =>
          add(app, { scopes: ['read'] }),
        );
        await Promise.all(others);
        const wanted = await add(app, {});
        assert.equal(await admin(app), wanted);
      });
    });
  });
}
