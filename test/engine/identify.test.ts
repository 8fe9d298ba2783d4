// The cache in front of the store: short-lived, bounded, and never of a failure.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashKey, makeKey, type Key } from '../../src/core/domain/key.ts';
import { idMaker } from '../../src/core/base/id.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { createApp } from '../../src/engine/access/apps.ts';
import { createIdentifier, type Identifier } from '../../src/engine/access/identify.ts';
import { signIn, signOut } from '../../src/engine/access/sessions.ts';
import { memoryStore } from '../store/migrated-memory.ts';
import { StoreUnavailable, type Store } from '../../src/store/port/store.ts';
import { frozenWorld, type FrozenWorld } from '../api/frozen-world.ts';

interface Stage extends AsyncDisposable {
  world: FrozenWorld;
  /** Counts calls, and fails while `faults` says so. */
  store: Store;
  counts: { reads: number; touches: number };
  faults: { reads: boolean; edits: boolean };
  touchErrors: unknown[];
  newIdentifier: () => Identifier;
  key: Key;
  secret: string;
}

async function stage(): Promise<Stage> {
  const world = frozenWorld();
  const inner = memoryStore({ world, onFatal: (error) => assert.fail(error) });
  const counts = { reads: 0, touches: 0 };
  const faults = { reads: false, edits: false };
  const store: Store = {
    ...inner,
    read: async (verb, input) => {
      counts.reads += 1;
      if (faults.reads) throw new StoreUnavailable('away');
      return inner.read(verb, input);
    },
    edit: async (verb, input) => {
      if (verb === 'touchKeys') counts.touches += 1;
      if (faults.edits) throw new StoreUnavailable('away');
      return inner.edit(verb, input);
    },
  };
  const touchErrors: unknown[] = [];
  const onTouchError = (error: unknown): void => void touchErrors.push(error);
  const { key, secret } = await createApp({ world, store, newId: idMaker(world) }, 'app');
  return {
    world,
    store,
    counts,
    faults,
    touchErrors,
    newIdentifier: () => createIdentifier({ world, store, onTouchError }),
    key,
    secret,
    [Symbol.asyncDispose]: async () => inner.close(),
  };
}

describe('createIdentifier', () => {
  it('asks the store once a second, however many ask at once', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    const found = await Promise.all(
      Array.from({ length: 50 }, async () => identifier.identify(on.secret)),
    );
    assert.ok(found.every((key) => key?.id === on.key.id));
    assert.equal(on.counts.reads, 1);
    on.world.advance(limits.keyCacheMs - 1);
    await identifier.identify(on.secret);
    assert.equal(on.counts.reads, 1);
    on.world.advance(1);
    await identifier.identify(on.secret);
    assert.equal(on.counts.reads, 2);
  });

  it('remembers for a second that a key is unknown', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    const unknown = makeKey(on.world).key;
    assert.equal(await identifier.identify(unknown), undefined);
    assert.equal(await identifier.identify(unknown), undefined);
    assert.equal(on.counts.reads, 1);
    on.world.advance(limits.keyCacheMs);
    await identifier.identify(unknown);
    assert.equal(on.counts.reads, 2);
  });

  it('neither admits a wrong secret of a cached id, nor evicts the right one', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    const wrong = makeKey(on.world, on.key.id).key;
    assert.equal(await identifier.identify(wrong), undefined);
    assert.equal((await identifier.identify(on.secret))?.id, on.key.id);
    assert.equal(await identifier.identify(wrong), undefined);
    assert.equal(on.counts.reads, 1);
  });

  it('does not ask the store about a key whose checksum is wrong', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    const last = on.secret.endsWith('0') ? '1' : '0';
    for (const broken of [`${on.secret.slice(0, -1)}${last}`, 'rbk_', `${on.secret}0`]) {
      assert.equal(await identifier.identify(broken), undefined);
    }
    assert.equal(on.counts.reads, 0);
  });

  it('notices a revocation elsewhere within a second, and its own at once', async () => {
    await using on = await stage();
    const [here, elsewhere] = [on.newIdentifier(), on.newIdentifier()];
    assert.ok((await here.identify(on.secret)) && (await elsewhere.identify(on.secret)));
    await on.store.edit('revokeKey', { appNo: on.key.appNo, id: on.key.id });
    here.forget(on.key.id);
    assert.equal(await here.identify(on.secret), undefined);
    assert.ok(await elsewhere.identify(on.secret), 'this is why the second is short');
    on.world.advance(limits.keyCacheMs);
    assert.equal(await elsewhere.identify(on.secret), undefined);
    assert.ok(limits.keyCacheMs <= 1_000);
  });

  it('asks the store again after a suspension, when a key may have been revoked elsewhere', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    assert.ok(await identifier.identify(on.secret));
    await on.store.edit('revokeKey', { appNo: on.key.appNo, id: on.key.id });
    on.world.suspend(limits.keyCacheMs);
    assert.equal(await identifier.identify(on.secret), undefined);
  });

  it('ignores an answer that was in flight while the key was revoked', async () => {
    await using on = await stage();
    const gate = Promise.withResolvers<void>();
    const slow: Store = {
      ...on.store,
      read: async (verb, input) => {
        const answer = await on.store.read(verb, input);
        await gate.promise;
        return answer;
      },
    };
    const { world } = on;
    const onTouchError = (error: unknown): void => assert.fail(String(error));
    const identifier = createIdentifier({ world, store: slow, onTouchError });
    const early = identifier.identify(on.secret);
    await on.store.edit('revokeKey', { appNo: on.key.appNo, id: on.key.id });
    identifier.forget(on.key.id);
    gate.resolve();
    await early;
    assert.equal(await identifier.identify(on.secret), undefined);
  });

  it('checks expiry and the end of an overlap by the clock, not by its cache', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    const { key: fresh } = makeKey(on.world, on.key.id);
    const oldUntilMs = on.world.nowMs() + 500;
    const { appNo, id } = on.key;
    await on.store.edit('rotateKey', { appNo, id, hash: hashKey(fresh), oldUntilMs });
    assert.ok((await identifier.identify(on.secret)) && (await identifier.identify(fresh)));
    on.world.advance(500);
    assert.equal(await identifier.identify(on.secret), undefined);
    assert.ok(await identifier.identify(fresh));
    assert.equal(on.counts.reads, 1);
  });

  it('does not cache a failure of the store', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    on.faults.reads = true;
    await assert.rejects(async () => identifier.identify(on.secret), StoreUnavailable);
    await assert.rejects(async () => identifier.identify(on.secret), StoreUnavailable);
    on.faults.reads = false;
    assert.equal((await identifier.identify(on.secret))?.id, on.key.id);
  });

  it('records the last use at most once a minute for each key', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    await Promise.all(Array.from({ length: 20 }, async () => identifier.identify(on.secret)));
    assert.equal(on.counts.touches, 1);
    on.world.advance(limits.keyTouchMs - 1);
    await identifier.identify(on.secret);
    assert.equal(on.counts.touches, 1);
    on.world.advance(1);
    await identifier.identify(on.secret);
    assert.equal(on.counts.touches, 2);
  });

  it('does not record a use that was recorded within the minute, even by another node', async () => {
    await using on = await stage();
    await on.newIdentifier().identify(on.secret);
    await on.store.read('key', { id: on.key.id }); // The use is written by now.
    await on.newIdentifier().identify(on.secret);
    assert.equal(on.counts.touches, 1);
  });

  it('records no use of a key that was refused', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    await identifier.identify(makeKey(on.world, on.key.id).key);
    await identifier.identify(makeKey(on.world).key);
    assert.equal(on.counts.touches, 0);
  });

  it('admits the caller when the use cannot be recorded, and reports it', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    on.faults.edits = true;
    assert.equal((await identifier.identify(on.secret))?.id, on.key.id);
    assert.equal(on.touchErrors.length, 1);
  });

  it('caches a bounded number of keys, and evicts the oldest first', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    await identifier.identify(on.secret);
    for (let index = 0; index < limits.keyCacheEntriesMax - 1; index += 1) {
      await identifier.identify(`a chosen key that nobody has, number ${index}`);
    }
    const reads = on.counts.reads;
    assert.equal(reads, limits.keyCacheEntriesMax);
    await identifier.identify(on.secret);
    assert.equal(on.counts.reads, reads, 'still there');
    await identifier.identify('one more than fits');
    await identifier.identify(on.secret);
    assert.equal(on.counts.reads, reads + 2, 'the oldest was forgotten');
  });
});

describe('identifySession', () => {
  it('asks the store once a second for the session, and once for its key', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    const { session } = await signIn(on, identifier, { key: on.secret });
    const before = on.counts.reads;
    const find = async (): Promise<boolean> =>
      (await identifier.identifySession(session.token))?.key.id === on.key.id;
    assert.deepEqual(await Promise.all([find(), find(), find()]), [true, true, true]);
    assert.equal(on.counts.reads, before + 1, 'the key is known from the sign-in');
    on.world.advance(limits.keyCacheMs);
    assert.ok(await find());
    assert.equal(on.counts.reads, before + 3);
  });

  it('does not ask the store about text that cannot be a token', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    for (const broken of ['', 'x', 'A'.repeat(42), `${'A'.repeat(43)}=`, on.secret]) {
      assert.equal(await identifier.identifySession(broken), undefined);
    }
    assert.equal(on.counts.reads, 0);
  });

  it('notices an end elsewhere within a second, and its own at once', async () => {
    await using on = await stage();
    const [here, elsewhere] = [on.newIdentifier(), on.newIdentifier()];
    const { session } = await signIn(on, here, { key: on.secret });
    for (const each of [here, elsewhere]) assert.ok(await each.identifySession(session.token));
    await signOut(on, here, session);
    assert.equal(await here.identifySession(session.token), undefined);
    assert.ok(await elsewhere.identifySession(session.token), 'this is why the second is short');
    on.world.advance(limits.keyCacheMs);
    assert.equal(await elsewhere.identifySession(session.token), undefined);
  });

  it('does not revive a session that ended elsewhere by extending it', async () => {
    await using on = await stage();
    const [here, elsewhere] = [on.newIdentifier(), on.newIdentifier()];
    const { session } = await signIn(on, here, { key: on.secret });
    on.world.advance(limits.sessionProlongMs);
    assert.ok(await elsewhere.identifySession(session.token));
    await signOut(on, here, session);
    on.world.advance(limits.keyCacheMs);
    assert.equal(await elsewhere.identifySession(session.token), undefined);
    assert.equal(await on.store.read('session', { hash: session.hash }), undefined);
  });

  it('extends at most every ten minutes, and again if that could not be written', async () => {
    await using on = await stage();
    const identifier = on.newIdentifier();
    const { session } = await signIn(on, identifier, { key: on.secret });
    const kept = async (): Promise<number | undefined> =>
      (await on.store.read('session', { hash: session.hash }))?.expiresMs;
    const use = async (): Promise<void> => {
      assert.ok(await identifier.identifySession(session.token));
    };
    const firstMs = await kept();
    on.world.advance(limits.sessionProlongMs - 1);
    await use();
    assert.equal(await kept(), firstMs);
    on.world.advance(1);
    on.faults.edits = true;
    await use();
    on.faults.edits = false;
    assert.equal(await kept(), firstMs);
    assert.ok(on.touchErrors.length > 0);
    await use();
    assert.equal(await kept(), on.world.nowMs() + limits.sessionMs);
  });
});
