import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodeSecrets,
  encodeSecrets,
  makeSigningSecret,
  rotateSecrets,
  validSecrets,
} from './signing-secret.ts';

const first = makeSigningSecret(new Uint8Array(32).fill(1), 1000);
const second = makeSigningSecret(new Uint8Array(32).fill(2), 2000);

describe('makeSigningSecret', () => {
  it('is whsec_ and base64 of the random bytes', () => {
    assert.equal(first.secret, `whsec_${Buffer.alloc(32, 1).toString('base64')}`);
  });
});

describe('rotateSecrets', () => {
  it('puts the new one first and ends the old one after the overlap', () => {
    const rotated = rotateSecrets([first], second, 500);
    assert.deepEqual(rotated, [second, { ...first, expiresMs: 2500 }]);
    assert.deepEqual(validSecrets(rotated, 2499), rotated);
    assert.deepEqual(validSecrets(rotated, 2500), [second]);
  });

  it('forgets the old one at once without an overlap, and older ones always', () => {
    assert.deepEqual(rotateSecrets([first], second, 0), [second]);
    const third = makeSigningSecret(new Uint8Array(32).fill(3), 2100);
    const rotated = rotateSecrets(rotateSecrets([first], second, 500), third, 500);
    assert.deepEqual(rotated, [third, { ...second, expiresMs: 2600 }]);
  });

  it('begins with nothing', () => {
    assert.deepEqual(rotateSecrets([], first, 500), [first]);
  });
});

describe('decodeSecrets', () => {
  it('reads what encodeSecrets wrote', () => {
    const secrets = rotateSecrets([first], second, 500);
    assert.deepEqual(decodeSecrets(encodeSecrets(secrets)), secrets);
  });

  it('refuses anything else', () => {
    for (const text of ['{}', '[1]', '[[1,2]]', '[["a"]]']) {
      assert.throws(() => decodeSecrets(Buffer.from(text)), /Cannot decode signing secrets/, text);
    }
  });
});
