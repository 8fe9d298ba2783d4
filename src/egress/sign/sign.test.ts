import assert from 'node:assert/strict';
import crypto, { createPublicKey, randomBytes, verify } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { limits } from '../../core/limits/limits.ts';
import { makeSigningSecret, verifierOf } from '../../core/secrets/signing-secret.ts';
import { sign } from './sign.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const pair = makeSigningSecret(randomBytes(32), 1, 'ed25519');
const other = `whsec_${randomBytes(32).toString('base64')}`;

/** The current time, since verifiers refuse old timestamps. */
function nowS(): number {
  return Math.floor(Date.now() / 1000);
}

function headersOf(prefix: string, parts: { id: string; timestampS: number; signature: string }) {
  return {
    [`${prefix}-id`]: parts.id,
    [`${prefix}-timestamp`]: String(parts.timestampS),
    [`${prefix}-signature`]: parts.signature,
  };
}

describe('sign', () => {
  it('reproduces the official test vector', () => {
    const signature = sign({
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestampS: 1_614_265_330,
      payload: Buffer.from('{"test": 2432232314}'),
      secrets: [secret],
    });
    assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('is accepted by standardwebhooks and svix', () => {
    const id = 'evt_01jcz';
    const text = '{"message":"naïve ☃ 😀 \\u0000 12345678901234567890"}';
    const timestampS = nowS();
    const signature = sign({ id, timestampS, payload: Buffer.from(text), secrets: [secret] });
    const parts = { id, timestampS, signature };
    new StandardWebhook(secret).verify(text, headersOf('webhook', parts));
    new SvixWebhook(secret).verify(text, headersOf('svix', parts));
    const changed = text.replace('naïve', 'naive');
    assert.throws(() => new StandardWebhook(secret).verify(changed, headersOf('webhook', parts)));
  });

  it('can be verified with either secret during a rotation', () => {
    const id = 'evt_01jcz';
    const timestampS = nowS();
    const payload = Buffer.from('{"message":"x"}');
    const signature = sign({ id, timestampS, payload, secrets: [other, secret] });
    assert.equal(signature.split(' ').length, 2);
    const headers = headersOf('webhook', { id, timestampS, signature });
    for (const one of [secret, other]) new StandardWebhook(one).verify('{"message":"x"}', headers);
    const third = new StandardWebhook(`whsec_${randomBytes(32).toString('base64')}`);
    assert.throws(() => third.verify('{"message":"x"}', headers));
  });

  it('can be verified whatever the text is', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), (message) => {
      const id = 'evt_x';
      const timestampS = nowS();
      const text = JSON.stringify({ message });
      const signature = sign({ id, timestampS, payload: Buffer.from(text), secrets: [secret] });
      const parts = { id, timestampS, signature };
      new StandardWebhook(secret).verify(text, headersOf('webhook', parts));
      new SvixWebhook(secret).verify(text, headersOf('svix', parts));
    });
    fc.assert(property, { numRuns: 30 });
  });

  it('signs bytes, not text: every bit counts, even in invalid UTF-8', () => {
    const rest = { id: 'evt_x', timestampS: 1, secrets: [secret] };
    const payload = Buffer.from([0x80, 0xff, 0x00, 0xe9, 0x0a]);
    const seen = new Set([sign({ ...rest, payload })]);
    for (let bit = 0; bit < payload.length * 8; bit += 1) {
      const flipped = Buffer.from(payload);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      seen.add(sign({ ...rest, payload: flipped }));
    }
    assert.equal(seen.size, 1 + payload.length * 8);
  });

  it('refuses input that would make the signature ambiguous or worthless', () => {
    const good = { id: 'evt_x', timestampS: 1, payload: Buffer.from('x'), secrets: [secret] };
    for (const id of ['evt.x', 'evt x', '', 'evt\n']) {
      assert.throws(() => sign({ ...good, id }), /Cannot sign id/);
    }
    for (const timestampS of [1.5, -1, Number.NaN, Infinity]) {
      assert.throws(() => sign({ ...good, timestampS }), /whole seconds/);
    }
    assert.throws(() => sign({ ...good, secrets: [] }), /at least one secret/);
    assert.throws(() => sign({ ...good, secrets: ['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] }), /whsec_/);
    assert.throws(() => sign({ ...good, secrets: ['whsec_'] }), /has a key/);
    assert.throws(() => sign({ ...good, secrets: ['whsk_'] }), /has a key/);
    assert.throws(() => sign({ ...good, secrets: ['whsk_AAAA'] }), /has 64 bytes/);
    assert.throws(() => sign({ ...good, secrets: [verifierOf(pair)] }), /starts with/);
  });

  it('signs with Ed25519 as v1a, which the public key verifies', () => {
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: base64Url(verifierOf(pair).slice('whpk_'.length)) },
      format: 'jwk',
    });
    const payload = Buffer.from([0x80, 0xff, 0x00]);
    for (const timestampS of [1, 2]) {
      const signature = sign({ id: 'evt_x', timestampS, payload, secrets: [pair.secret] });
      const [version, text = ''] = signature.split(',');
      assert.equal(version, 'v1a');
      const message = Buffer.concat([Buffer.from(`evt_x.${timestampS}.`), payload]);
      assert.equal(verify(null, message, key, Buffer.from(text, 'base64')), true);
      message.writeUInt8(0, message.length - 2);
      assert.equal(verify(null, message, key, Buffer.from(text, 'base64')), false);
    }
  });

  it('creates the key object of a secret once, and keeps a bounded number of them', (t) => {
    const { mock } = t.mock.method(crypto, 'createPrivateKey');
    syncBuiltinESMExports();
    t.after(() => {
      mock.restore();
      syncBuiltinESMExports();
    });
    const createdFor = (secretText: string): number => {
      const before = mock.callCount();
      sign({ id: 'evt_x', timestampS: 1, payload: Buffer.from('x'), secrets: [secretText] });
      return mock.callCount() - before;
    };
    const secretOf = (no: number): string => {
      const key = Buffer.alloc(64);
      key.writeUInt32BE(no);
      return `whsk_${key.toString('base64')}`;
    };
    createdFor(pair.secret); // The only one that the other tests use.
    const secrets = Array.from({ length: limits.signingKeysRememberedMax }, (_, no) =>
      secretOf(no),
    );
    const last = secrets.pop() ?? '';
    for (const one of secrets) assert.equal(createdFor(one), 1);
    for (const one of [secretOf(0), pair.secret]) assert.equal(createdFor(one), 0);
    assert.equal(createdFor(last), 1, 'it takes the place of all others');
    assert.deepEqual([last, pair.secret, last].map(createdFor), [0, 1, 0]);
  });

  it('signs with both kinds during a change from one to the other', () => {
    const id = 'evt_01jcz';
    const timestampS = nowS();
    const payload = Buffer.from('{"message":"x"}');
    const signature = sign({ id, timestampS, payload, secrets: [pair.secret, secret] });
    assert.match(signature, /^v1a,[\w+/]{86}== v1,[\w+/]{43}=$/);
    const headers = headersOf('webhook', { id, timestampS, signature });
    new StandardWebhook(secret).verify('{"message":"x"}', headers);
    new SvixWebhook(secret).verify('{"message":"x"}', headers);
  });
});

function base64Url(base64: string): string {
  return Buffer.from(base64, 'base64').toString('base64url');
}
