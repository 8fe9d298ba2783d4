import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { readChoice, readPatterns } from './read-controls.ts';

function faultsOf(input: Record<string, unknown>): string[] {
  const reading = readChoice(input, 'body#');
  return reading.kind === 'choice'
    ? []
    : reading.faults.map((one) => `${one.field} ${one.message}`);
}

/** The fault of one field. */
function fault(name: string, value: unknown): string | undefined {
  return faultsOf({ [name]: value })[0]?.replace(/^body#\//u, '');
}

describe('readChoice', () => {
  it('reads every control, under the names that the store uses', () => {
    const reading = readChoice(
      {
        description: 'd',
        metadata: { a: 'b' },
        filter: { '/a': 1 },
        retry: ['5s', '7d'],
        timeout: '100ms',
        concurrency: 128,
        rateLimit: 0.001,
        ordered: true,
        expiresAt: '2030-01-31T12:00:00.5+01:00',
        headers: { 'X-A': 'b' },
        customer: 'cus_1',
      },
      'body#',
    );
    assert.deepEqual(reading, {
      kind: 'choice',
      choice: {
        controls: {
          description: 'd',
          metadata: { a: 'b' },
          filter: { '/a': [1] },
          retryMs: [5_000, 604_800_000],
          timeoutMs: 100,
          concurrency: 128,
          ratePerSecond: 0.001,
          ordered: true,
          expiresMs: Date.UTC(2030, 0, 31, 11, 0, 0, 500),
          headerNames: ['X-A'],
        },
        headers: [['X-A', 'b']],
        customer: 'cus_1',
      },
    });
  });

  it('changes only named controls', () => {
    const reading = readChoice({}, 'body#');
    const choice = { controls: {}, headers: undefined, customer: undefined };
    assert.deepEqual(reading, { kind: 'choice', choice });
  });

  it('unsets a control that is null', () => {
    const names =
      'description metadata filter retry timeout concurrency rateLimit ordered expiresAt';
    const others = ['headers', 'customer'];
    const nulls = Object.fromEntries([...names.split(' '), ...others].map((name) => [name, null]));
    const reading = readChoice(nulls, 'body#');
    assert(reading.kind === 'choice');
    const { ordered, ...rest } = reading.choice.controls;
    assert.equal(ordered, false);
    assert.deepEqual(
      Object.values(rest),
      Array.from({ length: 9 }, () => undefined),
    );
    assert.deepEqual(reading.choice.headers, []);
    assert.equal(reading.choice.customer, null);
  });

  it('refuses a customer that is no text of 1 to 128 characters', () => {
    const expected = 'customer is not a customer, expected 1 to 128 characters without U+0000';
    for (const wrong of ['', 'x'.repeat(129), 'a\0'])
      assert.equal(fault('customer', wrong), expected);
    assert.equal(fault('customer', '✓'.repeat(128)), undefined);
    assert.equal(fault('customer', 7), 'customer is 7, expected a text');
  });

  it('reports every faulty field at once, with the found and the expected value', () => {
    assert.deepEqual(
      faultsOf({ description: 1, metadata: [], retry: 'x', timeout: '99ms', odd: 1, ordered: 1 }),
      [
        'body#/description is a number, expected a text of 1 to 512 characters',
        'body#/metadata is a list, expected an object of strings',
        'body#/retry is a text of 1, expected a list of at most 20 durations',
        'body#/timeout is "99ms", expected a duration from 100ms to 60s',
        'body#/odd is not allowed here',
        'body#/ordered is 1, expected a boolean',
      ],
    );
    assert.equal(
      fault('concurrency', 1.5),
      'concurrency is 1.5, expected an integer from 1 to 128',
    );
    for (const value of [0, 129, '4', -1, Number.NaN]) assert.ok(fault('concurrency', value));
    assert.equal(
      fault('rateLimit', 0),
      'rateLimit is 0, expected attempts per second, from 0.001 to 1000',
    );
    for (const value of [1000.1, -1, '10', Infinity]) assert.ok(fault('rateLimit', value));
    assert.equal(fault('headers', { Host: 'x' })?.startsWith('headers/Host is a header'), true);
    assert.equal(fault('filter', { a: 1 })?.startsWith('filter/a is not a JSON pointer'), true);
  });

  it('does not accept names of inherited properties', () => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty', '__proto__x']) {
      assert.equal(fault(name, 'x'), `${name} is not allowed here`);
    }
  });

  it('accepts a description without control characters, counted in characters', () => {
    assert.equal(fault('description', '\u{1f600}'.repeat(512)), undefined);
    assert.match(fault('description', 'x'.repeat(513)) ?? '', /has 513 characters/);
    assert.match(fault('description', '') ?? '', /has 0 characters/);
    for (const text of ['a\nb', 'a\0', '\x7f', '\u{85}', '\ud800']) {
      assert.match(fault('description', text) ?? '', /has control characters/);
    }
  });

  it('accepts a bounded number of bounded strings as metadata', () => {
    const many = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));
    assert.equal(fault('metadata', many(50)), undefined);
    assert.equal(fault('metadata', many(10_000)), 'metadata has 10000 keys, expected at most 50');
    assert.equal(fault('metadata', { ['k'.repeat(64)]: 'v'.repeat(512), e: '' }), undefined);
    assert.match(
      fault('metadata', { '': 'v' }) ?? '',
      /^metadata\/ is not a valid key, expected 1 to 64/,
    );
    assert.match(fault('metadata', { ['k'.repeat(65)]: 'v' }) ?? '', /is not a valid key/);
    assert.match(
      fault('metadata', { 'a/b': 1 }) ?? '',
      /^metadata\/a~1b is a number, expected a text/,
    );
    assert.match(
      fault('metadata', { a: 'v'.repeat(513) }) ?? '',
      /is a text of 513, expected a text/,
    );
  });

  it('accepts 16 KiB of metadata in total, in bytes of JSON', () => {
    const of = (count: number, char: string): object =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, char.repeat(500)]));
    assert.equal(fault('metadata', of(32, 'x')), undefined);
    assert.match(
      fault('metadata', of(33, 'x')) ?? '',
      /^metadata has 167\d\d bytes as JSON, expected at most 16384 in total$/,
    );
    assert.match(fault('metadata', of(12, '\u{1f600}')) ?? '', /has 24\d\d\d bytes as JSON/);
  });

  it('accepts waits of at most a week, and an empty list', () => {
    assert.equal(fault('retry', []), undefined);
    assert.equal(
      fault(
        'retry',
        Array.from({ length: 20 }, () => '0s'),
      ),
      undefined,
    );
    const expected = 'expected a duration such as 5s, 5m or 2h, at most 7d';
    for (const wait of [
      '8d',
      '604801s',
      '999999999d',
      '1000000000d',
      '5',
      '5 s',
      '-5s',
      '1e9d',
      5,
    ]) {
      assert.equal(fault('retry', ['5s', wait]), `retry/1 is ${JSON.stringify(wait)}, ${expected}`);
    }
    assert.match(
      fault(
        'retry',
        Array.from({ length: 21 }, () => '1s'),
      ) ?? '',
      /is a list of 21/,
    );
  });

  it('accepts a timeout from 100 ms to a minute', () => {
    for (const text of ['100ms', '60s', '1m']) assert.equal(fault('timeout', text), undefined);
    for (const text of ['99ms', '61s', '2m', '1h', '15', '', 15]) assert.ok(fault('timeout', text));
  });

  it('accepts RFC 3339 times, and none that a clock never shows', () => {
    const good = [
      '2030-01-31T12:00:00Z',
      '2030-01-31t12:00:00.123456789z',
      '2028-02-29T00:00:00-08:30',
    ];
    for (const text of good) assert.equal(fault('expiresAt', text), undefined, text);
    const odd = `2030-02-30T00:00:00Z 2030-01-31 2030-01-31T12:00Z 2030-01-31T12:00:00 20300131T120000Z
      2030-13-01T00:00:00Z 2030-01-01T24:00:00Z 2030-01-01T25:00:00Z 2030-01-01T23:59:60Z
      2030-01-01T00:00:00+24:00 +012030-01-01T00:00:00Z 1e9 tomorrow 2030-1-1T00:00:00Z
      2030-01-31T12:00:00+0100 2030-W05-4T00:00:00Z`;
    const spaced = [
      '2030-01-31 12:00:00Z',
      ' 2030-01-31T12:00:00Z',
      'Thu, 31 Jan 2030 12:00:00 GMT',
    ];
    for (const text of [...odd.split(/\s+/), ...spaced, 1_900_000_000_000, '']) {
      const expected = 'expected a timestamp such as 2030-01-31T12:00:00Z';
      assert.equal(fault('expiresAt', text), `expiresAt is ${JSON.stringify(text)}, ${expected}`);
    }
  });

  it('shows only a short part of a refused value', () => {
    assert.ok((fault('timeout', 'x'.repeat(100_000)) ?? '').length < 120);
  });

  it('accepts any JSON and never throws', () => {
    const names = fc.constantFrom(
      'description',
      'metadata',
      'retry',
      'timeout',
      'expiresAt',
      'headers',
    );
    fc.assert(fc.property(fc.dictionary(names, fc.jsonValue()), (input) => void faultsOf(input)));
  });
});

describe('readPatterns', () => {
  const faults = (value: unknown): string[] => {
    const reading = readPatterns(value, 'e');
    return reading.kind === 'patterns' ? [] : reading.faults.map((o) => `${o.field} ${o.message}`);
  };

  it('keeps each pattern once', () => {
    const reading = readPatterns(['a.*', 'b', 'a.*', '*', 'ringback.delivery.dead'], 'e');
    const patterns = ['a.*', 'b', '*', 'ringback.delivery.dead'];
    assert.deepEqual(reading, { kind: 'patterns', patterns });
  });

  it('refuses anything but a list of patterns', () => {
    assert.deepEqual(faults([]), ['e is a list of 0, expected a list of 1 to 20 event patterns']);
    assert.equal(faults(Array.from({ length: 21 }, () => 'a')).length, 1);
    assert.equal(faults('a').length, 1);
    const expected = 'expected an event name, a prefix ending in .* or *, at most 256 characters';
    assert.deepEqual(faults(['a b', '', '*.a', 1]), [
      `e/1 is "", ${expected}`,
      `e/3 is 1, ${expected}`,
    ]);
  });
});
