import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import type { AddressClass, Cidr } from './address.ts';
import { classify, isOpenable, checkAddress, parseAddress, parseCidr, unmap } from './address.ts';

const runs = 60_000;

function addressOf(text: string): { family: 4 | 6; value: bigint } {
  const address = parseAddress(text);
  assert(address !== undefined, `${text} is an address`);
  return address;
}

function cidrs(...texts: string[]): { allow: Cidr[] } {
  return {
    allow: texts.map((text) => {
      const read = parseCidr(text);
      assert(read.kind === 'cidr', text);
      return read.cidr;
    }),
  };
}

const none = cidrs();

function verdict(text: string, policy = none): string {
  const found = checkAddress(addressOf(text), policy);
  return found.kind === 'forbidden' ? found.class : found.kind;
}

describe('checkAddress', () => {
  const rows: [AddressClass | 'public', ...string[]][] = [
    ['unspecified', '0.0.0.0', '0.0.0.1', '0.255.255.255', '::'],
    ['loopback', '127.0.0.0', '127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1'],
    ['private', '10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0'],
    ['private', '192.168.255.255', 'fc00::', 'fdff::1', 'fec0::1', 'feff::1'],
    ['shared', '100.64.0.0', '100.127.255.255'],
    ['link_local', '169.254.0.0', '169.254.255.255', 'fe80::1', 'febf::1'],
    ['metadata', '169.254.169.254', '169.254.170.2', '168.63.129.16', '100.100.100.200'],
    ['metadata', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'],
    ['multicast', '224.0.0.0', '224.0.0.1', '239.255.255.255', 'ff00::', 'ff02::1'],
    ['broadcast', '255.255.255.255'],
    ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1'],
    ['benchmark', '198.18.0.0', '198.19.255.255', '2001:2::1'],
    ['reserved', '192.0.0.0', '192.0.0.255', '192.31.196.1', '192.52.193.1', '192.175.48.1'],
    ['reserved', '240.0.0.0', '255.255.255.254', '100::1', '100:0:0:1::', '5f00::1', '4000::'],
    ['reserved', '2001:1::1', '2001:10::1', '2001:20::1', '2001:1ff:ffff::', '2620:4f:8000::1'],
    ['reserved', '1fff:ffff::', '3ffe::1', 'fe00::1'],
    ['transition', '192.88.99.1', '::ffff:8.8.8.8', '::ffff:127.0.0.1', '::ffff:7f00:1'],
    ['transition', '::ffff:0:127.0.0.1', '::127.0.0.1', '::7f00:1', '::2'],
    ['transition', '64:ff9b::8.8.8.8', '64:ff9b::10.0.0.1', '64:ff9b:1::1'],
    ['transition', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2002:7f00:1::1'],
    ['transition', 'fe80::5efe:10.0.0.1', '2606:4700::5efe:a00:1', '2606:4700::200:5efe:a00:1'],
    ['public', '1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '93.184.215.14'],
    ['public', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0', '223.255.255.255'],
    ['public', '2606:4700::1111', '2001:200::1', '2001:db9::1', '2003::1', '3fff:1000::1'],
  ];
  for (const [expected, ...texts] of rows) {
    it(`returns ${expected} for ${texts.join(', ')}`, () => {
      for (const text of texts) assert.equal(verdict(text), expected, text);
    });
  }

  it('allows what the allow list names, and only that', () => {
    const policy = cidrs('10.1.0.0/16', 'fd00:1::/32');
    assert.equal(verdict('10.1.255.255', policy), 'listed');
    assert.equal(verdict('10.2.0.0', policy), 'private');
    assert.equal(verdict('fd00:1::9', policy), 'listed');
    assert.equal(verdict('fd00:2::9', policy), 'private');
    assert.equal(verdict('1.1.1.1', policy), 'public');
    assert.equal(verdict('1.1.1.1', cidrs('1.1.1.1')), 'listed');
  });

  it('allows a metadata address only when it is listed as a single address', () => {
    assert.equal(verdict('169.254.169.254', cidrs('169.254.0.0/16')), 'metadata');
    assert.equal(verdict('169.254.1.1', cidrs('169.254.0.0/16')), 'listed');
    assert.equal(verdict('169.254.169.254', cidrs('0.0.0.0/0')), 'metadata');
    assert.equal(verdict('168.63.129.16', cidrs('168.63.129.16')), 'listed');
  });

  it('never allows unspecified, multicast and broadcast addresses', () => {
    const everything = cidrs('0.0.0.0/0', '::/0');
    const texts = ['0.0.0.0', '::', '224.0.0.1', 'ff02::1', '255.255.255.255'];
    for (const text of texts) assert.notEqual(verdict(text, everything), 'listed', text);
  });

  it('treats a mapped address as its IPv4 address only where that is listed', () => {
    const policy = cidrs('127.0.0.0/8');
    assert.equal(verdict('::ffff:127.0.0.1', policy), 'listed');
    assert.equal(verdict('::ffff:10.0.0.1', policy), 'transition');
    assert.equal(verdict('::ffff:8.8.8.8', policy), 'transition');
    assert.equal(verdict('::ffff:127.0.0.1', cidrs('::/0')), 'transition');
    assert.equal(verdict('::ffff:127.0.0.1', cidrs('::1/128')), 'transition');
  });

  it('never allows a tunnelled address, even if everything is listed', () => {
    const everything = cidrs('0.0.0.0/0', '::/0');
    const texts = ['::127.0.0.1', '2002:a00:1::', '2001::1', 'fd00::5efe:a00:1', '64:ff9b::a00:1'];
    for (const text of texts) assert.equal(verdict(text, everything), 'transition', text);
  });

  it('checks a NAT64 address of a listed prefix by the embedded IPv4 address', () => {
    const wellKnown = cidrs('64:ff9b::/96');
    assert.equal(verdict('64:ff9b::8.8.8.8', wellKnown), 'public');
    assert.equal(verdict('64:ff9b::10.0.0.1', wellKnown), 'private');
    assert.equal(verdict('64:ff9b::169.254.169.254', wellKnown), 'metadata');
    assert.equal(verdict('64:ff9b::10.0.0.1', cidrs('64:ff9b::/96', '10.0.0.0/8')), 'listed');
  });

  it('finds the IPv4 address where RFC 6052 puts it, not the decoy in the last bits', () => {
    // 10.0.0.1 behind each prefix, then 8.8.8.8 as a decoy where there is room for one.
    assert.equal(verdict('64:ff9b:1:a00:0:100:808:808', cidrs('64:ff9b:1::/48')), 'private');
    assert.equal(verdict('64:ff9b:1:a:0:1:808:808', cidrs('64:ff9b:1::/56')), 'private');
    assert.equal(verdict('64:ff9b:1:0:a:0:108:808', cidrs('64:ff9b:1::/64')), 'private');
    assert.equal(verdict('64:ff9b:1:808:8:800::', cidrs('64:ff9b:1::/48')), 'public');
    assert.equal(verdict('64:ff9b:1:808:108:800::', cidrs('64:ff9b:1::/48')), 'transition');
    const both = cidrs('64:ff9b:1:a00:0:100::/96', '64:ff9b:1::/48');
    assert.equal(verdict('64:ff9b:1:a00:0:100:808:808', both), 'private');
  });
});

describe('parseAddress', () => {
  it('accepts only strict spellings', () => {
    const texts = ['', '127.1', '0', '2130706433', '0x7f.0.0.1', '0177.0.0.1', '010.0.0.1'];
    texts.push('127.0.0.1.', ' 127.0.0.1', '10.0.0.1:8080', '192.168.1.1:cafe', '[::1]', ':::');
    texts.push('fe80::1%eth0', '1::2::3', '::ffff:127.1', '::1/128', '12345::', '①.0.0.1');
    for (const text of texts) assert.equal(parseAddress(text), undefined, text);
  });

  it('reads every spelling of a number as that number', () => {
    fc.assert(
      fc.property(anyIpv6, (value) => {
        for (const text of spellings(value)) {
          assert.deepEqual(parseAddress(text), { family: 6, value }, text);
        }
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('parseCidr', () => {
  it('explains what is wrong with a range', () => {
    const rows = [
      ['10.0.0.0/40', 'prefix is 40, expected 0 to 32'],
      ['::/129', 'prefix is 129, expected 0 to 128'],
      ['10.0.0.0/', 'prefix is , expected 0 to 32'],
      ['10.0.0.0/08', 'prefix is 08, expected 0 to 32'],
      ['10.0.0.1/8', 'it has bits set after the first 8, expected none'],
      ['10.0/8', 'it is not an address range, expected one like 10.0.0.0/8'],
    ] as const;
    for (const [text, message] of rows) {
      assert.deepEqual(parseCidr(text), { kind: 'invalid', message });
    }
  });
});

describe('isOpenable', () => {
  it('is false for ranges that are never allowed', () => {
    const closed = cidrs(
      '224.0.0.0/4',
      '::ffff:0:0/96',
      '2002::/16',
      '64:ff9b:1::/52',
      '0.0.0.0/8',
    );
    for (const cidr of closed.allow) assert.equal(isOpenable(cidr), false, String(cidr.value));
    const open = cidrs('0.0.0.0/0', '::/0', '10.0.0.0/8', '64:ff9b::/96', '2000::/3', '::1');
    for (const cidr of open.allow) assert.equal(isOpenable(cidr), true, String(cidr.value));
  });
});

describe('unmap', () => {
  it('unwraps a mapped address and nothing else', () => {
    assert.deepEqual(unmap(addressOf('::ffff:10.0.0.1')), addressOf('10.0.0.1'));
    assert.deepEqual(unmap(addressOf('::10.0.0.1')), addressOf('::10.0.0.1'));
  });
});

// An independent second implementation: the first and last address of each range as numbers; the
// narrowest range that contains an address wins.
type Range = readonly [first: bigint, last: bigint, name: AddressClass];

const ipv4Ranges: readonly Range[] = [
  [0x00000000n, 0x00ffffffn, 'unspecified'],
  [0x0a000000n, 0x0affffffn, 'private'],
  [0x64400000n, 0x647fffffn, 'shared'],
  [0x646464c8n, 0x646464c8n, 'metadata'],
  [0x7f000000n, 0x7fffffffn, 'loopback'],
  [0xa83f8110n, 0xa83f8110n, 'metadata'],
  [0xa9fe0000n, 0xa9feffffn, 'link_local'],
  [0xa9fea9fen, 0xa9fea9fen, 'metadata'],
  [0xa9feaa02n, 0xa9feaa02n, 'metadata'],
  [0xa9feaa17n, 0xa9feaa17n, 'metadata'],
  [0xac100000n, 0xac1fffffn, 'private'],
  [0xc0000000n, 0xc00000ffn, 'reserved'],
  [0xc00000c0n, 0xc00000c0n, 'metadata'],
  [0xc0000200n, 0xc00002ffn, 'documentation'],
  [0xc01fc400n, 0xc01fc4ffn, 'reserved'],
  [0xc034c100n, 0xc034c1ffn, 'reserved'],
  [0xc0586300n, 0xc05863ffn, 'transition'],
  [0xc0a80000n, 0xc0a8ffffn, 'private'],
  [0xc0af3000n, 0xc0af30ffn, 'reserved'],
  [0xc6120000n, 0xc613ffffn, 'benchmark'],
  [0xc6336400n, 0xc63364ffn, 'documentation'],
  [0xcb007100n, 0xcb0071ffn, 'documentation'],
  [0xe0000000n, 0xefffffffn, 'multicast'],
  [0xf0000000n, 0xffffffffn, 'reserved'],
  [0xffffffffn, 0xffffffffn, 'broadcast'],
];

// The upper ends are given as the number of free low bits.
const ipv6Ranges: readonly Range[] = (
  [
    [0x0n, 128, 'reserved'],
    [0x0n, 0, 'unspecified'],
    [0x1n, 0, 'loopback'],
    [0x0n, 32, 'transition'],
    [0xffff00000000n, 32, 'transition'],
    [0xffff000000000000n, 32, 'transition'],
    [0x64ff9bn << 96n, 32, 'transition'],
    [0x64ff9b0001n << 80n, 80, 'transition'],
    [0x2001n << 112n, 105, 'reserved'],
    [0x2001n << 112n, 96, 'transition'],
    [0x20010002n << 96n, 80, 'benchmark'],
    [0x20010db8n << 96n, 96, 'documentation'],
    [0x2002n << 112n, 112, 'transition'],
    [0x2620004f8000n << 80n, 80, 'reserved'],
    [0x3ffen << 112n, 112, 'reserved'],
    [0x3fffn << 112n, 108, 'documentation'],
    [0xfcn << 120n, 121, 'private'],
    [(0xfd000ec2n << 96n) | 0x254n, 0, 'metadata'],
    [(0xfd000ec2n << 96n) | 0x23n, 0, 'metadata'],
    [(0xfd2000cen << 96n) | 0x254n, 0, 'metadata'],
    [0xfe80n << 112n, 118, 'link_local'],
    [0xfec0n << 112n, 118, 'private'],
    [0xffn << 120n, 120, 'multicast'],
  ] as const
).map(([first, bits, name]) => [first, first + 2n ** BigInt(bits) - 1n, name]);

function expectedClass(value: bigint, family: 4 | 6): AddressClass | undefined {
  if (family === 6 && [0x5efen, 0x02005efen].includes((value / 2n ** 32n) % 2n ** 32n)) {
    return 'transition';
  }
  const holding = (family === 4 ? ipv4Ranges : ipv6Ranges)
    .filter(([first, last]) => first <= value && value <= last)
    .sort(([a, b], [c, d]) => (b - a < d - c ? -1 : 1));
  const narrowest = holding[0]?.[2];
  const inUnicast = value >= 0x2n << 124n && value < 0x4n << 124n;
  if (family === 6 && holding.length === 1 && inUnicast) return undefined;
  return narrowest;
}

function near(ranges: readonly Range[], bits: bigint): fc.Arbitrary<bigint> {
  const edges = ranges.flatMap(([first, last]) => [first, last]);
  return fc
    .tuple(fc.constantFrom(...edges), fc.bigInt({ min: -2n, max: 2n }))
    .map(([edge, step]) => BigInt.asUintN(Number(bits), edge + step));
}

function within(ranges: readonly Range[]): fc.Arbitrary<bigint> {
  return fc.constantFrom(...ranges).chain(([first, last]) => fc.bigInt({ min: first, max: last }));
}

const anyIpv4 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }),
  near(ipv4Ranges, 32n),
  within(ipv4Ranges),
);
const unicast: Range = [0x2n << 124n, (0x4n << 124n) - 1n, 'reserved'];
const anyIpv6 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
  fc.bigInt({ min: unicast[0], max: unicast[1] }),
  near([...ipv6Ranges, unicast], 128n),
  within(ipv6Ranges),
  fc
    .tuple(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }))
    .map(([head, tail]) => (head << 64n) | (0x5efen << 32n) | tail),
);

describe('classify', () => {
  it(`agrees with a second implementation on ${runs} IPv4 addresses`, () => {
    fc.assert(
      fc.property(anyIpv4, (value) => {
        assert.equal(classify({ family: 4, value }), expectedClass(value, 4));
      }),
      { numRuns: runs },
    );
  });

  it(`agrees with a second implementation on ${runs} IPv6 addresses`, () => {
    fc.assert(
      fc.property(anyIpv6, (value) => {
        assert.equal(classify({ family: 6, value }), expectedClass(value, 6));
      }),
      { numRuns: runs },
    );
  });
});

function spellings(value: bigint): string[] {
  const hex = value.toString(16).padStart(32, '0');
  const groups = Array.from({ length: 8 }, (_, index) => hex.slice(index * 4, index * 4 + 4));
  const short = groups.map((group) => group.replace(/^0{1,3}/, ''));
  const octets = [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const canonical = new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
  return [
    groups.join(':'),
    groups.join(':').toUpperCase(),
    short.join(':'),
    `${short.slice(0, 6).join(':')}:${octets}`,
    canonical,
  ];
}
