// Decides which callback URLs may be called: read() checks the text, vet() the addresses of its
// host at the moment. Both run at subscribe and again at every attempt, because names and policies
// change in between. A message must never say which address a name resolved to: that would map the
// operator's network.
import { limits } from '../../core/limits/limits.ts';
import { showUrl } from '../../core/secrets/redact.ts';
import type { Address, Verdict } from './address.ts';
import { formatIpv4, checkAddress, parseAddress, unmap } from './address.ts';
import type { Policy } from './allow-list.ts';
import { portRule } from './allow-list.ts';
import type { Resolver } from './resolve.ts';
import { localhostAddresses } from './resolve.ts';

export type RefusalCode =
  | 'too_long'
  | 'characters'
  | 'malformed'
  | 'scheme'
  | 'userinfo'
  | 'fragment'
  | 'port'
  | 'name'
  | 'address';

/** `local_name`: a single label or a special suffix, allowed only if every address is listed. */
export type Host =
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'localhost'; readonly name: string }
  | { readonly kind: 'local_name'; readonly name: string }
  | { readonly kind: 'name'; readonly name: string };

export interface CallbackUrl {
  /** Canonical: what is stored; reading it again returns the same. */
  readonly href: string;
  readonly protocol: 'http:' | 'https:';
  readonly host: Host;
  readonly port: number;
}

export interface Refused {
  readonly kind: 'refused';
  readonly reason: RefusalCode;
  readonly message: string;
}

export interface Unresolved {
  readonly kind: 'unresolved';
  readonly reason: 'missing' | 'failed';
  readonly message: string;
}

export interface Vetted {
  readonly kind: 'vetted';
  readonly url: CallbackUrl;
  readonly addresses: readonly string[];
}

export type ReadResult = { readonly kind: 'url'; readonly url: CallbackUrl } | Refused;
export type VetResult = Vetted | Refused | Unresolved;

export interface Guard {
  read(raw: string): ReadResult;
  vet(url: CallbackUrl, signal?: AbortSignal): Promise<VetResult>;
  checkAddress(text: string | undefined): Verdict;
}

export function createGuard(options: { policy: Policy; resolver: Resolver }): Guard {
  const { policy, resolver } = options;
  return {
    read: (raw) => readUrl(raw, policy),
    vet: async (url, signal) => vetUrl(url, { policy, resolver, signal }),
    checkAddress: (text) => checkIpText(text, policy),
  };
}

interface Fault {
  readonly reason: RefusalCode;
  readonly text: string;
}

const shownCharsMax = 120;
const nameCharsMax = 253;

function readUrl(raw: string, policy: Policy): ReadResult {
  const rawFault = findCharacterFault(raw) ?? findShapeFault(raw, policy);
  if (rawFault !== undefined) return refuse(raw, rawFault);
  const parsed = URL.parse(raw);
  if (parsed === null) return refuse(raw, { reason: 'malformed', text: notAUrl });
  if (parsed.hostname.endsWith('.')) parsed.hostname = parsed.hostname.slice(0, -1);
  const protocol = parsed.protocol === 'https:' ? 'https:' : 'http:';
  const defaultPort = protocol === 'https:' ? 443 : 80;
  const url: CallbackUrl = {
    href: parsed.href,
    protocol,
    host: readHost(parsed.hostname),
    port: parsed.port === '' ? defaultPort : Number(parsed.port),
  };
  const fault = findLengthFault(url.href) ?? findHostFault(url, policy);
  return fault === undefined ? { kind: 'url', url } : refuse(raw, fault);
}

// The URL parser drops tabs and line ends, trims, and turns \ into /. Input that it would correct
// is refused, so that the URL the client sent is the one that is stored and dialled.
function findCharacterFault(raw: string): Fault | undefined {
  const tooLong = findLengthFault(raw);
  if (tooLong !== undefined) return tooLong;
  if (!raw.isWellFormed() || /[\p{Cc}\s\\]/u.test(raw)) {
    const text = 'it contains a control character, whitespace or a backslash, expected none';
    return { reason: 'characters', text };
  }
  return undefined;
}

function findLengthFault(text: string): Fault | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes <= limits.urlBytesMax) return undefined;
  const message = `it is ${bytes} bytes long, expected at most ${limits.urlBytesMax}`;
  return { reason: 'too_long', text: message };
}

function findShapeFault(raw: string, policy: Policy): Fault | undefined {
  const expected = policy.requireHttps ? 'https' : 'http or https';
  const scheme = /^([a-z][a-z0-9+.-]{0,31}):/i.exec(raw)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    return { reason: 'scheme', text: `scheme is missing, expected ${expected}` };
  }
  if (scheme !== 'https' && (scheme !== 'http' || policy.requireHttps)) {
    return { reason: 'scheme', text: `scheme is "${scheme}", expected ${expected}` };
  }
  const authority = /^[a-z]+:\/\/([^/?#]+)/i.exec(raw)?.[1];
  if (authority === undefined) {
    return { reason: 'malformed', text: `host is missing, expected ${scheme}://host/path` };
  }
  if (authority.includes('@')) {
    return { reason: 'userinfo', text: 'it has a user name or password, expected none' };
  }
  if (authority.includes('%')) {
    return { reason: 'characters', text: 'host contains a "%", expected no percent-encoding' };
  }
  if (raw.includes('#')) {
    return { reason: 'fragment', text: 'it has a fragment, expected none' };
  }
  return undefined;
}

function readHost(hostname: string): Host {
  const literal = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  if (parseAddress(literal) !== undefined) return { kind: 'address', address: literal };
  if (localhostAddresses(hostname) !== undefined) return { kind: 'localhost', name: hostname };
  const local = !hostname.includes('.') || localSuffixes.some((end) => hostname.endsWith(end));
  return { kind: local ? 'local_name' : 'name', name: hostname };
}

// Checks that need no DNS lookup. With an allow list, names of the operator's own network are
// decided later, by their addresses.
function findHostFault(url: CallbackUrl, policy: Policy): Fault | undefined {
  const { host } = url;
  const rule = portRule(url.port);
  if (rule === 'closed') return portFault(url.port);
  if (host.kind === 'address') return findAddressFault(url, [checkIpText(host.address, policy)]);
  const nothingListed =
    host.kind === 'localhost' ? listedLocalhost(policy).length === 0 : policy.allow.length === 0;
  if (nothingListed && host.kind !== 'name') return nameFault(host.name);
  if (nothingListed && rule === 'listed_only') return portFault(url.port);
  return findNameFault(host.name);
}

function findNameFault(name: string): Fault | undefined {
  const wellFormed = name.split('.').every((label) => labelShape.test(label));
  return wellFormed && name.length <= nameCharsMax ? undefined : nameFault(name);
}

// All addresses count: a name with one forbidden address is refused, not filtered, because the
// owner of the name can change the remaining ones a moment later.
function findAddressFault(url: CallbackUrl, verdicts: readonly Verdict[]): Fault | undefined {
  const { host } = url;
  const allListed = verdicts.every((verdict) => verdict.kind === 'listed');
  if (host.kind === 'local_name' && !allListed) return nameFault(host.name);
  const forbidden = verdicts.find((verdict) => verdict.kind === 'forbidden');
  if (forbidden !== undefined) {
    const is =
      host.kind === 'address'
        ? `${host.address}, of the class ${forbidden.class}`
        : 'a name that resolves to a forbidden address';
    return { reason: 'address', text: `host is ${is}, expected a public address` };
  }
  return portRule(url.port) === 'open' || allListed ? undefined : portFault(url.port);
}

async function vetUrl(
  url: CallbackUrl,
  context: { policy: Policy; resolver: Resolver; signal: AbortSignal | undefined },
): Promise<VetResult> {
  const { policy, resolver, signal } = context;
  const fault = findHostFault(url, policy);
  if (fault !== undefined) return refuse(url.href, fault);
  const { host } = url;
  if (host.kind === 'address') return vetted(url, [host.address]);
  if (host.kind === 'localhost') return vetted(url, listedLocalhost(policy));
  const answer = await resolver.resolve(host.name, signal);
  if (answer.kind === 'failed') return unresolved(url, 'failed');
  if (answer.kind === 'missing' || answer.addresses.length === 0) return unresolved(url, 'missing');
  if (answer.addresses.length > limits.dnsAddressesMax) {
    const text = `host has too many addresses, expected at most ${limits.dnsAddressesMax}`;
    return refuse(url.href, { reason: 'address', text });
  }
  const verdicts = answer.addresses.map((address) => checkIpText(address, policy));
  const addressFault = findAddressFault(url, verdicts);
  return addressFault === undefined
    ? vetted(url, answer.addresses)
    : refuse(url.href, addressFault);
}

function checkIpText(text: string | undefined, policy: Policy): Verdict {
  const address = parseAddress(text ?? '');
  return address === undefined
    ? { kind: 'forbidden', class: 'unreadable' }
    : checkAddress(address, policy);
}

function listedLocalhost(policy: Policy): readonly string[] {
  const both = localhostAddresses('localhost') ?? [];
  return both.filter((address) => checkIpText(address, policy).kind === 'listed');
}

// A mapped address is dialled as the IPv4 address that it was checked as.
function vetted(url: CallbackUrl, texts: readonly string[]): Vetted {
  const addresses = texts.map((text) => {
    const address = parseAddress(text);
    return address?.family === 6 ? dialText(address, text) : text;
  });
  return { kind: 'vetted', url, addresses: [...new Set(addresses)] };
}

function dialText(address: Address, text: string): string {
  const inner = unmap(address);
  return inner.family === 4 ? formatIpv4(inner.value) : text;
}

function refuse(raw: string, fault: Fault): Refused {
  const message = `Cannot accept callback URL "${showUrl(raw)}": ${fault.text}`;
  return { kind: 'refused', reason: fault.reason, message };
}

function unresolved(url: CallbackUrl, reason: 'missing' | 'failed'): Unresolved {
  const why =
    reason === 'missing' ? 'host has no address' : 'host cannot be resolved at the moment';
  const message = `Cannot resolve callback URL "${showUrl(url.href)}": ${why}, expected at least one`;
  return { kind: 'unresolved', reason, message };
}

function portFault(port: number): Fault {
  const text = `port is ${port}, expected 80, 443, or 1024 to 65535 except well-known services`;
  return { reason: 'port', text };
}

function nameFault(name: string): Fault {
  const text = `host is "${name.slice(0, shownCharsMax)}", expected a public host name`;
  return { reason: 'name', text };
}

const notAUrl = 'it cannot be parsed, expected a URL like https://example.com/hook';
const labelShape = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;

// Names that are never public: RFC 6761, 6762 (with appendix G), 7686, 8375, Kubernetes.
const localSuffixes = [
  '.local',
  '.localdomain',
  '.internal',
  '.intranet',
  '.private',
  '.corp',
  '.home',
  '.lan',
  '.home.arpa',
  '.onion',
  '.svc',
];
