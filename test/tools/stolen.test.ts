import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCpuTimes, readCpuTimes, stolenShare } from '../../tools/stolen.ts';

const text = `cpu  3247039 57140 561042 2406175 88348 11 74615 1442411 0 0
cpu0 1 1 1 1 1 1 1 1 0 0
`;

describe('stolen time', () => {
  it('is the eighth figure, separate from the used time', () => {
    assert.deepEqual(parseCpuTimes(text), {
      used: 3_247_039 + 57_140 + 561_042 + 11 + 74_615,
      stolen: 1_442_411,
    });
  });

  it('is a share of used and stolen time: idle time does not count', () => {
    const share = stolenShare({ used: 100, stolen: 50 }, { used: 400, stolen: 150 });
    assert.equal(share, 0.25);
    assert.equal(stolenShare({ used: 100, stolen: 50 }, { used: 100, stolen: 50 }), 0);
  });

  it('is zero if the system does not report it', () => {
    assert.deepEqual(readCpuTimes('/nowhere'), { used: 0, stolen: 0 });
  });
});
