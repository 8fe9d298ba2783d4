import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextTryMs, readRetryAfterMs, type Failed } from './retry.ts';

const failed: Failed = { refusal: undefined, repeat: 'free', tries: 1, retries: 4, random: 0 };

function refused(status: number, code = 'x', retryAfterMs?: number): Partial<Failed> {
  return { refusal: { status, code, retryAfterMs } };
}

describe('nextTryMs', () => {
  it('waits longer each time, half of it random, up to a limit', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7].map((tries) =>
      nextTryMs({ ...failed, tries, retries: 20, random: 0 }),
    );
    assert.deepEqual(waits, [125, 250, 500, 1_000, 2_000, 4_000, 4_000]);
    assert.equal(nextTryMs({ ...failed, random: 1 }), 250);
  });

  it('ends with the last retry', () => {
    assert.notEqual(nextTryMs({ ...failed, tries: 4 }), undefined);
    assert.equal(nextTryMs({ ...failed, tries: 5 }), undefined);
    assert.equal(nextTryMs({ ...failed, retries: 0 }), undefined);
  });

  it('retries failures that may be temporary, and no others', () => {
    for (const status of [429, 502, 503, 504]) {
      assert.notEqual(nextTryMs({ ...failed, ...refused(status) }), undefined, String(status));
    }
    for (const status of [200, 302, 400, 401, 403, 404, 409, 413, 422, 500]) {
      assert.equal(nextTryMs({ ...failed, ...refused(status) }), undefined, String(status));
    }
    assert.equal(nextTryMs({ ...failed, ...refused(429, 'quota_exceeded') }), undefined);
  });

  it('repeats calls that must not happen twice only if the service did nothing', () => {
    const once = { ...failed, repeat: 'once' } as const;
    assert.equal(nextTryMs(once), undefined);
    assert.equal(nextTryMs({ ...once, ...refused(502) }), undefined);
    assert.equal(nextTryMs({ ...once, ...refused(503, 'store_unavailable') }), undefined);
    assert.notEqual(nextTryMs({ ...once, ...refused(503, 'overloaded') }), undefined);
    assert.notEqual(nextTryMs({ ...once, ...refused(429, 'rate_limited') }), undefined);
    assert.notEqual(nextTryMs({ ...failed, repeat: 'keyed' }), undefined);
  });

  it('waits as long as it is asked to, and gives up if that is too long', () => {
    assert.equal(nextTryMs({ ...failed, ...refused(503, 'x', 7_000) }), 7_000);
    assert.equal(nextTryMs({ ...failed, ...refused(503, 'x', 60_000), random: 0.5 }), 60_125);
    assert.equal(nextTryMs({ ...failed, ...refused(503, 'x', 61_000) }), undefined);
  });
});

describe('readRetryAfterMs', () => {
  const nowMs = Date.UTC(2026, 0, 31, 12);

  it('reads seconds and dates', () => {
    assert.equal(readRetryAfterMs('0', nowMs), 0);
    assert.equal(readRetryAfterMs('12', nowMs), 12_000);
    assert.equal(readRetryAfterMs('Sat, 31 Jan 2026 12:00:05 GMT', nowMs), 5_000);
    assert.equal(readRetryAfterMs('Sat, 31 Jan 2026 11:00:00 GMT', nowMs), 0);
  });

  it('returns undefined for anything that it cannot read', () => {
    for (const header of [
      null,
      '',
      '-1',
      '1.5',
      'soon',
      '2026-01-31',
      'Sat, soon GMT',
      '9'.repeat(12),
    ]) {
      assert.equal(readRetryAfterMs(header, nowMs), undefined, String(header));
    }
  });
});
