import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  TooManySteps,
  createStepBudget,
  OutOfWork,
  spendWork,
  runWithBudget,
} from './step-budget.ts';

describe('runWithBudget', () => {
  it('lets the work pay for the steps that were used', () => {
    const budget = createStepBudget();
    const work = { left: 100 };
    runWithBudget(budget, { work, stepsMax: 50 }, () => budget.spend(30));
    assert.equal(work.left, 70);
  });

  it('tells a value that costs too much from work that is used up', () => {
    const budget = createStepBudget();
    const work = { left: 60 };
    const spend = (): void => budget.spend(51);
    assert.throws(() => runWithBudget(budget, { work, stepsMax: 50 }, spend), TooManySteps);
    assert.equal(work.left, 10);
    assert.throws(() => runWithBudget(budget, { work, stepsMax: 50 }, spend), OutOfWork);
    assert.equal(work.left, 0);
    assert.throws(() => spendWork(work, 1), OutOfWork);
  });
});
