import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { nextLimit } from './admission.ts';
import { limits } from './limits.ts';

const slow = { longestMs: limits.publishWaitMs + 1, refused: 0 };
const full = { longestMs: limits.publishWaitMs, refused: 1 };

function after(
  seen: { longestMs: number; refused: number },
  rounds: number,
  limit: number,
): number {
  return Array.from({ length: rounds }).reduce<number>((now) => nextLimit(now, seen), limit);
}

describe('nextLimit', () => {
  it('lets fewer in while publishes take too long, whether or not somebody was turned away', () => {
    assert.equal(nextLimit(128, slow), 96);
    assert.equal(nextLimit(128, { ...slow, refused: 9 }), 96);
  });

  it('lets more in when somebody was turned away although they are quick', () => {
    assert.equal(nextLimit(128, full), 144);
  });

  it('stays as it is when there was room', () => {
    assert.equal(nextLimit(128, { longestMs: 0, refused: 0 }), 128);
  });

  it('stays within its bounds, and comes from one to the other within a few seconds', () => {
    const { publishesUnderWayMin: least, publishesUnderWayMax: most, admissionLookMs } = limits;
    assert.equal(after(slow, 100, most), least);
    assert.equal(after(full, 100, least), most);
    assert.equal(after(full, 3_000 / admissionLookMs, least), most);
    assert.equal(after(slow, 2_000 / admissionLookMs, most), least);
  });
});
