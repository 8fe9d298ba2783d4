// The publish form and the contract: suggested names, the types that apply to a name, and schemas
// as rows.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { namesOf, schemasOf, typesFor } from '../../console/src/events/event-types.ts';
import { schemaRows } from '../../console/src/events/schema-rows.ts';
import { english } from '../../console/src/english.ts';
import { limits } from '../../console/src/limits.ts';
import { setWords } from '../../console/src/words.ts';

setWords(english);

const type = (event: string, schema?: Record<string, unknown>) => ({
  event,
  callback: 'c',
  contract: 'C',
  source: 'callback' as const,
  state: 'active' as const,
  ...(schema === undefined ? {} : { schema }),
});

describe('namesOf', () => {
  it('leaves out patterns and templates', () => {
    const types = ['*', 'a.*', '{$request.query.event}', 'paid', 'paid', 'a.b'].map((event) =>
      type(event),
    );
    assert.deepEqual(
      namesOf(types).map(({ value }) => value),
      ['paid', 'a.b'],
    );
  });
  it('says what is declared of an event', () => {
    const about = { description: 'd'.repeat(limits.suggestionCharsMax + 1), version: 2 };
    const types = [
      type('plain'),
      { ...type('typed'), ...about },
      { ...type('old'), state: 'deprecated' as const },
    ];
    assert.deepEqual(namesOf(types), [
      { value: 'plain', label: undefined },
      { value: 'typed', label: `version 2 · ${'d'.repeat(limits.suggestionCharsMax)}` },
      { value: 'old', label: 'deprecated' },
    ]);
  });
});

describe('typesFor', () => {
  it('finds all types that match the name, most specific first', () => {
    const types = ['{$x}', '*', 'b.*', 'a.*', 'a.b', 'a'].map((event) => type(event));
    const events = typesFor(types, 'a.b').map(({ event }) => event);
    assert.deepEqual(events, ['a.b', 'a.*', '*', '{$x}']);
  });
});

describe('typesFor an event type', () => {
  it('is only that, because callbacks do not check its payload', () => {
    const declared = { ...type('a.b'), source: 'declared' as const };
    const types = [type('*'), type('a.b'), declared];
    assert.deepEqual(typesFor(types, 'a.b'), [declared]);
    assert.deepEqual(typesFor(types, 'a.c'), [types[0]]);
  });
});

describe('schemasOf', () => {
  it('has each schema once, and no type without one', () => {
    const types = [type('a', { type: 'object' }), type('b', { type: 'object' }), type('c')];
    assert.deepEqual(
      schemasOf(types).map(({ event }) => event),
      ['a'],
    );
  });
});

describe('schemaRows', () => {
  it('shows type, constraints and required properties, through references', () => {
    const rows = schemaRows({
      $ref: '#/$defs/s0',
      $defs: {
        s0: {
          type: 'object',
          required: ['id'],
          properties: {
            id: { type: 'string', format: 'uuid', description: 'Of the order' },
            amount: { type: ['number', 'null'], minimum: 0 },
            lines: { type: 'array', items: { $ref: '#/$defs/s1' } },
          },
        },
        s1: { enum: ['a', 'b'] },
      },
    });
    const shown = rows.map(({ depth, name, kind, isRequired, rules }) =>
      [depth, name, kind, isRequired ? 'required' : '', ...rules].join(' '),
    );
    assert.deepEqual(shown, [
      '0 payload object required',
      '1 id string (uuid) required',
      '1 amount number or null  at least 0',
      '1 lines array ',
      '2 each item value  one of "a", "b"',
    ]);
    assert.equal(rows[1]?.description, 'Of the order');
  });
  it('ends for a schema that refers to itself', () => {
    const rows = schemaRows({
      $ref: '#/$defs/node',
      $defs: { node: { properties: { next: { $ref: '#/$defs/node' } } } },
    });
    assert.deepEqual(
      rows.map(({ name, kind }) => `${name}: ${kind}`),
      ['payload: object', 'next: recursive'],
    );
  });
  it('truncates a very large schema', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, at) => [`p${at}`, { type: 'string' }]),
    );
    assert.equal(schemaRows({ properties }).length, limits.schemaRowsMax);
  });
  it('accepts values that are not schemas', () => {
    for (const odd of [{}, { type: 3, enum: 'x' }, { $ref: '#/nowhere' }, { properties: [1] }]) {
      assert.equal(schemaRows(odd).length, 1);
    }
  });
});
