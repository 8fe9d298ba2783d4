import { createHmac, timingSafeEqual } from 'node:crypto';

// headers: with names in lower case. body: the raw bytes, before any JSON parser.
export function verifyWebhook(headers, body, secret = process.env.WEBHOOK_SECRET) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) {
    throw new Error('The timestamp is too old or too new');
  }
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  const expected = Buffer.from(`v1,${digest.toString('base64')}`);
  const isValid = (headers['webhook-signature'] ?? '').split(' ').some((one) => {
    const given = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isValid) throw new Error('The signature does not match');
}
