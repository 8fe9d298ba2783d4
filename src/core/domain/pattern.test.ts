import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isEventName, isEventPattern, patternsFor } from './pattern.ts';

describe('isEventName', () => {
  it('accepts segments of letters, digits, _ and -, joined by dots', () => {
    for (const name of ['a', 'order.created', 'A-b_1.2', 'x'.repeat(128)]) {
      assert.equal(isEventName(name), true, name);
    }
    for (const name of [
      '',
      '.',
      'a.',
      '.a',
      'a..b',
      'a b',
      'ä',
      'a.*',
      '*',
      'x'.repeat(129),
      'a\n',
    ]) {
      assert.equal(isEventName(name), false, name);
    }
  });
});

describe('isEventPattern', () => {
  it('accepts a name, * and a prefix that ends in .*', () => {
    for (const pattern of ['a', 'a.b', '*', 'a.*', 'a.b.*']) {
      assert.equal(isEventPattern(pattern), true, pattern);
    }
    for (const pattern of ['', '**', '.*', '*.a', 'a.*.b', 'a*', 'a.**']) {
      assert.equal(isEventPattern(pattern), false, pattern);
    }
  });
});

describe('patternsFor', () => {
  it('lists every pattern that matches the event, most specific first', () => {
    assert.deepEqual(patternsFor('order.item.created'), [
      'order.item.created',
      'order.item.*',
      'order.*',
      '*',
    ]);
    assert.deepEqual(patternsFor('ping'), ['ping', '*']);
  });
});
