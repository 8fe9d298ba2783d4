import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bounds } from '../document/bounds.ts';
import type { Bundle, Schema } from './bundle.ts';
import { makeCheck } from './checker.ts';
import { costOf } from './evaluation.ts';
import { createStepBudget } from './step-budget.ts';

/** The first schema is the root; the others are `#/$defs/s1` and so on. */
function bundleOf(...schemas: Schema[]): Bundle {
  return {
    $ref: '#/$defs/s0',
    $defs: Object.fromEntries(schemas.map((schema, at) => [`s${at}`, schema])),
  };
}

/** The faults, and how many steps the check took. */
function work(bundle: Bundle, value: unknown): { messages: string[]; steps: number } {
  const budget = createStepBudget();
  let steps = 0;
  const spend = (some: number): void => {
    steps += some;
    budget.spend(some);
  };
  const faults = makeCheck(bundle, { ...budget, spend })(value);
  return { messages: faults.map(({ field, message }) => `${field} ${message}`), steps };
}

const item = {
  type: 'object',
  required: ['a'],
  properties: Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e'].map((name) => [name, { type: 'string', minLength: 1 }]),
  ),
};
const ref = { $ref: '#/$defs/s1' };

/** Steps of listing 19,000 more names, once for the verdict and once for the faults. */
const listing = 2 * 19_000 * costOf.nameOfMany;

/** Objects that count how often they are read. */
function counted(length: number, a: unknown): { items: object[]; looks: () => number } {
  let looks = 0;
  const items = Array.from({ length }, () => ({
    get a() {
      looks += 1;
      return a;
    },
  }));
  return { items, looks: () => looks };
}

describe('makeCheck: many faults', () => {
  it('does not check the items of a list that is too long', () => {
    const bundle = bundleOf({ type: 'array', maxItems: 1_000, items: ref }, item);
    for (const a of [1, 'fits']) {
      const { items, looks } = counted(20_000, a);
      const { messages } = work(bundle, items);
      assert.deepEqual(messages, [' must have at most 1000 items, has 20000']);
      assert.equal(looks(), 0);
    }
  });

  it('stops at the error limit, however many items follow', () => {
    const schemas = [
      { items: ref },
      { additionalProperties: ref },
      { patternProperties: { '^k': ref } },
      { propertyNames: { pattern: '^x' } },
    ];
    for (const schema of schemas) {
      const some = work(bundleOf(schema, item), valueFor(schema, 1_000));
      const many = work(bundleOf(schema, item), valueFor(schema, 20_000));
      assert.equal(many.messages.length, bounds.faultsMax);
      assert.deepEqual(many.messages, some.messages);
      assert.equal(many.steps - some.steps, 'items' in schema ? 0 : listing);
    }
  });

  it('reads only the items that it reports', () => {
    const { items, looks } = counted(20_000, 1);
    const { messages } = work(bundleOf({ type: 'array', items: ref }, item), items);
    assert.equal(messages.length, bounds.faultsMax);
    assert.ok(looks() < 10 * bounds.errorsMax, `${looks()} looks`);
  });

  it('finds a fault after many valid items', () => {
    const items = [...Array.from({ length: 5_000 }, () => ({ a: 'fits' })), { a: 1 }, {}];
    const { messages } = work(bundleOf({ type: 'array', items: ref }, item), items);
    assert.deepEqual(messages, ['/5000/a must be a string, is a number', '/5001/a is required']);
  });

  it('names the first unexpected members, and counts no others', () => {
    for (const keyword of ['additionalProperties', 'unevaluatedProperties']) {
      const bundle = bundleOf({ type: 'object', properties: { a: {} }, [keyword]: false });
      const some = work(bundle, members(1_000));
      assert.equal(some.messages[0], '/k0 is not allowed here');
      const many = work(bundle, members(20_000));
      assert.deepEqual(many.messages, some.messages);
      assert.equal(many.steps - some.steps, listing);
    }
  });

  it('does not search an object with too many members, nor a string that is too long', () => {
    const object = { type: 'object', maxProperties: 20, additionalProperties: ref };
    assert.deepEqual(work(bundleOf(object, item), members(5_000)).messages, [
      ' must have at most 20 properties, has 5000',
    ]);
    const text = { type: 'string', maxLength: 10, pattern: '^b+$', format: 'date-time' };
    const { messages, steps } = work(bundleOf(text), 'a'.repeat(100_000));
    assert.deepEqual(messages, [' must have at most 10 characters, has more than 1000']);
    assert.ok(steps < 5_000, `${steps} steps`);
  });

  it('is not affected by what it skipped under not and if', () => {
    const list = { type: 'array', maxItems: 5, items: { type: 'string' } };
    assert.deepEqual(work(bundleOf({ not: list }), Array(500).fill(1)).messages, []);
    // oxlint-disable-next-line unicorn/no-thenable -- The keyword is called so.
    const conditional = { if: { items: { type: 'string' } }, then: false, else: { maxItems: 5 } };
    assert.deepEqual(work(bundleOf(conditional), Array(500).fill(1)).messages, [
      ' must have at most 5 items, has 500',
    ]);
  });

  it('checks a number whatever the maximum length of a string', () => {
    const { messages } = work(bundleOf({ maxLength: 5, format: 'int32' }), 2 ** 40);
    assert.deepEqual(messages, [' must have the format "int32", is 1099511627776']);
  });

  it('picks the intended branch, whichever has more errors than the limit', () => {
    const numbers = { type: 'array', items: { type: 'number' } };
    const objects = { type: 'array', items: { $ref: '#/$defs/s3' } };
    const branches = { anyOf: [ref, { $ref: '#/$defs/s2' }] };
    const bundle = bundleOf({ properties: { x: branches } }, numbers, objects, item);
    const x = [...Array.from({ length: 5_000 }, () => ({ a: 'fits' })), { a: 1 }];
    const { messages } = work(bundle, { x });
    assert.deepEqual(messages, ['/x/5000/a must be a string, is a number']);
  });
});

describe('contains', () => {
  it('reports that a list lacks an item, not the faults of each other item', () => {
    const bundle = bundleOf({ type: 'array', contains: ref }, item);
    for (const length of [3, 5_000]) {
      assert.deepEqual(work(bundle, listOf(length, {})).messages, [
        ' contains too few or too many of the items that it must contain',
      ]);
    }
    assert.deepEqual(work(bundle, [{}, { a: 'fits' }]).messages, []);
  });
});

describe('enum', () => {
  it('does not serialise lists or objects to compare them with scalar enum values', () => {
    const { messages, steps } = work(bundleOf({ enum: ['a', 1, null] }), listOf(20_000, []));
    assert.deepEqual(messages, [' must be one of "a", 1, null, is a list']);
    assert.ok(steps < 2_000, `${steps} steps`);
  });
});

function valueFor(schema: object, length: number): unknown {
  return 'items' in schema ? listOf(length, { a: 1 }) : members(length);
}

function listOf(length: number, value: unknown): unknown[] {
  return Array.from({ length }, () => value);
}

function members(length: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length }, (_, at) => [`k${at}`, 1]));
}

describe('makeCheck: the depth limit', () => {
  const chain = (length: number): Bundle => {
    const next = (at: number): Schema => ({
      anyOf: [{ $ref: `#/$defs/s${at + 1}` }],
      unevaluatedProperties: true,
    });
    return bundleOf(...Array.from({ length }, (_none, at) => next(at)), { type: 'string' });
  };

  it('is reported before the stack overflows', () => {
    const tooDeep = /more than \d+ schemas apply to one another at one place/;
    assert.throws(() => work(chain(990), 5), tooDeep);
    const half = chain(bounds.checkDepthMax / 2 - 10);
    assert.deepEqual(work(half, 'fits').messages, []);
    assert.equal(work(half, 5).messages.length, 1);
  });

  it('is counted for each value', () => {
    const check = makeCheck(chain(990));
    assert.throws(() => check(5));
    const other = makeCheck(bundleOf({ items: { type: 'string' } }));
    assert.deepEqual(other(['a']), []);
  });
});

describe('makeCheck: the step limit', () => {
  it('ends a check of branches that share what they refer to', () => {
    const depth = 20;
    const next = (at: number): Schema => ({ $ref: `#/$defs/s${at}` });
    const branching = Array.from({ length: depth }, (_none, at) => ({
      oneOf: [next(at + 1), { allOf: [next(at + 1), { not: next(at + 1) }] }],
    }));
    const last = { type: 'string', not: { minLength: 0 } };
    assert.throws(() => work(bundleOf(...branching, last), 'x'), /it takes more than \d+ steps/);
  });
});
