import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { readSecrets } from './secrets.ts';

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** The message, after it was made sure that nothing of the secret stands in it. */
function refusal(secret: string | readonly string[]): string {
  try {
    readSecrets(secret);
  } catch (error) {
    assert(error instanceof TypeError);
    for (const one of [secret].flat()) {
      const key = one.slice(one.indexOf('_') + 1).trim();
      if (key.length > 4) assert.ok(!error.message.includes(key.slice(0, 5)), error.message);
    }
    return error.message;
  }
  return 'none';
}

describe('readSecrets', () => {
  it('accepts shared secrets and public keys, one or several', () => {
    const shared = `whsec_${base64(randomBytes(24))}`;
    const key = `whpk_${base64(randomBytes(32))}`;
    assert.deepEqual(
      [shared, key, [shared, key]].map((one) => readSecrets(one).map(({ version }) => version)),
      [['v1'], ['v1a'], ['v1', 'v1a']],
    );
  });

  it('refuses a private key, suggests the public one, and repeats nothing of it', () => {
    const message = refusal(`whsk_${base64(randomBytes(64))}`);
    assert.match(message, /private key \("whsk_…"\), expected the public key .* replace it/);
  });

  it('refuses secrets that are too short, too long, or malformed', () => {
    const refused: [string, RegExp][] = [
      [`whsec_${base64(randomBytes(23))}`, /has 23 bytes, expected 24 to 256/],
      [`whsec_${base64(randomBytes(257))}`, /has 257 bytes/],
      ['whsec_', /has 0 bytes/],
      [`whpk_${base64(randomBytes(31))}`, /has 31 bytes, expected 32/],
      [`whpk_${base64(randomBytes(64))}`, /has 64 bytes, expected 32/],
      [base64(randomBytes(32)), /has another prefix, expected "whsec_…" or "whpk_…"/],
      [`WHSEC_${base64(randomBytes(32))}`, /has another prefix/],
      ['', /has another prefix/],
      [`whsec_${base64(randomBytes(32))}\n`, /leading or trailing whitespace/],
      [`whsec_${base64(Buffer.alloc(32, 0xff)).replaceAll('/', '_')}`, /not base64/],
      [`whsec_${base64(randomBytes(32)).replace('=', '')}`, /not base64/],
      [`whsec_${'*'.repeat(44)}`, /not base64/],
      [`whsec_=${'A'.repeat(43)}`, /not base64/],
    ];
    for (const [secret, says] of refused) assert.match(refusal(secret), says);
  });

  it('refuses none, and more than four', () => {
    const secret = `whsec_${base64(randomBytes(32))}`;
    assert.match(refusal([]), /with 0 secrets: expected 1 to 4/);
    assert.match(refusal(Array.from({ length: 5 }, () => secret)), /with 5 secrets/);
    const missing: string[] = JSON.parse('[null]');
    assert.throws(() => readSecrets(missing), /of type object/);
    assert.throws(() => readSecrets(Reflect.get({}, 'secret')), /none is given/);
  });

  it('refuses public keys of small order, for which anyone can sign', () => {
    const p = 2n ** 255n - 19n;
    const low = [0n, 1n, p - 1n, p, p + 1n].map(littleEndian);
    for (const hex of ['26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05']) {
      low.push(Buffer.from(hex, 'hex'), littleEndian(p - fromLittleEndian(hex)));
    }
    for (const raw of low) {
      const withSign = Buffer.from(raw);
      withSign[31] = (withSign[31] ?? 0) | 0x80;
      for (const one of [raw, withSign])
        assert.match(refusal(`whpk_${base64(one)}`), /anyone can forge/);
    }
  });
});

function littleEndian(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
}

function fromLittleEndian(hex: string): bigint {
  return BigInt(`0x${Buffer.from(hex, 'hex').reverse().toString('hex')}`);
}
