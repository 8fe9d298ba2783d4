// The operator's allow list of addresses, and the ports that callbacks may use. address.ts knows which
// addresses are refused without it; guard.ts decides about a whole URL. Mistakes in the setting are
// returned as messages, because the configuration reports all of them at once.
import type { Cidr } from './address.ts';
import { isOpenable, parseCidr } from './address.ts';

export interface Policy {
  /** Allowed in addition to public addresses. */
  readonly allow: readonly Cidr[];
  readonly requireHttps: boolean;
}

/** `open`: on any address; `listed_only`: on addresses of the allow list; `closed`: never. */
export type PortRule = 'open' | 'listed_only' | 'closed';

const allowTargetsMax = 256;
const loopback = ['127.0.0.0/8', '::1/128'];

/** Parses RINGBACK_ALLOW_TARGETS: `none`, or a comma-separated list of `loopback` and ranges. */
export function parseAllowTargets(
  text: string,
): { kind: 'allow'; allow: readonly Cidr[] } | { kind: 'invalid'; message: string } {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.length === 1 && entries[0] === 'none') return { kind: 'allow', allow: [] };
  if (entries.length > allowTargetsMax) {
    return invalid(text, `it has ${entries.length} entries, expected at most ${allowTargetsMax}`);
  }
  const allow: Cidr[] = [];
  for (const entry of entries.flatMap((name) => (name === 'loopback' ? loopback : [name]))) {
    if (entry === '') return invalid(text, 'an entry is empty, expected none, loopback or ranges');
    if (entry === 'none')
      return invalid(text, '"none" is combined with other entries, expected it alone');
    const read = parseCidr(entry);
    if (read.kind === 'invalid') return invalid(entry, read.message);
    if (!isOpenable(read.cidr)) return invalid(entry, unopenable);
    allow.push(read.cidr);
  }
  return { kind: 'allow', allow };
}

/**
 * An operator who lists an address knows what listens there, so only ports that no HTTP server uses
 * stay closed. On public addresses, ports of databases and caches are refused as well.
 */
export function portRule(port: number): PortRule {
  if (port < 1 || port > 65_535 || browserBlocked.has(port)) return 'closed';
  if (port === 80 || port === 443) return 'open';
  return port >= 1024 && !services.has(port) ? 'open' : 'listed_only';
}

function invalid(quoted: string, message: string): { kind: 'invalid'; message: string } {
  const shown = quoted.length > 100 ? `${quoted.slice(0, 100)}…` : quoted;
  return { kind: 'invalid', message: `entry "${shown}": ${message}` };
}

const unopenable =
  'it is an unspecified, multicast or transition range, which is never allowed, ' +
  'expected IPv4 or IPv6 ranges of hosts, or a NAT64 prefix of 48, 56, 64 or 96 bits';

// The "bad ports" of the WHATWG Fetch standard: ports of protocols that a crafted HTTP request can
// speak.
const browserBlocked: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
]);

// Databases, caches, queues and control planes above 1023, which never receive callbacks.
const services: ReadonlySet<number> = new Set([
  1433, 1434, 1521, 1883, 2181, 2375, 2376, 2377, 2379, 2380, 3306, 3389, 4369, 5432, 5433, 5671,
  5672, 5900, 5984, 5985, 5986, 6379, 6380, 6443, 8500, 9042, 9092, 9200, 9300, 10250, 10255, 11211,
  15672, 16379, 26257, 26379, 27017, 27018, 27019, 28015, 33060,
]);
