import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lazy } from './lazy.ts';

describe('once', () => {
  it('makes the value on the first call, and only once', () => {
    let calls = 0;
    const value = lazy(() => (calls += 1));
    assert.equal(calls, 0);
    assert.deepEqual([value(), value(), calls], [1, 1, 1]);
  });

  it('keeps undefined and a failure like any other result', () => {
    let calls = 0;
    const nothing = lazy(() => void (calls += 1));
    assert.deepEqual([nothing(), nothing(), calls], [undefined, undefined, 1]);
    const failing = lazy(() => {
      throw new Error(`try ${(calls += 1)}`);
    });
    assert.throws(failing, /try 2/);
    assert.throws(failing, /try 2/);
  });
});
