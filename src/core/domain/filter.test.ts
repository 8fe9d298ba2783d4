import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import {
  fits as fitsRules,
  payloadMatcher,
  readFilter,
  rulesOf,
  type Filter,
  type FilterValue,
} from './filter.ts';
import { limits } from '../limits/limits.ts';

const { filterPointersMax, filterValuesMax, filterPointerCharsMax, filterCharsMax } = limits;

describe('readFilter', () => {
  it('turns every rule into a list without duplicates', () => {
    assert.deepEqual(read({ '/a': 1, '/b': ['x', null, 'x'], '': true }), {
      '/a': [1],
      '/b': ['x', null],
      '': [true],
    });
  });

  it('treats a filter without rules as no filter', () => {
    assert.equal(read({}), undefined);
  });

  it('accepts its own output', () => {
    fc.assert(
      fc.property(fc.dictionary(pointer, values), (filter) => {
        const once = read(filter);
        assert.deepEqual(once === undefined ? undefined : read(once), once);
      }),
    );
  });

  it('reports the whole filter when it is not an object, or too large', () => {
    for (const value of [null, undefined, 1, 'x', [], ['/a']]) {
      assert.match(faults(value)['body#/filter'] ?? '', /^is .*, expected an object/);
    }
    const many = Array.from({ length: filterPointersMax + 1 }, (_, i) => [`/${i}`, i]);
    assert.deepEqual(faults(Object.fromEntries(many)), {
      'body#/filter': 'has 21 pointers, expected at most 20',
    });
    assert.notEqual(read(Object.fromEntries(many.slice(1))), undefined);
    const long = 'x'.repeat(filterCharsMax - '{"/a":[""]}'.length);
    assert.notEqual(read({ '/a': long }), undefined);
    assert.deepEqual(faults({ '/a': `${long}x` }), {
      'body#/filter': 'has 4097 characters, expected at most 4096',
    });
  });

  it('reports each invalid rule by its pointer', () => {
    const list = Array.from({ length: filterValuesMax + 1 }, (_, i) => i);
    const long = `/${'x'.repeat(filterPointerCharsMax)}`;
    const value = {
      '/fine': 1,
      a: 1,
      '#/a': 1,
      '/~': 1,
      '/~2': 1,
      '/a/b': {},
      '/in/list': [1, [2]],
      '/undefined': [undefined],
      '/none': [],
      '/~0': list,
      [long]: 1,
      '/large': 2 ** 53,
      '/larger': [1, -(2 ** 53)],
      '/largest': Infinity,
    };
    const found = faults(value);
    assert.deepEqual(Object.keys(found), [
      'body#/filter/a',
      'body#/filter/#~1a',
      'body#/filter/~1~0',
      'body#/filter/~1~02',
      'body#/filter/~1a~1b',
      'body#/filter/~1in~1list',
      'body#/filter/~1undefined',
      'body#/filter/~1none',
      'body#/filter/~1~00',
      `body#/filter/~1${long.slice(1)}`,
      'body#/filter/~1large',
      'body#/filter/~1larger',
      'body#/filter/~1largest',
    ]);
    assert.match(found['body#/filter/a'] ?? '', /^is not a JSON pointer, expected/);
    assert.match(found['body#/filter/~1a~1b'] ?? '', /^is an object, expected a string/);
    assert.match(found['body#/filter/~1in~1list'] ?? '', /^is a list, expected a string/);
    assert.equal(found['body#/filter/~1none'], 'has 0 values, expected 1 to 100');
    assert.equal(found['body#/filter/~1~00'], 'has 101 values, expected 1 to 100');
    assert.match(found['body#/filter/~1large'] ?? '', /^is a number beyond 9007199254740991/);
    assert.notEqual(read({ [long.slice(0, -1)]: [2 ** 53 - 1, ...list.slice(2)] }), undefined);
  });

  it('accepts any JSON, and never throws', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (value) => {
        assert.notEqual(tryRead(value), undefined);
      }),
    );
  });
});

describe('fits', () => {
  it('requires every rule, and of each rule one value', () => {
    const filter = { '/type': ['paid', 'refunded'], '/amount': [10] };
    assert.equal(fits(filter, { type: 'paid', amount: 10 }), true);
    assert.equal(fits(filter, { type: 'refunded', amount: 10, more: 1 }), true);
    assert.equal(fits(filter, { type: 'paid', amount: 11 }), false);
    assert.equal(fits(filter, { type: 'open', amount: 10 }), false);
  });

  it('matches nothing where the payload has no value, and null only where it has null', () => {
    for (const payload of [{}, [], 'a', 1, null, { b: null }, { a: {} }, { a: [null] }]) {
      assert.equal(fits({ '/a': [null] }, payload), false, JSON.stringify(payload));
    }
    assert.equal(fits({ '/a': [null] }, { a: null }), true);
    assert.equal(fits({ '': [null] }, null), true);
  });

  it('compares values of the same type only', () => {
    const payload = { one: 1, text: '1', yes: true, no: false, zero: 0, empty: '' };
    const filter = (at: string, value: FilterValue) => ({ [`/${at}`]: [value] });
    assert.equal(fits(filter('one', '1'), payload), false);
    assert.equal(fits(filter('text', 1), payload), false);
    assert.equal(fits(filter('yes', 1), payload), false);
    assert.equal(fits(filter('no', 0), payload), false);
    assert.equal(fits(filter('zero', ''), payload), false);
    assert.equal(fits(filter('empty', null), payload), false);
  });

  it('compares the values that the JSON means, not their spelling', () => {
    const payload: unknown = JSON.parse('{"a":1.0,"b":1e2,"c":"\\u0061","d":-0}');
    assert.equal(fits({ '/a': [1], '/b': [100], '/c': ['a'], '/d': [0] }, payload), true);
  });

  it('never mistakes one integer for another', () => {
    const filter = { '/id': [Number.MAX_SAFE_INTEGER] };
    const id = (digits: string): unknown => JSON.parse(`{"id":${digits}}`);
    assert.equal(fits(filter, id('9007199254740991')), true);
    for (const digits of ['9007199254740992', '9007199254740993', '90071992547409910']) {
      assert.equal(fits(filter, id(digits)), false, digits);
    }
  });

  it('reaches into lists by index, and sees own properties only', () => {
    const payload: unknown = JSON.parse('{"list":[{"a":1},"x"],"__proto__":{"b":2},"0":3}');
    assert.equal(fits({ '/list/0/a': [1], '/list/1': ['x'] }, payload), true);
    assert.equal(fits({ '/__proto__/b': [2], '/0': [3] }, payload), true);
    for (const pointer of ['/list/00/a', '/list/-', '/list/length', '/list/2', '/list/+1']) {
      assert.equal(fits({ [pointer]: [1, 2, 'x'] }, payload), false, pointer);
    }
    assert.equal(fits({ '/constructor/name': ['Object'] }, payload), false);
    assert.equal(fits({ '/list/1/length': [1], '/list/1/0': ['x'] }, payload), false);
  });

  it('agrees with a model that lists every scalar of the payload by pointer', () => {
    let fitting = 0;
    const check = (payload: unknown, picks: readonly Pick[]): void => {
      const leaves = leavesOf(payload, '');
      const filter: Record<string, FilterValue[]> = {};
      for (const { at, others, isOther, isElsewhere } of picks) {
        const [place, value] = [...leaves][at % Math.max(leaves.size, 1)] ?? ['/none', null];
        filter[isElsewhere ? `${place}/a` : place] = isOther ? others : [...others, value];
      }
      const expected = Object.entries(filter).every(
        ([place, wanted]) => leaves.has(place) && wanted.includes(leaves.get(place) ?? null),
      );
      if (expected) fitting += 1;
      assert.equal(fits(filter, payload), expected, JSON.stringify({ filter, payload }));
    };
    const runs = 2_000;
    fc.assert(fc.property(fc.jsonValue(), fc.array(pick, { maxLength: 4 }), check), {
      numRuns: runs,
    });
    assert(fitting > runs / 10 && fitting < runs, `${fitting} of ${runs} fit`);
  });

  it('accepts any valid filter and any payload, and never throws', () => {
    fc.assert(
      fc.property(fc.dictionary(pointer, values), fc.jsonValue(), (value, payload) => {
        const filter = read(value);
        if (filter !== undefined) assert.equal(typeof fits(filter, payload), 'boolean');
      }),
    );
  });
});

describe('payloadMatcher', () => {
  it('applies any number of filters to one payload', () => {
    const matches = payloadMatcher(Buffer.from('{"a":"ü","a":"ö"}'));
    assert.equal(matches(rulesOf({ '/a': ['ö'] })), true);
    assert.equal(matches(rulesOf({ '/a': ['ü'] })), false); // The last value of a repeated key counts.
    assert.equal(matches(rulesOf({ '/a': ['ö'] })), true);
  });

  it('matches nothing when the payload is not JSON', () => {
    for (const bytes of [Buffer.from('{"a":'), Buffer.from([0x22, 0xff, 0x22]), Buffer.of()]) {
      const matches = payloadMatcher(bytes);
      assert.equal(matches(rulesOf({ '': [null, '', 'a'] })), false);
      assert.equal(matches(rulesOf({ '/a': [null] })), false);
    }
  });
});

const token = fc.oneof(fc.constantFrom('a', '0', '', '~0', '~1', '~01', '-', 'é'), fc.nat(9));
const pointer = fc.array(token, { maxLength: 3 }).map((all) => all.map((t) => `/${t}`).join(''));
const scalar = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
const exact = scalar.filter((each) => typeof each !== 'number' || Math.abs(each) < 2 ** 53);
const values = fc.oneof(exact, fc.array(exact, { minLength: 1, maxLength: 3 }));

const pick = fc.record({
  at: fc.nat(20),
  others: fc.array(scalar, { minLength: 1, maxLength: 2 }),
  isOther: fc.constantFrom(false, false, false, true),
  isElsewhere: fc.constantFrom(false, false, false, false, true),
});
type Pick = typeof pick extends fc.Arbitrary<infer T> ? T : never;

/** The model: every scalar with its pointer, written out literally as RFC 6901 defines it. */
function leavesOf(value: unknown, at: string): Map<string, FilterValue> {
  if (Array.isArray(value)) {
    return new Map(value.flatMap((each: unknown, i) => [...leavesOf(each, `${at}/${i}`)]));
  }
  if (typeof value === 'object' && value !== null) {
    const escape = (key: string) => key.split('~').join('~0').split('/').join('~1');
    return new Map(
      Object.entries(value).flatMap(([key, each]) => [...leavesOf(each, `${at}/${escape(key)}`)]),
    );
  }
  const isScalar =
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean';
  assert(isScalar);
  return new Map([[at, value]]);
}

function fits(filter: Filter, payload: unknown): boolean {
  return fitsRules(rulesOf(filter), payload);
}

function tryRead(value: unknown) {
  return readFilter(value, 'body#/filter');
}

function read(value: unknown): Filter | undefined {
  const reading = tryRead(value);
  assert(reading.kind === 'filter', JSON.stringify(reading));
  return reading.filter;
}

function faults(value: unknown): Record<string, string> {
  const reading = tryRead(value);
  assert(reading.kind === 'faulty');
  return Object.fromEntries(reading.faults.map(({ field, message }) => [field, message]));
}
