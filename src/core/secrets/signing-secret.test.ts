import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodeSecrets,
  encodeSecrets,
  makeSigningSecret,
  rotateSecrets,
  signingOf,
  validSecrets,
  verifierOf,
} from './signing-secret.ts';

const first = makeSigningSecret(new Uint8Array(32).fill(1), 1000);
const second = makeSigningSecret(new Uint8Array(32).fill(2), 2000);

describe('makeSigningSecret', () => {
  it('is whsec_ and base64 of the random bytes', () => {
    assert.equal(first.secret, `whsec_${Buffer.alloc(32, 1).toString('base64')}`);
  });
});

describe('verifierOf', () => {
  it('is the shared secret, or the public key of a key pair', () => {
    assert.equal(verifierOf(first), first.secret);
    // RFC 8032, 7.1, test 1.
    const seed = Buffer.from(
      '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      'hex',
    );
    const known = Buffer.from(
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      'hex',
    );
    const pair = makeSigningSecret(seed, 1000, 'ed25519');
    assert.equal(pair.secret, `whsk_${Buffer.concat([seed, known]).toString('base64')}`);
    assert.equal(verifierOf(pair), `whpk_${known.toString('base64')}`);
    assert.deepEqual([signingOf(first), signingOf(pair)], ['hmac', 'ed25519']);
    assert.deepEqual(decodeSecrets(encodeSecrets([pair, first])), [pair, first]);
  });
});

describe('rotateSecrets', () => {
  it('puts the new secret first and expires the old one after the overlap', () => {
    const rotated = rotateSecrets([first], second, 500);
    assert.deepEqual(rotated, [second, { ...first, expiresMs: 2500 }]);
    assert.deepEqual(validSecrets(rotated, 2499), rotated);
    assert.deepEqual(validSecrets(rotated, 2500), [second]);
  });

  it('drops the old secret at once without an overlap, and older ones always', () => {
    assert.deepEqual(rotateSecrets([first], second, 0), [second]);
    const third = makeSigningSecret(new Uint8Array(32).fill(3), 2100);
    const rotated = rotateSecrets(rotateSecrets([first], second, 500), third, 500);
    assert.deepEqual(rotated, [third, { ...second, expiresMs: 2600 }]);
  });

  it('accepts an empty list', () => {
    assert.deepEqual(rotateSecrets([], first, 500), [first]);
  });
});

describe('decodeSecrets', () => {
  it('round-trips through encodeSecrets', () => {
    const secrets = rotateSecrets([first], second, 500);
    assert.deepEqual(decodeSecrets(encodeSecrets(secrets)), secrets);
  });

  it('refuses anything else', () => {
    for (const text of ['{}', '[1]', '[[1,2]]', '[["a"]]']) {
      assert.throws(() => decodeSecrets(Buffer.from(text)), /Cannot decode signing secrets/, text);
    }
  });
});
