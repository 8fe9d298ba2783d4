import { strict as assert } from 'node:assert';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { hmacSha256 } from './sign.ts';

/** Around block boundaries, and around the length from which Node's implementation is used. */
const lengths = [
  0, 1, 19, 20, 55, 56, 63, 64, 65, 128, 500, 16_320, 16_360, 16_384, 16_385, 70_000,
];

test("equals Node's HMAC for any key and message", () => {
  for (const keyBytes of [1, 24, 32, 63, 64, 65, 200]) {
    for (const bodyBytes of lengths) {
      for (const head of ['', 'msg_1.1700000000.', 'é€😀.', 'x'.repeat(6_000)]) {
        const [key, body] = [randomBytes(keyBytes), randomBytes(bodyBytes)];
        const expected = createHmac('sha256', key).update(head).update(body).digest('base64');
        assert.equal(hmacSha256(key, head, body), expected, `${keyBytes}, ${bodyBytes}, "${head}"`);
      }
    }
  }
});

test('does not leak one key or message into the next', () => {
  const long = hmacSha256(randomBytes(64), 'a long head.', randomBytes(4_000));
  const short = hmacSha256(Buffer.from('key'), 'h.', Buffer.from('b'));
  assert.notEqual(long, short);
  assert.equal(short, createHmac('sha256', 'key').update('h.b').digest('base64'));
});
