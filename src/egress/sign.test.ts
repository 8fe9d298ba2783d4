import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { sign } from './sign.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const other = `whsec_${randomBytes(32).toString('base64')}`;

/** Now, since verifiers refuse old ones. */
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
  it('makes the official vector', () => {
    const signature = sign({
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestampS: 1_614_265_330,
      payload: Buffer.from('{"test": 2432232314}'),
      secrets: [secret],
    });
    assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('is verified by standardwebhooks and svix', () => {
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

  it('is verified with either secret during a rotation', () => {
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

  it('signs bytes, not text', () => {
    const property = fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const id = 'evt_x';
      const timestampS = nowS();
      const signature = sign({ id, timestampS, payload: bytes, secrets: [secret] });
      // The packages verify Buffers as bytes as well, whatever their types say of it.
      const headers = headersOf('webhook', { id, timestampS, signature });
      const verifier = new StandardWebhook(secret);
      const verified = Buffer.from(bytes).toString('latin1');
      if (/^[\x00-\x7f]*$/.test(verified)) assert.equal(verify(verifier, verified, headers), true);
      const flipped = Uint8Array.from(bytes, (byte, i) => (i === 0 ? byte ^ 1 : byte));
      if (bytes.length === 0) return;
      assert.notEqual(sign({ id, timestampS, payload: flipped, secrets: [secret] }), signature);
    });
    fc.assert(property);
    const latin1 = Buffer.from([0xe9]);
    const text = Buffer.from('é');
    const rest = { id: 'evt_x', timestampS: 1, secrets: [secret] };
    assert.notEqual(sign({ ...rest, payload: latin1 }), sign({ ...rest, payload: text }));
  });

  it('refuses what would make the signed bytes ambiguous or worthless', () => {
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
  });
});

function verify(verifier: StandardWebhook, text: string, headers: Record<string, string>): boolean {
  try {
    verifier.verify(text, headers);
    return true;
  } catch (error) {
    // It parses what it has verified; that these bytes are no JSON is none of our business.
    return error instanceof SyntaxError;
  }
}
