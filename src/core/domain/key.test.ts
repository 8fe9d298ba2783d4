import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { noQuotas } from '../load/quotas.ts';
import { admits, base62, hashKey, isLive, type Key, keyIdOf, makeKey } from './key.ts';

const { id, key } = makeKey({ randomBytes });

function stored(change: Partial<Key> = {}): Key {
  return {
    id,
    appNo: 1,
    appId: 'a',
    appQuotas: noQuotas,
    appHasEventTypes: false,
    name: 'test',
    customer: undefined,
    scopes: ['read'],
    hash: hashKey(key),
    oldHash: undefined,
    oldUntilMs: undefined,
    createdMs: 0,
    expiresMs: undefined,
    revokedMs: undefined,
    usedMs: undefined,
    ...change,
  };
}

describe('makeKey', () => {
  it('makes rbk_, an id, 43 random characters and a checksum, letters and digits only', () => {
    assert.match(key, /^rbk_[0-9A-Za-z]{57}$/);
    assert.equal(key.slice(4, 12), id);
  });

  it('keeps the id of a key that is rotated', () => {
    const next = makeKey({ randomBytes }, id);
    assert.equal(keyIdOf(next.key), id);
    assert.notEqual(next.key, key);
  });

  it('never repeats a key, and uses all characters evenly', () => {
    const count = 20_000;
    const keys = new Set<string>();
    const seen = new Map<string, number>();
    for (let i = 0; i < count; i += 1) {
      const made = makeKey({ randomBytes }).key;
      keys.add(made);
      // The first of the 43 digits carries less than 6 of the 256 bits, so it is not uniform.
      for (const char of made.slice(13, 55)) seen.set(char, (seen.get(char) ?? 0) + 1);
    }
    assert.equal(keys.size, count);
    const expected = (count * 42) / 62;
    const chi = [...seen.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
    assert.equal(seen.size, 62);
    assert.ok(chi < 140, `chi-square ${chi} with 61 degrees of freedom`); // p < 1e-7
  });
});

describe('keyIdOf', () => {
  it('finds the id in the key', () => {
    assert.equal(keyIdOf(key), id);
  });

  it('refuses every change of a single character', () => {
    for (let at = 4; at < key.length; at += 1) {
      const other = key.charAt(at) === 'x' ? 'y' : 'x';
      const changed = key.slice(0, at) + other + key.slice(at + 1);
      assert.equal(keyIdOf(changed), undefined, `at ${at}`);
    }
  });

  it('refuses text that begins like a key but is not one', () => {
    for (const text of ['rbk_', `${key}0`, key.slice(0, -1), `${key}\n`, 'rbk_ä']) {
      assert.equal(keyIdOf(text), undefined);
    }
  });

  it('derives an id from the hash of a key that an operator chose', () => {
    const chosen = 'correct horse battery staple, twice';
    assert.match(keyIdOf(chosen) ?? '', /^[0-9A-Za-z]{8}$/);
    assert.equal(keyIdOf(chosen), keyIdOf(chosen));
    assert.notEqual(keyIdOf(chosen), keyIdOf(`${chosen}!`));
  });
});

describe('admits', () => {
  const hash = hashKey(key);
  const old = hashKey('old');

  it('admits the key and no other', () => {
    assert.equal(admits(stored(), hash, 0), true);
    assert.equal(admits(stored(), old, 0), false);
  });

  it('admits the old key until the overlap ends', () => {
    const rotated = stored({ oldHash: old, oldUntilMs: 100 });
    assert.equal(admits(rotated, old, 99), true);
    assert.equal(admits(rotated, old, 100), false);
    assert.equal(admits(rotated, hash, 100), true);
  });

  it('admits neither expired nor revoked keys, old or new', () => {
    assert.equal(admits(stored({ expiresMs: 100 }), hash, 99), true);
    assert.equal(admits(stored({ expiresMs: 100 }), hash, 100), false);
    const revoked = stored({ revokedMs: 1, oldHash: old, oldUntilMs: 100 });
    assert.equal(admits(revoked, hash, 50), false);
    assert.equal(admits(revoked, old, 50), false);
  });
});

describe('isLive', () => {
  it('is false from the moment of expiry', () => {
    assert.equal(isLive(stored({ expiresMs: 5 }), 4), true);
    assert.equal(isLive(stored({ expiresMs: 5 }), 5), false);
    assert.equal(isLive(stored({ revokedMs: 1 }), 0), false);
  });
});

it('writes a narrow number as the last digits of a wide one', () => {
  for (let seed = 0; seed < 500; seed += 1) {
    const bytes = Uint8Array.from({ length: 1 + (seed % 40) }, (_, i) => seed * 31 + i * i * 97);
    const all = base62(bytes, 60);
    for (const width of [1, 6, 8]) assert.equal(base62(bytes, width), all.slice(-width));
  }
});

it('writes the largest and the smallest value', () => {
  assert.equal(base62(new Uint8Array(4).fill(0xff), 6), '4gfFC3');
  assert.equal(base62(new Uint8Array(4), 6), '000000');
});
