import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashToken, makeToken } from './session.ts';
import { realWorld } from '../base/world.ts';

describe('makeToken', () => {
  it('draws 256 bits that fit a cookie and a URL, and returns their hash', () => {
    const [one, other] = [makeToken(realWorld()), makeToken(realWorld())];
    assert.match(one.token, /^[\w-]{43}$/);
    assert.notEqual(one.token, other.token);
    assert.equal(one.hash.length, 32);
    assert.deepEqual(hashToken(one.token), one.hash);
    assert.notDeepEqual(hashToken(other.token), one.hash);
  });

  it('encodes all of the random bytes', () => {
    const { token } = makeToken({ randomBytes: (count) => new Uint8Array(count).fill(255) });
    assert.deepEqual(Buffer.from(token, 'base64url'), Buffer.alloc(32, 255));
  });
});

describe('hashToken', () => {
  it('refuses text that cannot be a token', () => {
    const { token } = makeToken(realWorld());
    for (const broken of ['', token.slice(1), `${token}A`, `${token.slice(1)}=`, `${token}\n`]) {
      assert.equal(hashToken(broken), undefined, JSON.stringify(broken));
    }
  });
});
