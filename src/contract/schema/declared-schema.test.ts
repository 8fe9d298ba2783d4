import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileDeclaredSchema } from './declared-schema.ts';

const order = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Order',
  type: 'object',
  required: ['id'],
  properties: {
    id: { type: 'integer', 'x-unit': 'orders' },
    // Names of properties, not keywords.
    $ref: { $ref: '#/$defs/Address' },
    frobnicate: true,
    lines: { type: 'array', items: { $ref: '#' } },
  },
  $defs: { Address: { type: 'string', minLength: 2 } },
};

function faultsOf(schema: unknown, value: unknown): string[] {
  const compiled = compileDeclaredSchema(schema);
  assert(compiled.kind === 'compiled', JSON.stringify(compiled));
  return compiled.validator.check(value).map(({ field, message }) => `${field} ${message}`);
}

function refusalOf(schema: unknown): string[] {
  const compiled = compileDeclaredSchema(schema);
  assert(compiled.kind === 'refused');
  return compiled.faults.map(({ field, message }) => `${field} ${message}`);
}

describe('compileDeclaredSchema', () => {
  it('checks by the schema, with references inside it', () => {
    assert.deepEqual(faultsOf(order, { id: 1, $ref: 'Delft', lines: [{ id: 2 }] }), []);
    assert.deepEqual(faultsOf(order, { id: 1.5, $ref: '', lines: [{}] }), [
      '/id must be an integer, is 1.5',
      '/$ref must have at least 2 characters, has 0',
      '/lines/0/id is required',
    ]);
  });

  it('reads it as JSON Schema 2020-12: siblings of a reference apply', () => {
    const schema = { $ref: '#/$defs/Text', maxLength: 1, $defs: { Text: { type: 'string' } } };
    assert.deepEqual(faultsOf(schema, 'ab'), ['must have at most 1 character, has 2'].map(at));
    assert.deepEqual(faultsOf({ ...schema, allOf: [{ pattern: 'a' }] }, 'a'), []);
    assert.deepEqual(faultsOf({}, 7), []);
  });

  for (const [schema, expected] of [
    [{ properties: { a: { kind: 'string' } } }, '/properties/a/kind is not a supported keyword'],
    [{ anyOf: [{}, { $dynamicRef: '#x' }] }, '/anyOf/1/$dynamicRef is not a supported keyword'],
    [{ $defs: { 'a/b': { optional: 1 } } }, '/$defs/a~1b/optional is not a supported keyword'],
    [{ type: 'text' }, '/type is a string, expected a JSON type'],
    [{ pattern: '(?<=a)b' }, '/pattern the expression "(?<=a)b" '],
    [{ items: [{}] }, '/items is a list, expected a schema'],
    [
      { items: { $ref: '#/$defs/None' } },
      '/items Cannot follow $ref "#/$defs/None": nothing exists',
    ],
    [{ not: { $ref: 'https://x.example/y.json' } }, '/not/$ref leads to another document'],
    [{ not: { $ref: '../../etc/passwd.json' } }, '/not/$ref leads to another document'],
  ] as const) {
    it(`refuses ${JSON.stringify(schema)}`, () => {
      const [fault = '', ...others] = refusalOf(schema);
      assert.deepEqual(others, []);
      assert.equal(fault.slice(0, expected.length), expected);
    });
  }

  it('refuses a schema that is too large to validate', () => {
    const names = Array.from({ length: 999 }, (_, no): [string, object] => [`p${no}`, {}]);
    const properties = Object.fromEntries(names);
    const deep = Array.from({ length: 21 }, () => ({ properties }));
    assert.match(refusalOf({ allOf: deep })[0] ?? '', /it is too large to validate$/);
    const wide = Object.fromEntries([...names, ['p', {}], ['q', {}]]);
    assert.match(refusalOf({ properties: wide })[0] ?? '', /has 1001 members, expected at most/);
  });
});

function at(message: string): string {
  return ` ${message}`;
}
