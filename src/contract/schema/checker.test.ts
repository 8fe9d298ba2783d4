// Compares the verdicts of the checker with those of ajv, for random schemas and values; and counts what a check reads.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { fc } from '../../../test/fast-check.ts';
import type { Bundle, Schema } from './bundle.ts';
import { makeCheck } from './checker.ts';
import { cutLoops } from './cut-self-references.ts';

const names = ['a', 'b', 'ab'];
const formats = ['date', 'time', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6'];
const moreFormats = ['uuid', 'json-pointer', 'regex', 'byte', 'int32', 'int64', 'unknown'] as const;
const formatted = fc.constantFrom(
  '2026-02-29',
  '2028-02-29',
  '10:00:00Z',
  '2026-01-01T10:00:00Z',
  'P1D',
  'a@b.cd',
  'a@b@c',
  '127.0.0.1',
  '127.0.0.256',
  '::1',
  '00000000-0000-4000-8000-000000000000',
  '/a/b',
  '/~',
  '(',
  'YWI=',
);

const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'value' },
    fc.constantFrom(null, true, 0, 1, 2, 3, 1.5, -1, '', 'a', 'ab', '😀', 'b'.repeat(4)),
    formatted,
    fc.constantFrom(2 ** 31, 2 ** 63),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names, 'c'), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).value;

const small = fc.integer({ min: 0, max: 3 });
const type = fc.constantFrom('null', 'boolean', 'integer', 'number', 'string', 'array', 'object');
const someNames = fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 });

/** Each keyword with values that it accepts. */
const schema = fc.letrec<{ schema: Schema; list: Schema[]; map: Record<string, Schema> }>((tie) => {
  const own = (keys: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Schema> =>
    fc
      .subarray(Object.keys(keys), { maxLength: Math.min(4, Object.keys(keys).length) })
      .chain((chosen) =>
        fc.record(Object.fromEntries(chosen.map((key) => [key, keys[key] ?? fc.constant(true)]))),
      );
  return {
    list: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
    map: fc.dictionary(fc.constantFrom(...names), tie('schema'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
    schema: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'schema' },
      fc.boolean(),
      fc.constantFrom<Schema>({ $ref: '#/$defs/s0' }, { $ref: '#/$defs/s1' }),
      own({
        type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
        minimum: small,
        maximum: small,
        exclusiveMinimum: small,
        exclusiveMaximum: small,
        multipleOf: fc.constantFrom(1, 2, 0.5),
        minLength: small,
        maxLength: small,
        pattern: fc.constantFrom('^a', 'b$', 'ab'),
        format: fc.constantFrom(...formats, ...moreFormats),
        minItems: small,
        maxItems: small,
        uniqueItems: fc.boolean(),
        minProperties: small,
        maxProperties: small,
        required: someNames,
        dependentRequired: fc.dictionary(fc.constantFrom(...names), someNames, {
          maxKeys: 2,
          noNullPrototype: true,
        }),
        enum: fc.array(value, { minLength: 1, maxLength: 3 }),
        const: value,
      }),
      own({
        allOf: tie('list'),
        anyOf: tie('list'),
        oneOf: tie('list'),
        not: tie('schema'),
        if: tie('schema'),
        // oxlint-disable-next-line unicorn/no-thenable -- The keyword is called so.
        then: tie('schema'),
        else: tie('schema'),
        dependentSchemas: tie('map'),
      }),
      own({
        prefixItems: tie('list'),
        items: tie('schema'),
        properties: tie('map'),
        patternProperties: tie('map'),
        additionalProperties: tie('schema'),
        propertyNames: tie('schema'),
        unevaluatedItems: tie('schema'),
        unevaluatedProperties: tie('schema'),
      }),
      // With prefixItems or unevaluatedItems beside it, ajv gives verdicts that official-suite.test.ts refutes.
      own({ contains: tie('schema'), minContains: small, maxContains: small }),
      // Siblings of a reference apply.
      own({
        $ref: fc.constantFrom('#/$defs/s0', '#/$defs/s1'),
        type,
        properties: tie('map'),
        unevaluatedProperties: tie('schema'),
      }),
    ),
  };
}).schema;

/** `npm run soak` compares more. */
const sequences = Number(process.env['RINGBACK_SEQUENCES'] ?? 100);

describe('makeCheck', () => {
  it('accepts what ajv accepts', () => {
    let [compared, fitting] = [0, 0];
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 1, maxLength: 8 }), (s1, values) => {
        const s0: Schema = { properties: { a: { $ref: '#/$defs/s1' } }, required: ['b'] };
        const $defs: Record<string, Schema> = structuredClone({ s0, s1 });
        cutLoops(new Map(Object.entries($defs)));
        const bundle: Bundle = { $ref: '#/$defs/s1', $defs };
        const ajv = verdicts(bundle, values);
        if (ajv === undefined) return;
        const check = makeCheck(bundle);
        for (const [at, one] of values.entries()) {
          compared += 1;
          const faults = check(one);
          if (faults.length === 0) fitting += 1;
          assert.equal(faults.length === 0, ajv[at], JSON.stringify({ one, faults }));
        }
      }),
      { numRuns: sequences },
    );
    assert.ok(fitting > compared / 10 && fitting < (compared * 9) / 10, `${fitting}/${compared}`);
  });
});

/** Undefined where ajv cannot compile the schema or crashes: it does for some with unevaluated parts or circles. */
function verdicts(bundle: Bundle, values: readonly unknown[]): boolean[] | undefined {
  try {
    const ajv = new Ajv2020({ strict: false, logger: false, ownProperties: true });
    addFormats.default(ajv);
    const validate = ajv.compile(bundle);
    return values.map((one) => validate(one));
  } catch {
    return undefined;
  }
}

describe('makeCheck: a large schema', () => {
  it('is read only where the value reaches it, once, and the check pays for it', () => {
    let reads = 0;
    const parts = Array.from({ length: 500 }, (_none, at) => [
      `s${at}`,
      {
        get properties() {
          reads += 1;
          return { a: { $ref: `#/$defs/s${(at + 1) % 500}` }, b: { type: 'string' } };
        },
      },
    ]);
    const check = makeCheck({ $ref: '#/$defs/s0', $defs: Object.fromEntries(parts) });
    const steps = (): number => {
      const work = { left: 100_000 };
      assert.deepEqual(check({ a: { a: { b: 'x' } } }, work), []);
      return 100_000 - work.left;
    };
    const first = steps();
    const readsOfFirst = reads;
    assert.ok(reads <= 3 * 3, `${reads} reads`);
    const second = steps();
    assert.equal(reads, readsOfFirst);
    assert.ok(first > second && first < 5_000, `${first} and ${second} steps`);
  });
});
