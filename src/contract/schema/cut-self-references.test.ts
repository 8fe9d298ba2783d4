import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutLoops } from './cut-self-references.ts';

const ref = (name: string): Record<string, unknown> => ({ $ref: `#/$defs/${name}` });

describe('cutLoops', () => {
  it('keeps circles that pass through a property', () => {
    const defs = new Map([
      ['a', { properties: { next: ref('a') }, items: ref('a'), allOf: [ref('b')] }],
      ['b', { properties: { up: ref('a') } }],
    ]);
    const before = structuredClone(defs);
    assert.equal(cutLoops(defs), false);
    assert.deepEqual(defs, before);
  });

  it('cuts the reference that closes a circle', () => {
    const defs = new Map<string, unknown>([
      ['a', { allOf: [ref('b')] }],
      ['b', { else: ref('c') }],
      ['c', { dependentSchemas: { x: ref('a') }, type: 'object' }],
    ]);
    assert.equal(cutLoops(defs), true);
    assert.deepEqual(defs.get('c'), { dependentSchemas: { x: {} }, type: 'object' });
  });

  it('cuts it even if a property leads to it first', () => {
    const defs = new Map<string, unknown>([
      ['a', { properties: { x: ref('b') }, allOf: [ref('b')] }],
      ['b', { allOf: [ref('a')] }],
    ]);
    assert.equal(cutLoops(defs), true);
    assert.deepEqual(defs.get('b'), { allOf: [{}] });
  });

  it('drops alternatives if one of them closes a circle', () => {
    for (const keyword of ['oneOf', 'anyOf']) {
      const defs = new Map<string, unknown>([
        ['a', { [keyword]: [ref('a'), true], type: 'object' }],
      ]);
      assert.equal(cutLoops(defs), true);
      assert.deepEqual(defs.get('a'), { type: 'object' });
    }
    const not = new Map<string, unknown>([['a', { not: ref('a') }]]);
    cutLoops(not);
    assert.deepEqual(not.get('a'), {});
  });
});
