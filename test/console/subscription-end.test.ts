import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endText, isFixed } from '../../console/src/subscriptions/end.ts';

describe('endText', () => {
  it('says why a subscription ended, if that is known', () => {
    assert.equal(endText('final'), 'It ended with its final callback.');
    assert.equal(endText(undefined), 'It has ended.');
  });
});

describe('isFixed', () => {
  it('is true before the confirmation, and after the end', () => {
    const states = ['unconfirmed', 'active', 'paused', 'disabled', 'ended'] as const;
    assert.deepEqual(
      states.filter((state) => isFixed({ state })),
      ['unconfirmed', 'ended'],
    );
  });
});
