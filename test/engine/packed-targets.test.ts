import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { KeyRing } from '../../src/core/secrets/seal.ts';
import { makeSigningSecret, rotateSecrets } from '../../src/core/secrets/signing-secret.ts';
import { PackedTargets } from '../../src/engine/targets/packed-targets.ts';
import { createPrepare } from '../../src/engine/targets/prepared-target.ts';
import { sealHeaders, sealSecrets } from '../../src/engine/targets/secrets.ts';
import { createTargetCache, type TargetCache } from '../../src/engine/targets/target-cache.ts';
import type { Target } from '../../src/store/port/delivery-verbs.ts';
import { virtualWorld } from './virtual-world.ts';

const world = virtualWorld();
const ring: KeyRing = [new Uint8Array(32).fill(1)];
const prepare = createPrepare(ring, []);
const older = makeSigningSecret(world.randomBytes(32), world.nowMs());
const newer = makeSigningSecret(world.randomBytes(32), world.nowMs() + 1);
const secrets = rotateSecrets([older], newer, 1_000);

/** A thousand subscriptions share the callbacks in turn. */
function targetOf(callback: number, rest: Partial<Target> = {}): Target {
  const owner = { appId: 'a7', subscriptionId: `s${callback % 1_000}` };
  return {
    callback,
    lane: callback + 1,
    version: 3,
    isActive: true,
    subscription: owner.subscriptionId,
    appNo: 7,
    appId: owner.appId,
    contract: 'Größe "1"\n',
    operation: 'o',
    definition: 'd',
    method: 'POST',
    url: `http://127.0.0.1/${callback}`,
    secrets: sealSecrets({ ring, world }, owner, secrets),
    controls: noControls,
    headers: undefined,
    ...rest,
  };
}

/** The callbacks in the store, and how many of them were read. */
function stage(): {
  cache: TargetCache;
  stored: Map<number, Partial<Target>>;
  reads: () => number;
} {
  const stored = new Map<number, Partial<Target>>();
  let reads = 0;
  const read = async (
    _verb: string,
    { callbacks }: { callbacks: readonly number[] },
  ): Promise<readonly Target[]> => {
    reads += callbacks.length;
    return callbacks.map((callback) => targetOf(callback, stored.get(callback)));
  };
  return { cache: createTargetCache({ store: { read }, world }), stored, reads: () => reads };
}

/** Finds a target and unseals its secrets, as a delivery does. */
async function use(cache: TargetCache, callback: number): Promise<void> {
  prepare((await cache.find(callback, 1)) ?? assert.fail('there is none'));
}

/** Uses so many others that an earlier target is neither cached as an object nor known by name. */
async function useOthers(cache: TargetCache): Promise<void> {
  const count = limits.targetsSeenOnceMax + limits.targetCacheEntriesMax;
  for (let other = 0; other < count; other += 1) await use(cache, 100_001 + other);
}

describe('PackedTargets', () => {
  it('reuses the place of a deleted target, and mixes up none', () => {
    const packed = new PackedTargets();
    const [one, other, later] = [1, 2, 3].map((callback) => {
      const target = {
        ...targetOf(callback, { url: `http://127.0.0.1/${'x'.repeat(callback)}` }),
        secrets,
      };
      return { target, readMs: callback };
    });
    assert(one && other && later);
    packed.add(one);
    packed.add(other);
    packed.delete(1);
    packed.add(later);
    assert.deepEqual([packed.get(1), packed.get(2), packed.get(3)], [undefined, other, later]);
  });

  it('returns a target again, with its secrets unsealed, without a read', async () => {
    const { cache, reads } = stage();
    await use(cache, 1);
    await useOthers(cache);
    const before = reads();
    const found = cache.known(1, 3) ?? assert.fail('it is forgotten');
    const { secrets: sealed, ...expected } = targetOf(1);
    const { secrets: opened, ...rest } = found;
    assert.deepEqual(rest, expected);
    assert.deepEqual(opened, secrets);
    assert.deepEqual(prepare(found).secrets, secrets);
    assert.deepEqual([cache.appOf(1), cache.isCurrent(found), reads()], [7, true, before]);
    assert.notDeepEqual(sealed, opened);
  });

  it('returns it for a lease of its version, and reads for a later one', async () => {
    const { cache, stored, reads } = stage();
    await use(cache, 1);
    await useOthers(cache);
    assert.equal(cache.known(1, 4), undefined);
    stored.set(1, { version: 4, url: 'http://127.0.0.1/moved' });
    const before = reads();
    assert.equal((await cache.find(1, 4))?.url, 'http://127.0.0.1/moved');
    assert.equal(reads(), before + 1);
    // The new target was never unsealed, so it is dropped on eviction; the old one must not come
    // back in its place.
    await useOthers(cache);
    await useOthers(cache);
    assert.equal(cache.known(1, 3), undefined);
  });

  it('forgets all callbacks of a subscription that has changed, and no others', async () => {
    const { cache, stored } = stage();
    for (const callback of [1, 2, 1_001]) await use(cache, callback);
    await useOthers(cache);
    cache.forget('s1');
    assert.deepEqual([cache.known(1, 1), cache.known(1_001, 1)], [undefined, undefined]);
    assert.equal(cache.known(2, 1)?.callback, 2);
    stored.set(1, { isActive: false, version: 4 });
    assert.equal((await cache.find(1, 1))?.isActive, false);
  });

  it('forgets everything after very many changes, instead of remembering each of them', async () => {
    const { cache } = stage();
    await use(cache, 1);
    await useOthers(cache);
    for (let n = 0; n < limits.targetsChangedMax; n += 1) cache.forget(`other ${n}`);
    assert.equal(cache.known(1, 1)?.callback, 1);
    await useOthers(cache);
    await useOthers(cache);
    cache.forget('one more');
    assert.equal(cache.known(1, 1), undefined);
  });

  it('packs no target that is long, has ended, or has headers or settings of its own', async () => {
    const { cache, stored } = stage();
    const owner = { appId: 'a7', subscriptionId: 's2' };
    const url = `http://127.0.0.1/${'x'.repeat(limits.targetPackedBytesMax)}`;
    stored.set(1, { url });
    stored.set(2, {
      headers: sealHeaders({ ring, world }, owner, { own: [['x-a', 'b']], declared: [] }),
    });
    stored.set(3, { controls: { ...noControls, timeoutMs: 5 } });
    stored.set(4, { isActive: false });
    const all = [1, 2, 3, 4, 5];
    for (const callback of all) await use(cache, callback);
    await useOthers(cache);
    assert.deepEqual(
      all.filter((callback) => cache.known(callback, 1) !== undefined),
      [5],
    );
  });
});
