import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAllowTargets, portRule } from './allow-list.ts';

function ranges(text: string): string[] {
  const read = parseAllowTargets(text);
  assert(read.kind === 'allow', text);
  return read.allow.map((cidr) => `${cidr.family}:${cidr.value.toString(16)}/${cidr.prefixBits}`);
}

describe('parseAllowTargets', () => {
  it('reads none, loopback, ranges and a mix of them', () => {
    assert.deepEqual(ranges('none'), []);
    assert.deepEqual(ranges('loopback'), ['4:7f000000/8', '6:1/128']);
    assert.deepEqual(ranges('10.0.0.0/8'), ['4:a000000/8']);
    assert.deepEqual(ranges(' 10.0.0.5 , fd00::/8'), [
      '4:a000005/32',
      '6:fd'.padEnd(34, '0') + '/8',
    ]);
    assert.deepEqual(ranges('loopback,10.0.0.0/8').length, 3);
  });

  const mistakes: [string, RegExp][] = [
    ['10.0.0.0/40', /^entry "10\.0\.0\.0\/40": prefix is 40, /],
    ['loopback,10.0.0.1/8', /"10\.0\.0\.1\/8": it has bits set after the first 8, expected none$/],
    ['', /"": an entry is empty, expected none, loopback or ranges$/],
    ['loopback,', /an entry is empty/],
    ['none,loopback', /"none" is combined with other entries, expected it alone$/],
    ['example.com', /"example\.com": it is not an address range/],
    ['::ffff:10.0.0.0/104', /never allowed/],
    ['224.0.0.0/4', /never allowed/],
    [
      Array.from({ length: 300 }, () => '10.0.0.0/8').join(','),
      /300 entries, expected at most 256$/,
    ],
  ];
  for (const [text, message] of mistakes) {
    it(`refuses "${text.slice(0, 40)}" and explains why`, () => {
      const read = parseAllowTargets(text);
      assert(read.kind === 'invalid');
      assert.match(read.message, message);
    });
  }
});

describe('portRule', () => {
  it('allows the web ports and high ports, except those of well-known services', () => {
    for (const port of [80, 443, 1024, 3000, 8080, 8443, 65_535]) {
      assert.equal(portRule(port), 'open', String(port));
    }
    for (const port of [81, 1023, 3306, 5432, 6379, 9200, 11_211, 27_017]) {
      assert.equal(portRule(port), 'listed_only', String(port));
    }
    for (const port of [0, 22, 25, 2049, 6000, 6667, 10_080, 65_536]) {
      assert.equal(portRule(port), 'closed', String(port));
    }
  });
});
