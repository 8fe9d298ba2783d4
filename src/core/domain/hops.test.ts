import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hopsOf, refuseLoop, withHops, withoutHops } from './hops.ts';
import { limits } from '../limits/limits.ts';
import { parseTrace } from '../telemetry/trace.ts';

const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 a=1';

describe('hops', () => {
  it('are stored in front of the trace, and both can be read back', () => {
    for (const given of [undefined, trace]) {
      for (const hops of [0, 1, 5, 12]) {
        const kept = withHops(hops, given);
        assert.equal(hopsOf(kept), hops);
        assert.equal(kept === undefined ? '' : withoutHops(kept), given ?? '');
      }
    }
    assert.equal(parseTrace(withHops(3, trace) ?? '')?.state, 'a=1');
    assert.equal(parseTrace(withHops(3, undefined) ?? ''), undefined);
  });

  it('take no space when there are none', () => {
    assert.equal(withHops(0, undefined), undefined);
    assert.equal(withHops(0, trace), trace);
  });
});

describe('refuseLoop', () => {
  it('accepts up to the limit and no more', () => {
    refuseLoop(limits.hopsMax);
    assert.throws(() => refuseLoop(limits.hopsMax + 1), /6 callbacks .* limit is 5.* loop/);
  });
});
