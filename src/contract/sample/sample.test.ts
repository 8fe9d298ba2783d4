import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { load } from 'js-yaml';
import type { Contract } from '../model/contract.ts';
import { ContractError } from '../document/document.ts';
import { loadContract } from '../compile/load.ts';
import { at, openSource } from '../document/ref-node.ts';
import { contractWork, sampleOf } from './sample.ts';
import type { Sample, WantedValue } from './sample.ts';
import { makeValidator } from '../schema/schema.ts';
import type { Validator } from '../schema/schema.ts';

/** A validator for the schema `S`; other schemas of the document are at `#/S2` and so on. */
function validator(root: unknown, openapi = '3.0.4'): Validator {
  const source = openSource({ path: 'api.yaml', root: Object.assign({ openapi }, root) });
  const place = at(source, 'S');
  assert.ok(place);
  return makeValidator(place, at(source, 'holder'));
}

function sample(yaml: string, openapi?: string, wanted?: readonly WantedValue[]): Sample {
  return sampleOf(validator(load(yaml), openapi), contractWork(), wanted);
}

/** The value, after a check that it is valid. */
function valueOf(yaml: string, openapi?: string, wanted?: readonly WantedValue[]): unknown {
  const made = sample(yaml, openapi, wanted);
  assert.ok(made.kind === 'sample', JSON.stringify(made));
  assert.deepEqual(validator(load(yaml), openapi).check(made.value), []);
  return made.value;
}

/** What another implementation of JSON Schema finds wrong. */
function judge(schema: object, value: unknown): { errors: unknown[] } {
  const ajv = addFormats.default(new Ajv2020({ strict: false, multipleOfPrecision: 9 }));
  const validate = ajv.compile(schema);
  return { errors: validate(value) ? [] : (validate.errors ?? []) };
}

describe('sampleOf: what the document offers', () => {
  const cases: [string, unknown][] = [
    ['S: { type: string, example: hello }', 'hello'],
    ['S: { type: string, default: hello }', 'hello'],
    ['S: { type: string, example: hello, default: bye }', 'hello'],
    ['S: { enum: [b, a] }', 'b'],
    ['S: { enum: [b, a], default: a }', 'a'],
    ['S: { enum: [b, a], example: c }', 'b'],
    ['S: { type: integer, example: five }', 1],
    ['S: { type: integer, minimum: 3, example: 2 }', 3],
    ['{ S: { type: object, example: { a: 1 } }, holder: { example: { b: 2 } } }', { b: 2 }],
    ['{ S: { type: string }, holder: { examples: { x: { value: 1 }, y: { value: z } } } }', 'z'],
    ['S: { type: string, nullable: true, example: null }', null],
    ['S: { type: object, required: [a], example: { b: 1 } }', { a: 'string' }],
    ['S: { type: object, properties: { a: { type: string, example: x } } }', { a: 'x' }],
  ];
  for (const [yaml, expected] of cases) {
    it(yaml, () => assert.deepEqual(valueOf(yaml), expected));
  }

  it('takes examples, const and lists of types from 3.1', () => {
    assert.equal(valueOf('S: { type: string, examples: [3, x] }', '3.1.0'), 'x');
    assert.equal(valueOf('S: { const: x }', '3.1.0'), 'x');
    assert.equal(valueOf('S: { type: ["null", string] }', '3.1.0'), 'string');
    assert.equal(valueOf('S: { type: "null" }', '3.1.0'), null);
  });

  it('takes an example that is not an object schema word for word, and follows references', () => {
    const yaml = 'S: { $ref: "#/S2" }\nS2: { type: object, example: { $id: x, $ref: 5 } }';
    assert.deepEqual(valueOf(yaml), { $id: 'x', $ref: 5 });
  });
});

describe('sampleOf: texts and numbers', () => {
  const cases: [string, unknown][] = [
    ['{ type: string }', 'string'],
    ['{ type: string, minLength: 8 }', 'stringst'],
    ['{ type: string, maxLength: 3 }', 'str'],
    ['{ type: string, maxLength: 0 }', ''],
    ['{ type: string, format: uri }', 'https://example.com/callback'],
    ['{ type: string, format: uri, maxLength: 12 }', 'stringstring'.slice(0, 6)],
    ['{ type: string, format: date-time }', '2030-01-31T12:00:00Z'],
    ['{ type: string, format: date }', '2030-01-31'],
    ['{ type: string, pattern: "^[A-Z]{3}$" }', 'AAA'],
    ['{ type: string, pattern: "^(?:ab|cd)-\\\\d{2,4}$", minLength: 7 }', 'ab-1111'],
    ['{ type: string, pattern: "x", minLength: 4 }', 'xaaa'],
    ['{ type: string, pattern: "^https://.+$", format: uri }', 'https://example.com/callback'],
    ['{ type: string, pattern: "^\\\\+[1-9][0-9]{4,14}$" }', '+11111'],
    ['{ type: string, pattern: "^[\\\\u4e00-\\\\u9fa5]$" }', '中'],
    ['{ type: integer }', 1],
    ['{ type: integer, minimum: 10, exclusiveMinimum: true, multipleOf: 7 }', 14],
    ['{ type: integer, maximum: -3 }', -3],
    ['{ type: number, minimum: 0.5, maximum: 0.75 }', 0.5],
    ['{ type: number, minimum: 0, exclusiveMinimum: true, maximum: 0.1 }', 0.05],
    ['{ type: number, multipleOf: 0.01, minimum: 5 }', 5],
    ['{ type: boolean }', true],
    ['{}', {}],
  ];
  for (const [yaml, expected] of cases) {
    it(yaml, () => assert.deepEqual(valueOf(`S: ${yaml}`), expected));
  }

  const formats =
    'uri url uri-reference uri-template email hostname ipv4 ipv6 uuid date-time date time duration byte ' +
    'json-pointer json-pointer-uri-fragment relative-json-pointer regex int32 int64 float double password binary made-up';
  for (const format of formats.split(' ')) {
    it(`knows ${format}, also where the values must differ`, () => {
      const type = /^(?:int|float|double)/.test(format) ? 'number' : 'string';
      const items = `{ type: ${type}, format: ${format} }`;
      valueOf(`S: { type: array, minItems: 5, uniqueItems: true, items: ${items} }`);
    });
  }
});

describe('sampleOf: objects, lists and combinations', () => {
  const cases: [string, unknown][] = [
    [
      'S: { type: object, required: [a], properties: { a: { type: integer }, b: { type: boolean } } }',
      { a: 1, b: true },
    ],
    ['S: { properties: { id: { type: string, readOnly: true }, a: { type: integer } } }', { a: 1 }],
    ['S: { required: [id], properties: { id: { type: string, readOnly: true } } }', {}],
    ['S: { properties: { a: { type: string }, b: { not: {} } } }', { a: 'string' }],
    ['S: { type: object, additionalProperties: { type: integer } }', { name1: 1 }],
    ['S: { type: object, additionalProperties: false }', {}],
    ['S: { type: object, minProperties: 2 }', { name1: 'string', name2: 'string' }],
    ['S: { type: array, items: { type: string } }', ['string']],
    ['S: { type: array, minItems: 2, items: { type: string } }', ['string', 'string']],
    ['S: { type: array, maxItems: 0, items: { type: string } }', []],
    ['S: { type: array, uniqueItems: true, minItems: 2, items: { enum: [a, b] } }', ['a', 'b']],
    ['S: { type: string, nullable: true }', 'string'],
    ['S: { $ref: "#/S2", nullable: true }\nS2: { type: string }', 'string'],
    ['S: { oneOf: [{ type: string }, { type: integer }] }', 'string'],
    ['S: { oneOf: [{ type: number }, { type: integer }] }', 1.5],
    [
      'S: { allOf: [{ required: [a], properties: { a: { minimum: 2 } } }, ' +
        '{ properties: { a: { type: integer, maximum: 3 } } }] }',
      { a: 2 },
    ],
    [
      'S: { oneOf: [{ required: [a] }, { required: [b] }], properties: { a: {}, b: {} } }',
      { a: 'string' },
    ],
  ];
  for (const [yaml, expected] of cases) {
    it(yaml, () => {
      assert.deepEqual(valueOf(yaml), expected);
    });
  }

  it('names the branch in the discriminator', () => {
    const yaml = `
S:
  oneOf: [{ $ref: '#/Cat' }, { $ref: '#/Dog' }]
  discriminator: { propertyName: kind, mapping: { tabby: '#/Cat' } }
Cat: { type: object, required: [kind, lives], properties: { kind: { type: string }, lives: { type: integer } }, additionalProperties: false }
Dog: { type: object, required: [kind], properties: { kind: { type: string } }, additionalProperties: false }`;
    assert.deepEqual(valueOf(yaml), { kind: 'tabby', lives: 1 });
    const other = yaml.replace("[{ $ref: '#/Cat' }, { $ref: '#/Dog' }]", "[{ $ref: '#/Dog' }]");
    assert.deepEqual(valueOf(other), { kind: 'Dog' });
  });

  it('names the schema that builds upon one with a discriminator', () => {
    const yaml = `
S: { $ref: '#/Cat' }
Pet: { type: object, required: [kind], properties: { kind: { type: string } }, discriminator: { propertyName: kind } }
Cat: { allOf: [{ $ref: '#/Pet' }, { properties: { lives: { type: integer } } }] }`;
    assert.deepEqual(valueOf(yaml), { kind: 'Cat', lives: 1 });
  });

  it('terminates if schemas refer to themselves', () => {
    const list =
      'S: { type: object, required: [v], properties: { v: { type: integer }, next: { $ref: "#/S" } } }';
    assert.deepEqual(valueOf(list), { v: 1 });
    const tree =
      'S: { type: object, required: [kids], properties: { kids: { type: array, items: { $ref: "#/S" } } } }';
    assert.deepEqual(valueOf(tree), { kids: [] });
    const choice =
      'S: { oneOf: [{ type: object, required: [s], properties: { s: { $ref: "#/S" } } }, { type: integer }] }';
    valueOf(choice);
  });

  it('takes conditions, dependencies and closed objects of 3.1', () => {
    for (const schema of [
      '{ type: object, properties: { a: { const: 1 }, b: {} }, if: { properties: { a: { const: 1 } } }, then: { required: [b] } }',
      '{ type: object, required: [a], dependentRequired: { a: [b] } }',
      '{ type: object, required: [a], dependentSchemas: { a: { required: [c] } } }',
      '{ type: object, properties: { a: {} }, unevaluatedProperties: false, allOf: [{ properties: { b: {} } }] }',
      '{ type: array, prefixItems: [{ type: integer }, { type: string }], items: false }',
      '{ type: array, contains: { const: x }, minContains: 2, items: { type: string } }',
      '{ type: object, propertyNames: { pattern: "^[a-z]{2}$" }, minProperties: 3 }',
      '{ type: object, patternProperties: { "^x-": { type: integer } }, additionalProperties: false, minProperties: 1 }',
      '{ type: object, properties: { a: { type: string } }, not: { required: [a] } }',
      '{ type: string, not: { const: string } }',
    ]) {
      valueOf(`S: ${schema}`, '3.1.0');
    }
  });

  it('finds what the first value misses', () => {
    for (const schema of [
      '{ type: string, pattern: "^(?=.*\\\\d)(?=.*[a-z])(?=.*[A-Z]).{8,}$" }',
      '{ type: string, allOf: [{ pattern: "[0-9]" }, { pattern: "[a-z]" }, { pattern: "[A-Z]" }] }',
      '{ type: string, allOf: [{ pattern: "^a" }, { pattern: "z$" }] }',
      '{ type: string, format: uuid, pattern: "^[0-9A-F-]{36}$" }',
      '{ type: string, format: date, pattern: "^2024" }',
      '{ type: string, format: email, maxLength: 12 }',
      '{ type: string, format: email, pattern: "@acme\\\\.com$" }',
      '{ type: string, format: ipv4, pattern: "^10\\\\." }',
      '{ type: string, format: duration, pattern: "H$" }',
      '{ type: string, format: date-time, minLength: 24 }',
      '{ type: string, format: ipv6, minLength: 20 }',
      '{ type: string, format: uuid, not: { const: 3fa85f64-5717-4562-b3fc-2c963f66afa6 } }',
      '{ type: string, pattern: "^(a|bb|ccc)$", minLength: 3 }',
      '{ type: string, pattern: "^(ab|cde)+$", minLength: 7, maxLength: 7 }',
      '{ type: string, pattern: "^(?=.*[0-9])(?=.*[!@#]).{6,10}$" }',
      '{ type: string, not: { minLength: 3 } }',
      '{ type: string, not: { pattern: "^s" } }',
      '{ type: array, minItems: 50, uniqueItems: true, items: { type: string, pattern: "^[a-z]{1,2}$" } }',
      '{ type: integer, not: { minimum: 0 } }',
      '{ type: number, multipleOf: 0.01, minimum: 1.145, maximum: 1.155 }',
      '{ type: array, minItems: 5, uniqueItems: true, items: { multipleOf: 0.1, minimum: 0, maximum: 0.4 } }',
      '{ type: array, minItems: 100, uniqueItems: true, items: { type: integer, minimum: 0, maximum: 99 } }',
      '{ type: array, minItems: 4, uniqueItems: true, items: { required: [a, b], properties: { a: { type: boolean }, b: { type: boolean } } } }',
      '{ type: array, minItems: 4, uniqueItems: true, items: { type: array, minItems: 2, maxItems: 2, items: { type: boolean } } }',
      '{ type: string, pattern: "^.{3}$", not: { pattern: "^a" } }',
      '{ type: string, not: { enum: [string, string1, string2] } }',
      '{ not: { anyOf: [{ type: object }, { type: string }, { type: integer }] } }',
      '{ type: array, minItems: 12, uniqueItems: true, items: { enum: [a, b, c, d, e, f, g, h, i, j, k, l] } }',
      '{ type: object, patternProperties: { "^S_": { type: string }, "^I_": { type: integer } }, additionalProperties: false, minProperties: 3 }',
    ]) {
      const value = valueOf(`S: ${schema}`, '3.1.0');
      const { errors } = judge(load(schema) as object, value);
      assert.deepEqual(errors, [], `${schema}: ${JSON.stringify(value)}`);
    }
  });

  it('says why there is none', () => {
    const hopeless: [string, RegExp][] = [
      ['S: { not: {} }', /no example could be generated: the value must not match the schema/],
      ['S: { type: object, required: [a], properties: { a: { not: {} } } }', /\/a /],
      ['S: { type: object, required: [s], properties: { s: { $ref: "#/S" } } }', /\/s is required/],
      ['S: { type: string, minLength: 3, maxLength: 2 }', /no matching value was found/],
    ];
    for (const [yaml, pattern] of hopeless) {
      const made = sample(yaml);
      assert.ok(made.kind === 'none', yaml);
      assert.match(made.why, pattern);
    }
  });

  it('fulfils wanted if the schema allows them', () => {
    const url = {
      pointer: ['a', 'url'],
      value: 'http://x/',
      accepts: (one: unknown) => one === 'http://x/',
    };
    const yaml =
      'S: { type: object, properties: { a: { type: object, required: [b], properties: { b: { type: integer }, url: { type: string } } } } }';
    assert.deepEqual(valueOf(yaml, '3.0.4', [url]), { a: { b: 1, url: 'http://x/' } });
    const closed =
      'S: { type: object, properties: { a: { type: object, additionalProperties: false } } }';
    assert.equal(sample(closed, '3.0.4', [url]).kind, 'none');
    const list = { ...url, pointer: ['urls', '1'] };
    const urls = 'S: { properties: { urls: { type: array, items: { type: string } } } }';
    assert.deepEqual(valueOf(urls, '3.0.4', [list]), {
      urls: ['https://example.com/callback', 'http://x/'],
    });
  });
});

/** Schemas that have a valid value, by construction. */
const schemas = fc.letrec<{ schema: object; leaf: object }>((tie) => ({
  leaf: fc.oneof(
    fc
      .tuple(fc.nat(20), fc.nat(20))
      .map(([a, b]) => ({ type: 'string', minLength: Math.min(a, b), maxLength: Math.max(a, b) })),
    fc
      .constantFrom('uri', 'email', 'uuid', 'date-time', 'date', 'ipv4', 'hostname', 'byte')
      .map((format) => ({ type: 'string', format })),
    fc
      .constantFrom(
        '^[a-f0-9]{8}$',
        '^(foo|bar)(-\\d+)?$',
        '\\w+@\\w+',
        '^[^,;]{2,5}$',
        '^v\\d+\\.\\d+$',
      )
      .map((pattern) => ({ type: 'string', pattern })),
    fc
      .tuple(
        fc.integer({ min: -1000, max: 1000 }),
        fc.integer({ min: 8, max: 90 }),
        fc.integer({ min: 1, max: 7 }),
      )
      .map(([minimum, span, multipleOf]) => ({
        type: 'integer',
        minimum,
        maximum: minimum + span,
        multipleOf,
      })),
    fc
      .tuple(
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.double({ min: 1e-3, max: 1e3, noNaN: true }),
      )
      .map(([minimum, span]) => ({
        type: 'number',
        exclusiveMinimum: minimum,
        maximum: minimum + span,
      })),
    fc.constant({ type: 'boolean' }),
    fc
      .uniqueArray(fc.jsonValue({ maxDepth: 1 }), {
        minLength: 1,
        maxLength: 4,
        selector: (value) => JSON.stringify(value),
      })
      .map((values) => ({ enum: values })),
    fc.constant({}),
  ),
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('leaf'),
    fc
      .tuple(
        fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), tie('schema'), { maxKeys: 4 }),
        fc.boolean(),
        fc.nat(),
      )
      .map(([properties, isClosed, some]) => ({
        type: 'object',
        properties,
        required: Object.keys(properties).filter((_name, index) => (some >> index) % 2 === 1),
        ...(isClosed && { additionalProperties: false }),
      })),
    fc
      .tuple(tie('schema'), fc.nat(3), fc.boolean())
      .map(([items, minItems]) => ({ type: 'array', items, minItems, maxItems: minItems + 2 })),
    fc.tuple(fc.integer({ min: 0, max: 3 }), fc.boolean()).map(([minItems]) => ({
      type: 'array',
      uniqueItems: true,
      minItems,
      items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
    })),
    tie('schema').map((schema) => ({ anyOf: [{ type: 'null' }, schema] })),
    fc.tuple(tie('schema'), tie('schema')).map(([one, other]) => ({
      oneOf: [
        {
          type: 'object',
          required: ['kind', 'value'],
          properties: { kind: { const: 'one' }, value: one },
        },
        {
          type: 'object',
          required: ['kind', 'value'],
          properties: { kind: { const: 'other' }, value: other },
        },
      ],
    })),
    fc.tuple(tie('schema'), tie('schema')).map(([one, other]) => ({
      allOf: [
        { type: 'object', required: ['one'], properties: { one } },
        { type: 'object', properties: { other } },
      ],
    })),
    fc.tuple(tie('schema'), tie('schema')).map(([one, other]) => ({
      type: 'object',
      properties: { one, other },
      not: { required: ['one', 'other'] },
    })),
    fc.constant({
      type: 'object',
      required: ['list'],
      properties: { list: { type: 'array', items: { $ref: '#/S' } } },
    }),
    fc.constant({ type: 'object', properties: { again: { $ref: '#/S' } } }),
    fc
      .dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(['d'], ['d', 'e']), {
        maxKeys: 3,
      })
      .map((dependentRequired) => ({ type: 'object', required: ['a'], dependentRequired })),
  ),
}));

describe('sampleOf: any schema', () => {
  it('makes a valid value, and always the same, for schemas that have one', () => {
    fc.assert(
      fc.property(schemas.schema, (S) => {
        const made = sampleOf(validator({ S }, '3.1.0'));
        assert.ok(made.kind === 'sample', JSON.stringify(made));
        assert.deepEqual(validator({ S }, '3.1.0').check(made.value), []);
        assert.deepEqual(sampleOf(validator({ S }, '3.1.0')), made);
      }),
      { numRuns: 150 },
    );
  });

  it('never throws and always ends, whatever the schema', () => {
    const wild = fc.dictionary(
      fc.constantFrom(
        'type',
        'enum',
        'pattern',
        'minLength',
        'maximum',
        'items',
        'minItems',
        'not',
        'oneOf',
        'properties',
        'required',
        'example',
        '$ref',
        'if',
        'discriminator',
        'additionalProperties',
        'multipleOf',
        'format',
      ),
      fc.oneof(
        fc.jsonValue(),
        fc.constantFrom(
          'object',
          'string',
          'array',
          '#/S',
          { $ref: '#/S' },
          [{ $ref: '#/S' }, {}],
          '(?<=a)b',
          '[',
          1e300,
        ),
      ),
    );
    fc.assert(
      fc.property(wild, (S) => {
        const subject = validator({ S }, '3.1.0');
        const made = sampleOf(subject);
        if (made.kind === 'sample') assert.deepEqual(subject.check(made.value), []);
      }),
      { numRuns: 60 },
    );
  });
});

const corpus = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'corpus', 'openapi');
const skip = existsSync(corpus) ? false : `there is no corpus at ${corpus}`;
const files = skip === false ? globSync('**/*.{yaml,yml,json}', { cwd: corpus }).toSorted() : [];

/** Bodies, parameters and payloads of all documents that load. */
const corpusSchemasMin = 250;

describe('sampleOf over the corpus', { skip }, () => {
  it('makes a valid value for every payload, body and parameter', async (context) => {
    let made = 0;
    for (const file of files) {
      for (const schema of await schemasIn(join(corpus, file))) {
        const result = sampleOf(schema);
        assert.ok(result.kind === 'sample', `${file} ${schema.place}: ${JSON.stringify(result)}`);
        assert.deepEqual(schema.check(result.value), []);
        made += 1;
      }
    }
    context.diagnostic(`${made} of ${made} schemas`);
    assert.ok(made >= corpusSchemasMin, String(made));
  });
});

async function schemasIn(file: string): Promise<Validator[]> {
  let contract: Contract;
  try {
    contract = await loadContract(file);
  } catch (error) {
    assert.ok(error instanceof ContractError);
    return [];
  }
  return contract.operations.flatMap(({ body, parameters, role }) => {
    const variants = role.kind === 'subscribe' ? role.variants : [];
    const payloads = variants.flatMap(({ callbacks }) => callbacks.map(({ payload }) => payload));
    const bodies = [...(body?.content.values() ?? [])];
    return [...bodies, ...payloads, ...parameters.map(({ schema }) => schema)].filter(
      (schema) => schema !== undefined,
    );
  });
}
