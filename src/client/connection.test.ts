import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertIdempotencyKey, connect } from './connection.ts';

const url = 'http://127.0.0.1:8080';

describe('connect', () => {
  it('refuses a key that is not a valid header value, without repeating it', () => {
    for (const key of ['', 'rbk_secret\n', 'rbk_secret\r\nX: y', 'rbk_secr€t', 'rbk secret', 'é']) {
      assert.throws(
        () => connect({ url, key }),
        ({ message }: Error) =>
          message.startsWith('Cannot use the key: ') && (key === '' || !message.includes(key)),
      );
      assert.throws(() => connect({ url, appId: key }), /Cannot use the appId/);
    }
  });

  it('refuses a key that is not a string: a missing key is undefined', () => {
    for (const json of ['null', '123', '["rbk_1"]']) {
      const given = JSON.parse(json);
      assert.throws(() => connect({ url, key: given }), /^TypeError: Cannot use the key: it is of/);
      assert.throws(() => connect({ url, appId: given }), /Cannot use the appId: it is of type/);
      assert.throws(() => assertIdempotencyKey(given), /as idempotencyKey/);
    }
  });

  it('sends key and app in headers, and no header without a value', () => {
    assert.deepEqual(connect({ url, key: 'rbk_1', appId: 'app_1' }).headers, {
      'x-api-key': 'rbk_1',
      'x-app-id': 'app_1',
    });
    assert.deepEqual(connect({ url }).headers, {});
  });

  it('refuses times and counts that make no sense', () => {
    for (const timeoutMs of [0, -1, Number.NaN, Infinity, 600_001]) {
      assert.throws(() => connect({ url, timeoutMs }), /as timeoutMs: expected 1 to 600000/);
    }
    for (const retries of [-1, 1.5, 21, Number.NaN]) {
      assert.throws(() => connect({ url, retries }), /as retries: expected 0 to 20/);
    }
  });
});

describe('assertIdempotencyKey', () => {
  it('accepts keys that arrive unchanged, and nothing else', () => {
    for (const key of ['a', 'order 42', 'x'.repeat(255)]) assertIdempotencyKey(key);
    for (const key of ['', ' a', 'a ', 'a\n', 'é', 'x'.repeat(256)]) {
      assert.throws(() => assertIdempotencyKey(key), /as idempotencyKey: expected 1 to 255/);
    }
  });
});
