import { createPublicKey, verify } from 'node:crypto';

// headers: with names in lower case. body: the raw bytes, before any JSON parser.
export function verifyWebhook(headers, body, publicKey = process.env.WEBHOOK_SECRET) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) {
    throw new Error('The timestamp is too old or too new');
  }
  const x = Buffer.from(publicKey.replace('whpk_', ''), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), Buffer.from(body)]);
  const isValid = (headers['webhook-signature'] ?? '').split(' ').some((one) => {
    const [version, signature = ''] = one.split(',');
    return version === 'v1a' && verify(null, signed, key, Buffer.from(signature, 'base64'));
  });
  if (!isValid) throw new Error('The signature does not match');
}
