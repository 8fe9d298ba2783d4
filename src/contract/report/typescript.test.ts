import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printEvents, type TypedEvent } from './typescript.ts';

function typeOf(schema: unknown): string {
  const printed = printEvents([{ event: 'e', schema }]);
  return printed.slice("export interface Events {\n  'e': ".length, -';\n}\n'.length);
}

describe('printEvents', () => {
  it('is an interface from the names of events to their payloads', () => {
    const events: TypedEvent[] = [
      {
        event: 'order.created',
        description: 'An order\n was placed */ today',
        schema: {
          $ref: '#/$defs/s0',
          $defs: {
            s0: {
              type: 'object',
              required: ['id', 'lines'],
              properties: {
                id: { type: 'integer', description: 'Its number' },
                "it's": { enum: ['a', "b'", 3, null] },
                lines: { type: 'array', items: { $ref: '#/$defs/s1' } },
              },
            },
            s1: { properties: { sku: { type: ['string', 'null'] } } },
          },
        },
      },
      { event: '*', schema: { type: 'string' } },
      { event: 'a.*' },
      { event: '{$request.query.event}' },
      { event: 'gone', state: 'deprecated' },
      { event: 'both', schema: { type: 'string' } },
      { event: 'both', schema: { type: 'integer' } },
    ];
    assert.equal(
      printEvents(events),
      String.raw`export interface Events {
  /** An order was placed * / today */
  'order.created': {
    /** Its number */
    id: number;
    'it\'s'?: 'a' | 'b\'' | 3 | null;
    lines: readonly ({
      sku?: string | null;
    })[];
  };
  /** @deprecated */
  'gone': unknown;
  'both': string | number;
}
`,
    );
    assert.equal(printEvents([]), 'export interface Events {}\n');
  });

  for (const [schema, expected] of [
    [true, 'unknown'],
    [false, 'never'],
    [{}, 'unknown'],
    [{ const: 'x"y' }, `'x"y'`],
    [{ type: 'object' }, 'Readonly<Record<string, unknown>>'],
    [
      { type: 'object', additionalProperties: { type: 'number' } },
      'Readonly<Record<string, number>>',
    ],
    [{ type: 'string', nullable: true }, 'string | null'],
    [{ items: { type: ['string', 'null'] } }, 'readonly (string | null)[]'],
    [
      { items: { anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] } },
      'readonly ({\n    a?: unknown;\n  } | {\n    b?: unknown;\n  })[]',
    ],
    [{ items: { items: { type: 'string' } } }, 'readonly (readonly string[])[]'],
    [
      { type: 'array', prefixItems: [{ type: 'string' }], items: false },
      'readonly [string, ...never[]]',
    ],
    [{ oneOf: [{ type: 'string' }, { type: 'integer' }] }, 'string | number'],
    [{ oneOf: [{ type: 'string' }, {}] }, 'unknown'],
    [{ type: 'string', oneOf: [{ minLength: 1 }, { maxLength: 2 }] }, 'string'],
    [
      { allOf: [{ type: 'string' }, { anyOf: [{ const: 'a' }, { const: 'b' }] }] },
      `string & ('a' | 'b')`,
    ],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'null' } } }, 'null'],
    [{ $ref: '#/$defs/none' }, 'unknown'],
    [
      { properties: { self: { $ref: '#' } } },
      '{\n    self?: {\n      self?: unknown;\n    };\n  }',
    ],
  ] as const) {
    it(`prints ${JSON.stringify(schema)}`, () => assert.equal(typeOf(schema), expected));
  }

  it('ends, however often a schema refers to others', () => {
    const defs = Array.from({ length: 40 }, (_, at): [string, object] => [
      `d${at}`,
      { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}`, title: 'x' }] },
    ]);
    assert.equal(typeOf({ $ref: '#/$defs/d0', $defs: Object.fromEntries(defs) }), 'unknown');
  });
});
