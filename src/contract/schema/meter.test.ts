import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Exhausted, makeMeter, OutOfWork, pay, runMetered } from './meter.ts';

describe('runMetered', () => {
  it('lets the work pay for the steps that were used', () => {
    const meter = makeMeter();
    const work = { left: 100 };
    runMetered(meter, { work, stepsMax: 50 }, () => meter.spend(30));
    assert.equal(work.left, 70);
  });

  it('tells a value that costs too much from work that is used up', () => {
    const meter = makeMeter();
    const work = { left: 60 };
    const spend = (): void => meter.spend(51);
    assert.throws(() => runMetered(meter, { work, stepsMax: 50 }, spend), Exhausted);
    assert.equal(work.left, 10);
    assert.throws(() => runMetered(meter, { work, stepsMax: 50 }, spend), OutOfWork);
    assert.equal(work.left, 0);
    assert.throws(() => pay(work, 1), OutOfWork);
  });
});
