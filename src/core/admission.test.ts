import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { nextLimit, type Seen } from './admission.ts';
import { limits } from './limits.ts';

const passedMs = limits.admissionLookMs;
const slow = { longestMs: limits.publishWaitMs + 1, refused: 0, passedMs };
const full = { longestMs: limits.publishWaitMs, refused: 1, passedMs };
const quick = { longestMs: 0, refused: 0, passedMs };

function after(seen: Seen, rounds: number, limit: number): number {
  return Array.from({ length: rounds }).reduce<number>((now) => nextLimit(now, seen), limit);
}

describe('nextLimit', () => {
  it('lowers the limit while publishes take too long, whether or not any were refused', () => {
    assert.equal(nextLimit(128, slow), 96);
    assert.equal(nextLimit(128, { ...slow, refused: 9 }), 96);
  });

  it('raises the limit when publishes were refused although they are fast', () => {
    assert.equal(nextLimit(128, full), 144);
  });

  it('raises the limit slowly, by the time that passed, when none were refused', () => {
    assert.equal(nextLimit(128, quick), 129);
    assert.equal(nextLimit(128, { ...quick, passedMs: 5_000 }), 178);
    const { publishesUnderWayMin: least, publishesUnderWayMax: most } = limits;
    assert.equal(after(quick, 30_000 / passedMs, least), most);
  });

  it('stays within its bounds, and moves from one to the other within a few seconds', () => {
    const { publishesUnderWayMin: least, publishesUnderWayMax: most, admissionLookMs } = limits;
    assert.equal(after(slow, 100, most), least);
    assert.equal(after(full, 100, least), most);
    assert.equal(after(full, 3_000 / admissionLookMs, least), most);
    assert.equal(after(slow, 2_000 / admissionLookMs, most), least);
  });
});
