import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { changeRange, nextLimit, publishRange, type LimitObservations } from './request-limit.ts';
import { limits } from '../limits/limits.ts';

const passedMs = limits.admissionLookMs;

for (const [kind, range] of Object.entries({ publishes: publishRange, changes: changeRange })) {
  const { least, most, waitMs } = range;
  const slow = { longestMs: waitMs + 1, refused: 0, passedMs };
  const full = { longestMs: waitMs, refused: 1, passedMs };
  const quick = { longestMs: 0, refused: 0, passedMs };

  function after(seen: LimitObservations, rounds: number, limit: number): number {
    return Array.from({ length: rounds }).reduce<number>(
      (now) => nextLimit(now, seen, range),
      limit,
    );
  }

  describe(`nextLimit of ${kind}`, () => {
    it('lowers the limit while requests take too long, whether or not one was refused', () => {
      assert.equal(nextLimit(128, slow, range), 96);
      assert.equal(nextLimit(128, { ...slow, refused: 9 }, range), 96);
    });

    it('raises the limit when a request was refused although requests are quick', () => {
      assert.equal(nextLimit(128, full, range), 144);
    });

    it('raises the limit slowly, by the time that passed, when none was refused', () => {
      assert.equal(nextLimit(128, quick, range), 129);
      assert.equal(nextLimit(128, { ...quick, passedMs: 5_000 }, range), 178);
      assert.equal(after(quick, most, least), most);
    });

    it('stays within its bounds, and moves from one to the other within a few seconds', () => {
      assert.equal(after(slow, 100, most), least);
      assert.equal(after(full, 100, least), most);
      assert.equal(after(full, 3_500 / limits.admissionLookMs, least), most);
      assert.equal(after(slow, 2_000 / limits.admissionLookMs, most), least);
    });
  });
}
