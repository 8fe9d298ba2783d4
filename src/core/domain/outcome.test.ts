import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { SendResult } from './attempt.ts';
import { classify, errorOf } from './outcome.ts';

const nowMs = 1_700_000_000_000;
const circumstances = {
  tries: 0,
  waitsMs: [5_000],
  unsubscribeStatus: 410,
  nowMs,
  randomFraction: () => 0.5,
};

const answered = (status: number, retryAfter?: string): SendResult => ({
  kind: 'answered',
  status,
  headers: retryAfter === undefined ? [] : [['retry-after', retryAfter]],
  body: new Uint8Array(),
  cut: false,
});
const failed: SendResult = { kind: 'failed', error: 'timeout', message: 'too slow' };
const retry = { kind: 'retry', waitMs: 5_000 };

describe('classify', () => {
  it('treats any 2xx as delivered', () => {
    for (const status of [200, 201, 204, 299]) {
      assert.deepEqual(classify(answered(status), circumstances), { kind: 'delivered' });
    }
  });

  it('treats anything else as a failure: redirects, refusals, and no response at all', () => {
    for (const status of [199, 300, 301, 304, 400, 401, 404, 429, 500, 503, 600]) {
      assert.deepEqual(classify(answered(status), circumstances), retry, String(status));
    }
    assert.deepEqual(classify(failed, circumstances), retry);
  });

  it('is dead when the schedule is exhausted', () => {
    const last = { ...circumstances, tries: 1 };
    const dead = { kind: 'dead', reason: 'exhausted' };
    assert.deepEqual(classify(answered(500), last), dead);
    assert.deepEqual(classify(failed, last), dead);
    assert.deepEqual(classify(answered(200), last), { kind: 'delivered' });
  });

  it('is gone at 410, even at the last attempt', () => {
    assert.deepEqual(classify(answered(410), circumstances), { kind: 'gone' });
    assert.deepEqual(classify(answered(410), { ...circumstances, tries: 9 }), { kind: 'gone' });
  });

  it("is gone at the contract's own status, even a 2xx, and then 410 is a failure", () => {
    const contract = { ...circumstances, unsubscribeStatus: 204 };
    assert.deepEqual(classify(answered(204), contract), { kind: 'gone' });
    assert.deepEqual(classify(answered(200), contract), { kind: 'delivered' });
    assert.deepEqual(classify(answered(410), contract), retry);
  });

  it('waits as long as Retry-After asks', () => {
    assert.deepEqual(classify(answered(503, '60'), circumstances), {
      kind: 'retry',
      waitMs: 60_000,
    });
    assert.deepEqual(classify(answered(503, '-1'), circumstances), retry);
  });
});

describe('errorOf', () => {
  it('names the failure', () => {
    assert.equal(errorOf(failed, 410), 'timeout');
    assert.equal(errorOf(answered(302), 410), 'redirect');
    assert.equal(errorOf(answered(404), 410), 'status');
    assert.equal(errorOf(answered(410), 204), 'status');
  });

  it('is undefined for a success', () => {
    assert.equal(errorOf(answered(200), 410), undefined);
    assert.equal(errorOf(answered(410), 410), undefined);
  });
});
