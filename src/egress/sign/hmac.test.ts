import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { hmacSha256 } from './sign.ts';

describe('hmacSha256', () => {
  it('equals the HMAC of Node for any length of key, prefix and payload', () => {
    for (const keyBytes of [1, 32, 63, 64, 65, 200]) {
      const key = Buffer.alloc(keyBytes, 0xa7);
      for (const prefix of ['', 'msg_1.1700000000.', 'é€😀.1.']) {
        for (const payloadBytes of [0, 1, 55, 56, 64, 1_000, 16_383, 16_384, 16_385, 70_000]) {
          const payload = Buffer.alloc(payloadBytes, payloadBytes % 251);
          const expected = createHmac('sha256', key).update(prefix).update(payload);
          assert.equal(hmacSha256(key, prefix, payload), expected.digest('base64'));
        }
      }
    }
  });
});
