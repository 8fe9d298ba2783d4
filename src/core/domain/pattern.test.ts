import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  isEventName,
  isWildcard,
  literalPattern,
  nameInHeader,
  nameOfLiteral,
  patternsFor,
} from './pattern.ts';

describe('isEventName', () => {
  it('accepts 1 to 256 characters of any kind', () => {
    const names = [
      'a',
      'order.created',
      ' ',
      'a b',
      '.',
      'a..b',
      '*',
      'a.*',
      '50% off',
      'ä',
      'a\n',
    ];
    for (const name of [...names, 'x'.repeat(256), '😀'.repeat(256)]) {
      assert.equal(isEventName(name), true, name);
    }
  });

  it('refuses no characters, more, and those that PostgreSQL cannot store', () => {
    for (const name of ['', 'x'.repeat(257), '😀'.repeat(257), 'a\0', '\ud800', 'a\udc00']) {
      assert.equal(isEventName(name), false, JSON.stringify(name));
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
    assert.deepEqual(patternsFor('.a.'), ['.a.', '.a.*', '.*', '*']);
  });

  it('contains the wildcards whose prefix the name has, and its own pattern', () => {
    fc.assert(
      fc.property(names, names, (name, other) => {
        const patterns = patternsFor(name);
        const hasPrefix = name.startsWith(`${other}.`);
        assert.equal(patterns.includes(`${other}.*`), hasPrefix);
        assert.equal(patterns.includes(literalPattern(other)), name === other);
      }),
    );
  });
});

describe('literalPattern', () => {
  it('is the name itself, unless that ends like a wildcard', () => {
    assert.equal(literalPattern('a*b.c'), 'a*b.c');
    assert.equal(literalPattern('*'), String.raw`\*`);
    assert.equal(literalPattern('a.*'), String.raw`a.\*`);
    assert.equal(literalPattern(String.raw`a.\*`), String.raw`a.\\*`);
  });

  it('is no wildcard, and can be reversed', () => {
    fc.assert(
      fc.property(names, (name) => {
        const pattern = literalPattern(name);
        assert.equal(isWildcard(pattern), false);
        assert.equal(nameOfLiteral(pattern), name);
      }),
    );
  });
});

describe('nameInHeader', () => {
  it('leaves ordinary names as they are, and encodes the rest', () => {
    assert.equal(nameInHeader('order.item_1-b'), 'order.item_1-b');
    assert.equal(nameInHeader('50% off, ä\r\n'), '50%25%20off%2C%20%C3%A4%0D%0A');
  });
});

/** Short, of few characters, so that they often have something in common. */
const names = fc
  .array(fc.constantFrom('.', '*', '\\', 'a', '%', ' '), { minLength: 1, maxLength: 6 })
  .map((chars) => chars.join(''));
