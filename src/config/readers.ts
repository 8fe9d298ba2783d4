// Parses the text of settings: each reader returns the value, or what it expected.
import { withoutPrefix } from '../core/base/id.ts';
import { durationMs } from '../core/base/parse-time.ts';
import { keyIdOf } from '../core/domain/key.ts';
import { listed } from '../core/errors/did-you-mean.ts';
import type { KeyRing } from '../core/secrets/seal.ts';
import { limits } from '../core/limits/limits.ts';
import { parseAllowTargets, type Policy } from '../egress/guard/allow-list.ts';
import type { NodeRole } from '../store/port/node-verbs.ts';

/** A parsed value, or a sentence that says what was expected. */
export type Reading<T> = { kind: 'value'; value: T } | { kind: 'mistake'; text: string };

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export function value<T>(it: T): { kind: 'value'; value: T } {
  return { kind: 'value', value: it };
}

export function mistake(expected: string): { kind: 'mistake'; text: string } {
  return { kind: 'mistake', text: `expected ${expected}` };
}

export function readText(text: string): Reading<string> {
  return value(text);
}

/** Comma-separated paths; the flag may be repeated. */
export function readFiles(text: string): Reading<readonly string[]> {
  const files = text.split(/[,\n]/u).map((file) => file.trim());
  return files.includes('') ? mistake('file paths, separated by commas') : value(files);
}

export function readPort(text: string): Reading<number> {
  const isPort = /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
  return isPort ? value(Number(text)) : mistake('a port from 0 to 65535');
}

export function readSwitch(text: string): Reading<boolean> {
  if (['on', 'true', '1', 'yes'].includes(text)) return value(true);
  if (['off', 'false', '0', 'no'].includes(text)) return value(false);
  return mistake('on or off');
}

export function readApiKey(text: string): Reading<string> {
  const isFit = text.length >= 32 && /^[\x21-\x7e]+$/.test(text);
  if (!isFit) return mistake('32 visible ASCII characters or more, without spaces');
  if (keyIdOf(text) !== undefined) return value(text);
  return mistake('a complete key, as it starts with rbk_: the checksum does not match');
}

export function readDatabaseUrl(text: string): Reading<string> {
  if (!/^postgres(ql)?:\/\//.test(text)) {
    return mistake('a URL starting with postgres:// or postgresql://');
  }
  if (URL.parse(text) !== null) return value(text);
  return mistake(
    'postgres://user:password@host:port/database, ' +
      'with / ? # and @ in a password written as %2F %3F %23 and %40',
  );
}

const roles: readonly NodeRole[] = ['api', 'worker', 'all'];

export function readRole(text: string): Reading<NodeRole> {
  const role = roles.find((name) => name === text);
  return role === undefined ? mistake('api, worker or all') : value(role);
}

export function readNodeName(text: string): Reading<string> {
  const isFit = text.length <= limits.nameCharsMax && /^[\x21-\x7e]+$/.test(text);
  const expected = `at most ${limits.nameCharsMax} visible ASCII characters, without spaces`;
  return isFit ? value(text) : mistake(expected);
}

export function readPublicUrl(text: string): Reading<string> {
  const url = URL.parse(text);
  const isFit = url !== null && /^https?:$/.test(url.protocol) && url.search + url.hash === '';
  if (!isFit) return mistake('an http or https URL without query or fragment');
  return value(url.href.replace(/\/$/, ''));
}

/** Origins of web pages, separated by commas. */
export function readOrigins(text: string): Reading<readonly string[]> {
  const origins = text.split(',').map((part) => originOf(part.trim()));
  const known = origins.filter((origin) => origin !== undefined);
  const expected = 'origins such as https://app.example.com, separated by commas, without a path';
  return known.length === origins.length ? value(known) : mistake(expected);
}

function originOf(text: string): string | undefined {
  const url = URL.parse(text);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  return isOrigin ? url.origin : undefined;
}

export function readColor(text: string): Reading<string> {
  return /^#[0-9a-f]{6}$/i.test(text)
    ? value(text.toLowerCase())
    : mistake('a colour such as #0b5fff');
}

/** In front of Ringback's own paths. */
export function readPrefix(text: string): Reading<string> {
  const isFit = text.length <= 128 && /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(text);
  return isFit ? value(text) : mistake('a path such as /manage, without a slash at its end');
}

export function readAllowTargets(text: string): Reading<Policy['allow']> {
  const reading = parseAllowTargets(text);
  return reading.kind === 'allow'
    ? value(reading.allow)
    : { kind: 'mistake', text: reading.message };
}

export type MetricsAccess = 'key' | 'open';

export function readMetricsAccess(text: string): Reading<MetricsAccess> {
  return text === 'key' || text === 'open' ? value(text) : mistake('key or open');
}

export function readLogLevel(text: string): Reading<LogLevel> {
  const level = logLevels.find((name) => name === text);
  return level === undefined ? mistake(`one of ${logLevels.join(', ')}`) : value(level);
}

/** One of these names. */
export function readOneOf<const Name extends string>(
  ...names: readonly Name[]
): (text: string) => Reading<Name> {
  return (text) => {
    const chosen = names.find((name) => name === text);
    return chosen === undefined ? mistake(listed(names)) : value(chosen);
  };
}

export function readAppId(text: string): Reading<string> {
  const isId = withoutPrefix('app', text) !== undefined;
  return isId ? value(text) : mistake('the id of an app, which starts with app_');
}

export const logFormats = ['auto', 'json', 'pretty'] as const;
export type LogFormat = (typeof logFormats)[number];

export function readLogFormat(text: string): Reading<LogFormat> {
  const format = logFormats.find((name) => name === text);
  return format === undefined ? mistake(`one of ${logFormats.join(', ')}`) : value(format);
}

export function readKeyRing(text: string): Reading<KeyRing> {
  const [first, ...older] = text.split(',').map((part) => readEncryptionKey(part.trim()));
  const expected = '32 bytes in base64 or hex, several separated by commas';
  if (first === undefined) return mistake(expected);
  const known = older.filter((key) => key !== undefined);
  return known.length === older.length ? value([first, ...known]) : mistake(expected);
}

export function readEncryptionKey(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64');
  return bytes.length === 32 ? bytes : undefined;
}

export function readDuration(text: string): Reading<number> {
  const ms = durationMs(text);
  return ms === undefined ? mistake('a duration such as 500ms, 15s, 5m, 2h or 30d') : value(ms);
}

export function readDurations(text: string): Reading<readonly number[]> {
  const all = text.split(',').map((part) => durationMs(part.trim()));
  const known = all.filter((ms) => ms !== undefined);
  const isFit = known.length === all.length && known.length <= 32;
  return isFit ? value(known) : mistake('durations such as 5s,5m,2h, at most 32 of them');
}

/** How long history is kept. */
export function readRetention(text: string): Reading<number> {
  const reading = readDuration(text);
  if (reading.kind === 'mistake') return reading;
  return reading.value >= 3_600_000 ? reading : mistake('a duration of 1h or more');
}

/** Timeout of an attempt. */
export function readTimeout(text: string): Reading<number> {
  return durationWithin(text, [limits.attemptMinMs, limits.attemptMaxMs], '100ms to 60s');
}

export function readUpstreamTimeout(text: string): Reading<number> {
  return durationWithin(text, [limits.attemptMinMs, limits.upstreamTimeoutMaxMs], '100ms to 1h');
}

export function readStoreTimeout(text: string): Reading<number> {
  return durationWithin(text, [limits.storeTimeoutMinMs, limits.storeTimeoutMaxMs], '1s to 60s');
}

function durationWithin(
  text: string,
  [minMs, maxMs]: readonly [number, number],
  expected: string,
): Reading<number> {
  const reading = readDuration(text);
  if (reading.kind === 'mistake') return reading;
  const isFit = reading.value >= minMs && reading.value <= maxMs;
  return isFit ? reading : mistake(`a duration from ${expected}`);
}

/** A count, or undefined for no limit. */
export function readQuota(text: string): Reading<number | undefined> {
  const count = countOf(text);
  return count === undefined ? mistake(`none, or a number up to ${limits.quotaMax}`) : count;
}

export function readRate(text: string): Reading<number | undefined> {
  const count = countOf(text);
  const expected = `none, or a number from 1 to ${limits.quotaMax}`;
  return count === undefined || count.value === 0 ? mistake(expected) : count;
}

function countOf(text: string): { kind: 'value'; value: number | undefined } | undefined {
  if (text === 'none') return value(undefined);
  const isFit = /^\d{1,10}$/.test(text) && Number(text) <= limits.quotaMax;
  return isFit ? value(Number(text)) : undefined;
}

const byteUnits = { '': 1, KiB: 1_024, MiB: 1_048_576 } as const;

export function readPayloadQuota(text: string): Reading<number | undefined> {
  if (text === 'none') return value(undefined);
  const found = /^(\d{1,7})(KiB|MiB|)$/.exec(text);
  const unit = Object.entries(byteUnits).find(([name]) => name === found?.[2])?.[1] ?? 0;
  const bytes = Number(found?.[1]) * unit;
  const isFit = bytes >= 1 && bytes <= limits.bodyBytesMax;
  return isFit
    ? value(bytes)
    : mistake('none, or bytes from 1 to 1MiB such as 2000, 64KiB or 1MiB');
}
