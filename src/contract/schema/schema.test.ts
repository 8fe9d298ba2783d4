import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { load } from 'js-yaml';
import { bounds } from '../document/bounds.ts';
import { keywords } from './keywords.ts';
import { at, openSource } from '../document/ref-node.ts';
import { makeValidator } from './schema.ts';
import type { Validator } from './schema.ts';

/** A validator for the schema `S`; other schemas of the document are at `#/S2` and so on. */
function validator(yaml: string, openapi = '3.0.4'): Validator & { warnings: string[] } {
  const root = openSource({ path: 'api.yaml', root: Object.assign({ openapi }, load(yaml)) });
  const place = at(root, 'S');
  assert.ok(place);
  const made = makeValidator(place);
  made.schema();
  const warnings = root.source.warnings.map(({ pointer, message }) => `${pointer} ${message}`);
  return { ...made, warnings };
}

function faults(yaml: string, value: unknown, openapi?: string): string[] {
  const { check } = validator(yaml, openapi);
  return check(value).map(({ field, message }) => `${field} ${message}`);
}

describe('makeValidator: messages', () => {
  const cases: [string, unknown, string[]][] = [
    ['S: { type: string }', 5, [' must be a string, is a number']],
    ['S: { type: string }', null, [' must be a string, is null']],
    ['S: { type: object }', [], [' must be an object, is a list']],
    ['S: { type: integer }', 1.5, [' must be an integer, is 1.5']],
    ['S: { type: integer }', '1', [' must be an integer, is a string']],
    ['S: { type: boolean, nullable: true }', 'x', [' must be a boolean or null, is a string']],
    ['S: { required: [a, b] }', { b: 1 }, ['/a is required']],
    ['S: { required: [a/b] }', {}, ['/a~1b is required']],
    ['S: { additionalProperties: false }', { x: 1 }, ['/x is not allowed here']],
    ['S: { enum: [a, b] }', 'c', [' must be one of "a", "b", is "c"']],
    ['S: { enum: [a] }', {}, [' must be "a", is an object']],
    ['S: { minimum: 1, maximum: 5 }', 0, [' must be at least 1, is 0']],
    ['S: { minimum: 1, maximum: 5 }', 6, [' must be at most 5, is 6']],
    ['S: { minimum: 1, exclusiveMinimum: true }', 1, [' must be more than 1, is 1']],
    ['S: { maximum: 5, exclusiveMaximum: true }', 5, [' must be less than 5, is 5']],
    ['S: { maximum: 5, exclusiveMaximum: false }', 5, []],
    ['S: { multipleOf: 2 }', 3, [' must be a multiple of 2, is 3']],
    ['S: { minLength: 1 }', '', [' must have at least 1 character, has 0']],
    ['S: { maxLength: 2 }', '🙂🙂🙂', [' must have at most 2 characters, has 3']],
    ['S: { minItems: 2 }', [1], [' must have at least 2 items, has 1']],
    ['S: { maxItems: 1 }', [1, 2], [' must have at most 1 item, has 2']],
    ['S: { minProperties: 1 }', {}, [' must have at least 1 property, has 0']],
    ['S: { maxProperties: 0 }', { a: 1 }, [' must have at most 0 properties, has 1']],
    ['S: { uniqueItems: true }', [1, 2, 1], [' must not repeat items: 0 and 2 are equal']],
    ['S: { pattern: ^a }', 'b', [' must match the pattern "^a"']],
    ['S: { format: date-time }', 'today', [' must have the format "date-time", is "today"']],
    ['S: { format: email }', 'ann', [' must have the format "email", is "ann"']],
    ['S: { format: uuid }', '1', [' must have the format "uuid", is "1"']],
    ['S: { not: { type: string } }', 'x', [' must not match the schema under "not"']],
    [
      'S: { properties: { a: { items: { type: string } } } }',
      { a: ['x', 1] },
      ['/a/1 must be a string, is a number'],
    ],
    ['S: { type: string, enum: [a], nullable: true }', null, []],
  ];
  for (const [yaml, value, expected] of cases) {
    it(`${yaml} and ${JSON.stringify(value)}`, () => {
      assert.deepEqual(faults(yaml, value), expected);
    });
  }

  it('reports faults of 3.1 keywords', () => {
    const all: [string, unknown, string[]][] = [
      ['S: { const: 1 }', 2, [' must be 1, is 2']],
      ['S: { type: [string, "null"] }', 1, [' must be a string or null, is a number']],
      ['S: { exclusiveMinimum: 1 }', 1, [' must be more than 1, is 1']],
      ['S: { dependentRequired: { a: [b] } }', { a: 1 }, ['/b is required when "a" is present']],
      ['S: { unevaluatedProperties: false }', { a: 1 }, ['/a is not allowed here']],
      ['S: { properties: { a: false } }', { a: 1 }, ['/a is not allowed here']],
      ['S: { propertyNames: { pattern: ^x } }', { a: 1 }, ['/a must match the pattern "^x"']],
      [
        'S: { contains: { type: string } }',
        [],
        [' contains too few or too many of the items that it must contain'],
      ],
      ['S: { if: { required: [a] }, then: { required: [b] } }', { a: 1 }, ['/b is required']],
      ['S: { prefixItems: [{ type: string }] }', [1], ['/0 must be a string, is a number']],
    ];
    for (const [yaml, value, expected] of all) {
      assert.deepEqual(faults(yaml, value, '3.1.0'), expected, yaml);
    }
  });

  it('shortens long values and long lists, and reports no more than the bound', () => {
    const long = faults('S: { enum: [a] }', 'x'.repeat(500))[0] ?? '';
    assert.ok(long.length < 100 && long.endsWith('…'), long);
    const many = faults(`S: { enum: [${Array.from({ length: 30 }, (_, n) => n).join()}] }`, 'x');
    assert.match(many[0] ?? '', /17, 18, 19, …, is "x"$/);
    const list = faults('S: { items: { type: string } }', Array(1000).fill(1));
    assert.equal(list.length, bounds.faultsMax);
  });

  it('reports nothing twice', () => {
    const yaml = 'S: { allOf: [{ required: [a] }, { required: [a] }] }';
    assert.deepEqual(faults(yaml, {}), ['/a is required']);
  });
});

describe('makeValidator: the intended branch', () => {
  const subscribe = `
S: { oneOf: [{ $ref: '#/Body' }, { $ref: '#/Multi' }] }
Body: { type: object, required: [callbackUrl], properties: { callbackUrl: { type: string } } }
Multi:
  type: object
  anyOf: [{ required: [inProgressUrl] }, { required: [failedUrl] }]
  properties: { inProgressUrl: { type: string }, failedUrl: { type: string } }
`;

  it('is the one that declares the properties of the value', () => {
    assert.deepEqual(faults(subscribe, { callbackUrl: 5 }), [
      '/callbackUrl must be a string, is a number',
    ]);
    assert.deepEqual(faults(subscribe, { failedUrl: 5, inProgressUrl: null }), [
      '/inProgressUrl must be a string, is null',
      '/failedUrl must be a string, is a number',
    ]);
  });

  it('is the first one when they are equally likely', () => {
    assert.deepEqual(faults(subscribe, {}), ['/callbackUrl is required']);
    assert.deepEqual(faults(subscribe, 5), [' must be an object, is a number']);
  });

  it('is never one for values of another type', () => {
    const yaml = `
S: { anyOf: [{ type: string }, { type: object, required: [a, b] }] }`;
    assert.deepEqual(faults(yaml, {}), ['/a is required', '/b is required']);
    const nullable = 'S: { allOf: [{ $ref: "#/T" }], nullable: true }\nT: { required: [a, b] }';
    assert.deepEqual(faults(nullable, {}), ['/a is required', '/b is required']);
    assert.deepEqual(faults(nullable, null), []);
  });

  it('is the one with fewer faults, then the one with deeper ones', () => {
    const few = 'S: { oneOf: [{ required: [a, b] }, { required: [c] }] }';
    assert.deepEqual(faults(few, {}), ['/c is required']);
    const deep = `
S:
  oneOf:
    - { properties: { x: { required: [a] } } }
    - { properties: { x: { properties: { y: { type: string } } } } }`;
    assert.deepEqual(faults(deep, { x: { y: 1 } }), ['/x/y must be a string, is a number']);
  });

  it('is none when several match', () => {
    const yaml =
      'S: { oneOf: [{ type: number }, { type: string }, { minimum: 1 }, { maximum: 0 }] }';
    assert.deepEqual(faults(yaml, 5), [
      ' matches more than one of the allowed schemas, expected exactly one',
    ]);
  });

  it('keeps the faults around it, inside lists and inside other branches', () => {
    const yaml = `
S:
  required: [kind]
  properties:
    first: { type: string }
    list:
      items:
        anyOf:
          - { type: object, required: [a], properties: { a: { oneOf: [{ type: string }, { type: integer }] } } }
          - { type: object, required: [b] }
    last: { type: string }`;
    assert.deepEqual(faults(yaml, { first: 1, list: [{ a: null }, { a: 1 }, { b: 2 }], last: 2 }), [
      '/kind is required',
      '/first must be a string, is a number',
      '/list/0/a must be a string, is null',
      '/last must be a string, is a number',
    ]);
  });
});

describe('makeValidator: schemas', () => {
  it('follows references, circular ones too', () => {
    const yaml = `
S: { $ref: '#/Tree' }
Tree: { type: object, properties: { children: { type: array, items: { $ref: '#/Tree' } } } }`;
    assert.deepEqual(faults(yaml, { children: [{ children: [{ children: 5 }] }] }), [
      '/children/0/children/0/children must be a list, is a number',
    ]);
  });

  it('does not loop if a parent is defined as one of its children', () => {
    const yaml = `
S: { $ref: '#/Cat' }
Pet: { oneOf: [{ $ref: '#/Cat' }, { $ref: '#/Dog' }], required: [kind] }
Cat: { allOf: [{ $ref: '#/Pet' }, { required: [lives] }] }
Dog: { allOf: [{ $ref: '#/Pet' }, { required: [barks] }] }`;
    assert.deepEqual(faults(yaml, { kind: 'cat' }), ['/lives is required']);
    assert.deepEqual(faults(yaml, { lives: 9 }), ['/kind is required']);
    assert.deepEqual(faults(yaml, { kind: 'cat', lives: 9, barks: 1 }), []);
    assert.match(
      validator(yaml).warnings[0] ?? '',
      /#\/Cat refers to itself with no property in b/,
    );
    assert.deepEqual(faults('S: { $ref: "#/S" }', 1), []);
    assert.deepEqual(faults('S: { not: { $ref: "#/S" } }', 1), []);
  });

  it('ignores siblings of a reference in 3.0, except nullable, and applies them in 3.1', () => {
    const yaml = 'S: { $ref: "#/T", minLength: 3, nullable: true }\nT: { type: string }';
    assert.deepEqual(faults(yaml, 'x'), []);
    assert.deepEqual(faults(yaml, null), []);
    assert.deepEqual(faults(yaml, 'x', '3.1.0'), [' must have at least 3 characters, has 1']);
  });

  it('accepts anything where a reference leads nowhere, with a warning', () => {
    const { check, warnings } = validator('S: { $ref: "#/gone" }');
    assert.deepEqual(check({ a: 1 }), []);
    assert.match(warnings[0] ?? '', /^#\/S Cannot follow \$ref "#\/gone"/);
  });

  it('ignores keywords that cannot be read, with a warning', () => {
    const yaml = `
S:
  type: any
  required: true
  properties: { a: null, b: { type: string, pattern: '(', minLength: '5' } }
  enum: []
  items: [{ type: string }]
  patternProperties: { '(': { type: string } }
  nonsense: 5`;
    const { check, warnings } = validator(yaml);
    assert.deepEqual(check({ a: 1, b: '' }), []);
    assert.deepEqual(
      warnings.map((one) => one.split(' ', 1)[0]),
      [
        '#/S/type',
        '#/S/required',
        '#/S/properties/a',
        '#/S/properties/b/pattern',
        '#/S/properties/b/minLength',
        '#/S/enum',
        '#/S/items',
        '#/S/patternProperties',
      ],
    );
    assert.equal(warnings[0], '#/S/type is a string, expected a JSON type; it is ignored');
  });

  it('leaves URLs to the guard', () => {
    for (const format of ['uri', 'url', 'uri-reference']) {
      assert.deepEqual(faults(`S: { type: string, format: ${format} }`, 'not a url'), []);
    }
  });

  it('does not require read-only properties', () => {
    const yaml = `
S: { required: [id, name], properties: { id: { $ref: '#/Id' }, name: { type: string } } }
Id: { type: string, readOnly: true }`;
    assert.deepEqual(faults(yaml, {}), ['/name is required']);
  });

  it('reads regular expressions that the strict mode refuses', () => {
    assert.deepEqual(faults(String.raw`S: { pattern: '^[\w\-\_]+$' }`, 'a-b_c'), []);
    assert.equal(faults(String.raw`S: { pattern: '^[\w\-\_]+$' }`, 'a b').length, 1);
  });

  it('sees own properties of a value only', () => {
    assert.deepEqual(faults('S: { required: [constructor] }', {}), ['/constructor is required']);
  });

  it('refuses a schema that is nested too deeply or reaches too much', () => {
    const loop: Record<string, unknown> = {};
    loop['not'] = loop;
    const root = openSource({ path: 'api.yaml', root: { S: loop } });
    const place = at(root, 'S');
    assert.ok(place);
    assert.throws(() => makeValidator(place).schema(), {
      name: 'ContractError',
      message: /it is nested deeper than 128/,
    });
    const types = (count: number): unknown[] =>
      Array.from({ length: count }, () => ({ type: 'string' }));
    const wide = at(openSource({ path: 'api.yaml', root: { S: { anyOf: types(1_001) } } }), 'S');
    assert.ok(wide);
    assert.throws(
      () => makeValidator(wide).schema(),
      /its anyOf has 1001 members, expected at most 1000/,
    );
    const branch = { allOf: types(1_000) };
    const large = { anyOf: Array.from({ length: 10 }, () => branch) };
    const many = at(openSource({ path: 'api.yaml', root: { S: large } }), 'S');
    assert.ok(many);
    assert.throws(() => makeValidator(many).schema(), /it is too large to validate/);
  });

  it('never throws, whatever the value', () => {
    const yaml = `
S:
  type: object
  required: [a]
  properties:
    a: { oneOf: [{ type: string, minLength: 2 }, { type: array, items: { $ref: '#/S' } }, { type: number }] }
    b: { anyOf: [{ type: object, additionalProperties: false }, { enum: [1, null] }] }
  additionalProperties: { nullable: true, allOf: [{ type: string, format: date }] }`;
    const { check } = validator(yaml);
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (a, b, c) => {
        for (const value of [a, { a, b, c }, { a: [{ a: b }, c] }]) {
          for (const { field, message } of check(value)) {
            assert.match(field, /^(\/|$)/);
            assert.ok(message.length > 5 && message.length < 500);
          }
        }
      }),
    );
  });
});

describe('makeValidator: nonsensical schemas', () => {
  /** Keywords with values of any type, valid ones among them. */
  const schema = fc.letrec((tie) => ({
    schema: fc.dictionary(
      fc.constantFrom(...keywords.keys(), '$ref', 'nullable', 'readOnly', 'discriminator', '$id'),
      fc.oneof(
        { maxDepth: 3, depthIdentifier: 'schema' },
        fc.constantFrom('string', 'object', '#/S', '#/S/properties/a', '#/S/oneOf/0', 3, ['a']),
        fc.jsonValue({ maxDepth: 1 }),
        tie('schema'),
        fc.array(tie('schema'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor'), tie('schema'), {
          maxKeys: 3,
        }),
      ),
      { maxKeys: 6 },
    ),
  })).schema;

  it('give a verdict where a combination of keywords or an inherited name is odd', () => {
    const yaml = `
S: { unevaluatedProperties: false, patternProperties: { a: {} }, oneOf: [{ properties: { a: {} }, oneOf: [{}, {}] }] }`;
    assert.deepEqual(faults(yaml, { a: 1 }, '3.1.0'), [
      ' matches more than one of the allowed schemas, expected exactly one',
    ]);
    assert.deepEqual(faults('S: { const: {} }', { valueOf: null }, '3.1.0'), [
      ' must be an object, is an object',
    ]);
  });

  it('never throw: unreadable parts are dropped', () => {
    fc.assert(
      fc.property(
        schema,
        fc.constantFrom('3.0.4', '3.1.0'),
        fc.jsonValue(),
        (S, openapi, value) => {
          const place = at(openSource({ path: 'api.yaml', root: { openapi, S } }), 'S');
          assert.ok(place);
          const { check, shape } = makeValidator(place);
          for (const one of [value, { a: value, b: value }, [value], 'a', null]) {
            const unchecked = check(one).find(({ message }) => message.startsWith('cannot be'));
            // A check that takes too long is refused on purpose.
            const isTooMuch = unchecked?.message.includes('steps') === true;
            assert.ok(unchecked === undefined || isTooMuch, unchecked?.message ?? '');
          }
          shape().property('a').items();
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('makeValidator: large values', () => {
  it('explains tens of thousands of errors within its limits', () => {
    const yaml = `
S: { anyOf: [{ type: array, items: { anyOf: [{ type: object, required: [a, b, c] }, { type: 'null' }] } }, { type: string }] }`;
    const list = Array.from({ length: 50_000 }, () => ({}));
    assert.equal(faults(yaml, list).length, bounds.faultsMax);
  });
});

describe('shape', () => {
  it('finds types, properties, items and defaults through references and combinations', () => {
    const { shape } = validator(`
S: { allOf: [{ $ref: '#/A' }, { anyOf: [{ type: 'string' }, { enum: [1, true, null, [], {}] }] }], default: 7 }
A: { type: object, properties: { x: { type: integer } }, additionalProperties: { type: boolean }, items: { type: number } }`);
    const it0 = shape();
    assert.deepEqual([...it0.types].toSorted(), [
      'array',
      'boolean',
      'null',
      'number',
      'object',
      'string',
    ]);
    assert.equal(it0.default, 7);
    assert.deepEqual(it0.properties, ['x']);
    assert.deepEqual([...it0.property('x').types], ['integer']);
    assert.deepEqual([...it0.property('toString').types], ['boolean']);
    assert.deepEqual([...it0.items().types], ['number']);
  });

  it('takes the type from a constant', () => {
    assert.deepEqual([...validator('S: { const: 5 }', '3.1.0').shape().types], ['number']);
  });
});

describe('makeValidator: properties named like keywords', () => {
  it('have their references followed, whatever the keyword expects', () => {
    for (const name of [...keywords.keys(), '$ref', 'discriminator', 'x-y']) {
      const property = JSON.stringify(name);
      const yaml = `S: { allOf: [{ properties: { ${property}: { $ref: '#/S2' } } }] }\nS2: { enum: [1] }`;
      const value = (inside: unknown): unknown => JSON.parse(`{${property}:${String(inside)}}`);
      assert.deepEqual(faults(yaml, value(1)), [], name);
      const [fault] = faults(yaml, value(2));
      assert.match(fault ?? '', /must be 1, is 2$/, name);
    }
  });
});
