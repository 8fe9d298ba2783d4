// Addresses as numbers, and the one decision about them: may this address be dialled? Text is
// always parsed into a number before it is checked, because one address has a hundred spellings.
// Written by hand because net.BlockList supports neither classes nor embedded addresses.
import { isIPv4, isIPv6 } from 'node:net';

export interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
}

export interface Cidr {
  readonly family: 4 | 6;
  readonly value: bigint;
  readonly prefixBits: number;
}

export type AddressClass =
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'shared'
  | 'link_local'
  | 'metadata'
  | 'multicast'
  | 'broadcast'
  | 'documentation'
  | 'benchmark'
  | 'transition'
  | 'reserved'
  | 'unreadable';

/** `listed`: the operator's allow list contains it; `public`: callbacks may always go there. */
export type Verdict =
  | { readonly kind: 'public' }
  | { readonly kind: 'listed' }
  | { readonly kind: 'forbidden'; readonly class: AddressClass };

/** Decides whether an address may be dialled, given the operator's allow list. */
export function checkAddress(
  address: Address,
  policy: { readonly allow: readonly Cidr[] },
): Verdict {
  const found = classify(address);
  const covering = policy.allow.filter((cidr) => contains(cidr, address));
  if (found === undefined) return { kind: covering.length > 0 ? 'listed' : 'public' };
  if (found === 'transition') return classifyCarrier(address, { covering, policy });
  // A wide range such as 169.254.0.0/16 or 100.64.0.0/10 must not allow a metadata address by
  // accident.
  const naming = found === 'metadata' ? covering.filter(isSingle) : covering;
  const listed = naming.length > 0 && !closed.has(found);
  return listed ? { kind: 'listed' } : { kind: 'forbidden', class: found };
}

/** The number of a strictly spelled address; undefined for anything else, including zone ids. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { family: 4, value: readIpv4(text) };
  if (isIPv6(text) && !text.includes('%')) return { family: 6, value: readIpv6(text) };
  return undefined;
}

/** Parses `a.b.c.d/n` or `x::y/n`; a bare address is a range of one. Host bits must be zero. */
export function parseCidr(
  text: string,
): { kind: 'cidr'; cidr: Cidr } | { kind: 'invalid'; message: string } {
  const slash = text.indexOf('/');
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) {
    return { kind: 'invalid', message: 'it is not an address range, expected one like 10.0.0.0/8' };
  }
  const bits = bitsOf(address.family);
  const prefix = slash < 0 ? String(bits) : text.slice(slash + 1);
  if (!/^(0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > bits) {
    return { kind: 'invalid', message: `prefix is ${prefix}, expected 0 to ${bits}` };
  }
  const cidr = { ...address, prefixBits: Number(prefix) };
  const hostBits = BigInt(bits - cidr.prefixBits);
  if ((cidr.value >> hostBits) << hostBits !== cidr.value) {
    return { kind: 'invalid', message: `it has bits set after the first ${prefix}, expected none` };
  }
  return { kind: 'cidr', cidr };
}

/** Whether `checkAddress` could ever allow the range, whatever the operator lists. */
export function isOpenable(cidr: Cidr): boolean {
  if (isNat64(cidr)) return nat64PrefixBits.has(cidr.prefixBits);
  const block = blocks.find((b) => b.cidr.prefixBits <= cidr.prefixBits && contains(b.cidr, cidr));
  return block === undefined || !closed.has(block.class);
}

/** Converts an IPv4-mapped address (::ffff:a.b.c.d) to IPv4; returns any other unchanged. */
export function unmap(address: Address): Address {
  return contains(mapped, address) ? { family: 4, value: address.value & 0xffffffffn } : address;
}

export function isSame(one: Address | undefined, other: Address | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.family === other.family && one.value === other.value;
}

export function formatIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.');
}

/** The class of an address in the IANA registries; undefined for ordinary public unicast. */
export function classify(address: Address): AddressClass | undefined {
  if (address.family === 6 && isIsatap(address.value)) return 'transition';
  const block = blocks.find((b) => contains(b.cidr, address));
  if (block !== undefined) return block.class;
  if (address.family === 4) return undefined;
  return address.value >> 125n === 1n ? undefined : 'reserved'; // Only 2000::/3 is public.
}

// ISATAP embeds an IPv4 address behind any prefix; the first half of the interface id marks it.
function isIsatap(value: bigint): boolean {
  const mark = (value >> 32n) & 0xffffffffn;
  return mark === 0x5efen || mark === 0x02005efen;
}

function isSingle(cidr: Cidr): boolean {
  return cidr.prefixBits === bitsOf(cidr.family);
}

function contains(cidr: Cidr, address: Address): boolean {
  if (cidr.family !== address.family) return false;
  const hostBits = BigInt(bitsOf(cidr.family) - cidr.prefixBits);
  return cidr.value >> hostBits === address.value >> hostBits;
}

// An address that embeds an IPv4 address is never more trusted than that one. Mapped: allowed only
// when the operator lists the IPv4 address. NAT64: only when the operator lists the prefix, and
// then checked by the IPv4 address at the position that RFC 6052 defines for that prefix. All others
// are never allowed: no receiver uses them, and decoding each tunnel format is where other guards
// went wrong.
function classifyCarrier(
  address: Address,
  { covering, policy }: { covering: readonly Cidr[]; policy: { readonly allow: readonly Cidr[] } },
): Verdict {
  const refused: Verdict = { kind: 'forbidden', class: 'transition' };
  if (contains(mapped, address)) {
    const inner = checkAddress(unmap(address), policy);
    return inner.kind === 'listed' ? inner : refused;
  }
  const named = covering.filter((cidr) => isNat64(cidr) && nat64PrefixBits.has(cidr.prefixBits));
  const verdicts = named.map((cidr) => {
    const inner = nat64Inner(address.value, cidr.prefixBits);
    return inner === undefined ? refused : checkAddress({ family: 4, value: inner }, policy);
  });
  return verdicts.find((verdict) => verdict.kind === 'forbidden') ?? verdicts[0] ?? refused;
}

function isNat64(cidr: Cidr): boolean {
  return nat64.some((block) => block.prefixBits <= cidr.prefixBits && contains(block, cidr));
}

// RFC 6052 §2.2: the IPv4 bits follow the prefix but skip bits 64 to 71, which must be zero.
function nat64Inner(value: bigint, prefixBits: number): bigint | undefined {
  if (prefixBits === 96) return value & 0xffffffffn;
  if (((value >> 56n) & 0xffn) !== 0n) return undefined;
  const withoutGap = ((value >> 64n) << 56n) | (value & 0xffffffffffffffn);
  return (withoutGap >> BigInt(120 - prefixBits - 32)) & 0xffffffffn;
}

function bitsOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

function readIpv4(text: string): bigint {
  return text.split('.').reduce((value, octet) => (value << 8n) | BigInt(octet), 0n);
}

function readIpv6(text: string): bigint {
  const tail = text.slice(text.lastIndexOf(':') + 1);
  const hex = isIPv4(tail) ? text.slice(0, -tail.length) + ipv4AsGroups(readIpv4(tail)) : text;
  const [left = '', right] = hex.split('::');
  const head = groupsOf(left);
  const rest = groupsOf(right ?? '');
  const gap = Array.from({ length: 8 - head.length - rest.length }, () => 0n);
  return [...head, ...gap, ...rest].reduce((value, group) => (value << 16n) | group, 0n);
}

function ipv4AsGroups(value: bigint): string {
  return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}

function groupsOf(text: string): bigint[] {
  return text === '' ? [] : text.split(':').map((group) => BigInt(`0x${group}`));
}

function cidrOf(text: string): Cidr {
  const read = parseCidr(text);
  if (read.kind === 'invalid') throw new Error(`Cannot read range "${text}": ${read.message}`);
  return read.cidr;
}

const mapped = cidrOf('::ffff:0:0/96');
const nat64 = [cidrOf('64:ff9b::/96'), cidrOf('64:ff9b:1::/48')];
/** Classes that no allow list can open: none of them names a host. */
const closed: ReadonlySet<AddressClass> = new Set([
  'unspecified',
  'multicast',
  'broadcast',
  'transition',
  'unreadable',
]);
const nat64PrefixBits: ReadonlySet<number> = new Set([48, 56, 64, 96]);

// The first block that contains an address names it, so single addresses come before ranges. Blocks
// that IANA calls globally reachable (AS112, AMT, PCP anycast) are refused as well: they are shared
// infrastructure, never a receiver.
const registry: readonly (readonly [AddressClass, ...string[]])[] = [
  ['metadata', '169.254.169.254', '169.254.170.2', '169.254.170.23'], // AWS, GCP, Azure, others.
  ['metadata', '168.63.129.16', '100.100.100.200', '192.0.0.192'], // Azure, Alibaba, Oracle.
  ['metadata', 'fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254'], // AWS and GCP over IPv6.
  ['unspecified', '0.0.0.0/8', '::/128'],
  ['loopback', '127.0.0.0/8', '::1/128'],
  ['private', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  ['shared', '100.64.0.0/10'],
  ['link_local', '169.254.0.0/16', 'fe80::/10'],
  ['documentation', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
  ['documentation', '2001:db8::/32', '3fff::/20'],
  ['benchmark', '198.18.0.0/15', '2001:2::/48'],
  ['broadcast', '255.255.255.255'],
  ['multicast', '224.0.0.0/4', 'ff00::/8'],
  ['transition', '192.88.99.0/24', '2002::/16', '2001::/32'], // 6to4 relays, 6to4, Teredo.
  ['transition', '::ffff:0:0/96', '::ffff:0:0:0/96', '::/96'], // Mapped, translated, compatible.
  ['transition', '64:ff9b::/96', '64:ff9b:1::/48'], // NAT64.
  ['reserved', '192.0.0.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24'],
  ['reserved', '240.0.0.0/4', '2001::/23', '2620:4f:8000::/48', '3ffe::/16'],
];
const blocks: readonly { cidr: Cidr; class: AddressClass }[] = registry.flatMap(
  ([name, ...ranges]) => ranges.map((range) => ({ cidr: cidrOf(range), class: name })),
);
