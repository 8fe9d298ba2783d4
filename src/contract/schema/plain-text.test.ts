import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from './bundle.ts';
import { makeCheck } from './checker.ts';
import { plainTextCheck } from './schema.ts';

const bundled = (schema: Schema) => ({ $ref: '#/$defs/s0', $defs: { s0: schema } });

describe('plainTextCheck', () => {
  it('accepts a text that is certainly long enough', () => {
    assert.equal(plainTextCheck(bundled({ type: 'string' }))(''), true);
    assert.equal(plainTextCheck(bundled({ type: 'string', minLength: 2 }))('abcd'), true);
  });

  it('leaves every other schema and value to the checker', () => {
    for (const schema of [
      true,
      {},
      { type: 'integer' },
      { type: ['string', 'null'] },
      { type: 'string', maxLength: 9 },
      { type: 'string', format: 'uuid' },
      { $ref: '#/$defs/s1' },
    ]) {
      assert.equal(plainTextCheck(bundled(schema))('abcd'), false, JSON.stringify(schema));
    }
    assert.equal(plainTextCheck(bundled({ type: 'string' }))(7), false);
  });

  it('never accepts what the checker refuses', () => {
    const schema = bundled({ type: 'string', minLength: 3 });
    const isPlain = plainTextCheck(schema);
    const check = makeCheck(schema);
    const values = ['', 'ab', 'abc', 'abcdef', '😀😀', '😀😀😀', null, 0, ['abcdef']];
    for (const value of values) if (isPlain(value)) assert.deepEqual(check(value), []);
    assert.deepEqual(
      values.filter((value) => isPlain(value)),
      ['abcdef', '😀😀😀'],
    );
  });
});
