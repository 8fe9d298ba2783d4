import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { nonceBytes, open, seal, type KeyRing } from './seal.ts';

const ring: KeyRing = [randomBytes(32)];
const plain = Buffer.from('whsec_something');
const sealed = seal(plain, { ring, nonce: randomBytes(nonceBytes), context: 'app/sub' });

describe('open', () => {
  it('opens a sealed value in the same context only', () => {
    assert.deepEqual(open(sealed, { ring, context: 'app/sub' }), plain);
    assert.equal(open(sealed, { ring, context: 'app/other' }), undefined);
  });

  it('does not open with another key', () => {
    assert.equal(open(sealed, { ring: [randomBytes(32)], context: 'app/sub' }), undefined);
  });

  it('opens with a replaced key, as long as it is in the ring', () => {
    const rotated: KeyRing = [randomBytes(32), ring[0]];
    assert.deepEqual(open(sealed, { ring: rotated, context: 'app/sub' }), plain);
    const newer = seal(plain, { ring: rotated, nonce: randomBytes(nonceBytes), context: 'x' });
    assert.equal(open(newer, { ring, context: 'x' }), undefined);
  });

  it('does not open a value that was changed by one bit or truncated', () => {
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Uint8Array.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      assert.equal(open(changed, { ring, context: 'app/sub' }), undefined, `byte ${at}`);
      assert.equal(open(sealed.subarray(0, at), { ring, context: 'app/sub' }), undefined);
    }
  });

  it('hides the plaintext', () => {
    assert.equal(Buffer.from(sealed).includes('whsec_'), false);
  });
});
