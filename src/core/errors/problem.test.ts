import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { limits } from '../limits/limits.ts';
import { fieldIn, invalidRequest, Problem } from './problem.ts';

describe('invalidRequest', () => {
  it('shortens long names and values', () => {
    const field = fieldIn('body#/metadata', 'k'.repeat(300_000));
    const message = `is ${'v'.repeat(300_000)}`;
    const { faults, message: detail } = invalidRequest([
      { field, message: 'is no key' },
      { field: 'body#', message },
    ]);
    assert.equal(faults[0]?.field, `${field.slice(0, limits.faultFieldCharsMax)}…`);
    assert.equal(detail, `${faults[0]?.field} is no key, and 1 more`);
    assert.equal(faults[1]?.message.length, limits.faultCharsMax + 1);
    const long = new Problem('invalid_request', 'x'.repeat(300_000)).message;
    assert.equal(long.length, limits.faultCharsMax + 1);
  });

  it('leaves short ones as they are', () => {
    const field = fieldIn('body#/filter', '/a'.repeat(100));
    const { faults, message } = invalidRequest([{ field, message: 'is odd' }]);
    assert.deepEqual(faults, [{ field, message: 'is odd' }]);
    assert.equal(message, `${field} is odd`);
  });
});
