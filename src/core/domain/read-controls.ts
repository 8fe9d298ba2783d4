// Reads what a caller chooses for a subscription, from PATCH or from `x-ringback` at subscribe. It
// validates everything itself, since the schema of a foreign contract may allow anything there, and
// reports all mistakes at once.
import type { Header } from './attempt.ts';
import { readCallbackHeaders } from './callback-headers.ts';
import type { Controls } from './controls.ts';
import { durationMs, instantMs } from '../base/parse-time.ts';
import { readFilter } from './filter.ts';
import { limits } from '../limits/limits.ts';
import { customerFault, isCustomer, isEventName } from './pattern.ts';
import { fieldIn, type Fault } from '../errors/problem.ts';
import { signings } from '../secrets/signing-secret.ts';

export interface Choice {
  /** Only named controls are changed; undefined resets one to the service default. */
  controls: Partial<Controls>;
  /** Replaces all headers; undefined keeps the present ones. */
  headers: readonly Header[] | undefined;
  /** Whose it is; null: of no customer. Undefined keeps what it was. */
  customer?: string | null | undefined;
}

export type ChoiceReading =
  | { kind: 'choice'; choice: Choice }
  | { kind: 'faulty'; faults: readonly Fault[] };

export const noChoice: Choice = { controls: {}, headers: undefined };

/** `at` is the place of the fields in the request: `body#`, `body#/x-ringback`. */
export function readChoice(input: Readonly<Record<string, unknown>>, at: string): ChoiceReading {
  const faults: Fault[] = [];
  let controls: Partial<Controls> = {};
  for (const [name, value] of Object.entries(input)) {
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    const field = fieldIn(at, name);
    if (name === 'headers' || name === 'customer') continue;
    if (read === undefined) {
      faults.push({ field, message: 'is not allowed here' });
      continue;
    }
    const part = read(value ?? undefined, field);
    if (typeof part === 'string') faults.push({ field, message: part });
    else if (isFaults(part)) faults.push(...part);
    else controls = { ...controls, ...part };
  }
  const headers = readHeaders(input['headers'], { field: fieldIn(at, 'headers'), faults });
  const customer = readCustomer(input['customer'], { field: fieldIn(at, 'customer'), faults });
  if (faults.length > 0) return { kind: 'faulty', faults };
  const headerNames = headers && namesOf(headers);
  return {
    kind: 'choice',
    choice: {
      controls: headers === undefined ? controls : { ...controls, headerNames },
      headers,
      customer,
    },
  };
}

/** Reads the patterns of a callback, without duplicates, or says what is wrong with them. */
export function readPatterns(
  value: unknown,
  field: string,
):
  | { kind: 'patterns'; patterns: readonly string[] }
  | { kind: 'faulty'; faults: readonly Fault[] } {
  const most = limits.patternsPerCallbackMax;
  if (!Array.isArray(value) || value.length === 0 || value.length > most) {
    const message = `is ${sizeOf(value)}, expected a list of 1 to ${most} event patterns`;
    return { kind: 'faulty', faults: [{ field, message }] };
  }
  const items: readonly unknown[] = value;
  const patterns = items.filter((one) => typeof one === 'string').filter(isEventName);
  if (patterns.length === items.length)
    return { kind: 'patterns', patterns: [...new Set(patterns)] };
  const faults = items.flatMap((one, index): Fault[] => {
    if (typeof one === 'string' && isEventName(one)) return [];
    const message = `is ${show(one)}, expected an event name, a prefix ending in .* or *, at most ${limits.eventNameCharsMax} characters`;
    return [{ field: fieldIn(field, index), message }];
  });
  return { kind: 'faulty', faults };
}

/** A part of the controls; or what is wrong with the value, or with values inside it. */
type Read = (value: unknown, field: string) => Partial<Controls> | string | readonly Fault[];

/** By the name in JSON. Undefined, which is null in JSON, resets the control. */
const readers: Readonly<Record<string, Read>> = {
  description: (value) => {
    const most = limits.descriptionCharsMax;
    const expected = `expected a text of 1 to ${most} characters`;
    if (value === undefined) return { description: undefined };
    if (typeof value !== 'string') return `is ${kindOf(value)}, ${expected}`;
    const { length } = Array.from(value);
    if (length === 0 || length > most) return `has ${length} characters, ${expected}`;
    if (!isPlain(value)) return `has control characters, ${expected} without them`;
    return { description: value };
  },
  metadata: (value, field) => (value === undefined ? { metadata: value } : metadata(value, field)),
  filter: (value, field) => {
    if (value === undefined) return { filter: undefined };
    const reading = readFilter(value, field);
    return reading.kind === 'filter' ? { filter: reading.filter } : reading.faults;
  },
  retry: (value, field) => (value === undefined ? { retryMs: value } : retry(value, field)),
  timeout: (value) => {
    if (value === undefined) return { timeoutMs: undefined };
    const ms = typeof value === 'string' ? durationMs(value) : undefined;
    const isFit = ms !== undefined && ms >= limits.attemptMinMs && ms <= limits.attemptMaxMs;
    return isFit ? { timeoutMs: ms } : `is ${show(value)}, expected a duration from 100ms to 60s`;
  },
  concurrency: (value) => {
    if (value === undefined) return { concurrency: undefined };
    const isFit = Number.isInteger(value) && isWithin(value, 1, limits.concurrencyMax);
    if (isFit) return { concurrency: value };
    return `is ${show(value)}, expected an integer from 1 to ${limits.concurrencyMax}`;
  },
  rateLimit: (value) => {
    if (value === undefined) return { ratePerSecond: undefined };
    const { ratePerSecondMin: min, ratePerSecondMax: max } = limits;
    if (isWithin(value, min, max)) return { ratePerSecond: value };
    return `is ${show(value)}, expected attempts per second, from ${min} to ${max}`;
  },
  signing: (value) => {
    const found = signings.find((signing) => signing === (value ?? 'hmac'));
    if (found === undefined) return `is ${show(value)}, expected ${signings.join(' or ')}`;
    return { signing: found === 'hmac' ? undefined : found };
  },
  ordered: (value) => {
    if (value === undefined) return { ordered: false };
    return typeof value === 'boolean'
      ? { ordered: value }
      : `is ${show(value)}, expected a boolean`;
  },
  expiresAt: (value) => {
    if (value === undefined) return { expiresMs: undefined };
    const expiresMs = typeof value === 'string' ? timeMs(value) : undefined;
    if (expiresMs !== undefined) return { expiresMs };
    return `is ${show(value)}, expected a timestamp such as 2030-01-31T12:00:00Z`;
  },
  headers: () => ({}), // Read separately: header values are not part of the controls.
};

function readHeaders(
  value: unknown,
  { field, faults }: { field: string; faults: Fault[] },
): readonly Header[] | undefined {
  if (value === undefined) return undefined;
  if (value === null) return [];
  const reading = readCallbackHeaders(value, field);
  if (reading.kind === 'headers') return reading.headers;
  faults.push(...reading.faults);
  return undefined;
}

function readCustomer(
  value: unknown,
  { field, faults }: { field: string; faults: Fault[] },
): string | null | undefined {
  if (value === undefined || value === null) return value;
  if (typeof value === 'string' && isCustomer(value)) return value;
  faults.push({
    field,
    message: typeof value === 'string' ? customerFault : `is ${show(value)}, expected a text`,
  });
  return undefined;
}

function namesOf(headers: readonly Header[]): string[] | undefined {
  return headers.length === 0 ? undefined : headers.map(([name]) => name);
}

function metadata(value: unknown, field: string): ReturnType<Read> {
  const { metadataKeysMax, metadataKeyCharsMax, metadataValueCharsMax, metadataBytesMax } = limits;
  if (!isObject(value)) return `is ${kindOf(value)}, expected an object of strings`;
  const entries = Object.entries(value);
  if (entries.length > metadataKeysMax) {
    return `has ${entries.length} keys, expected at most ${metadataKeysMax}`;
  }
  const texts: [string, string][] = [];
  const faults: Fault[] = [];
  for (const [key, text] of entries) {
    const keyLength = Array.from(key).length;
    const isKeyFit = keyLength > 0 && keyLength <= metadataKeyCharsMax && isPlain(key);
    const isFit = typeof text === 'string' && Array.from(text).length <= metadataValueCharsMax;
    if (!isKeyFit) {
      const expected = `expected 1 to ${metadataKeyCharsMax} characters, no control characters`;
      faults.push({ field: fieldIn(field, key), message: `is not a valid key, ${expected}` });
    } else if (!isFit || !text.isWellFormed()) {
      const message = `expected a text of at most ${metadataValueCharsMax} characters`;
      faults.push({ field: fieldIn(field, key), message: `is ${sizeOf(text)}, ${message}` });
    } else texts.push([key, text]);
  }
  if (faults.length > 0) return faults;
  const all = Object.fromEntries(texts);
  const bytes = Buffer.byteLength(JSON.stringify(all));
  if (bytes <= metadataBytesMax) return { metadata: all };
  return `has ${bytes} bytes as JSON, expected at most ${metadataBytesMax} in total`;
}

function retry(value: unknown, field: string): ReturnType<Read> {
  const most = limits.retriesMax;
  if (!Array.isArray(value) || value.length > most) {
    return `is ${sizeOf(value)}, expected a list of at most ${most} durations`;
  }
  const items: readonly unknown[] = value;
  const waits = items.map((one) => (typeof one === 'string' ? durationMs(one) : undefined));
  const retryMs = waits.filter((ms) => ms !== undefined && ms <= limits.retryWaitMaxMs);
  if (retryMs.length === waits.length) return { retryMs: retryMs.filter((ms) => ms !== undefined) };
  return items.flatMap((one, index): Fault[] => {
    const ms = waits[index];
    if (ms !== undefined && ms <= limits.retryWaitMaxMs) return [];
    const message = `is ${show(one)}, expected a duration such as 5s, 5m or 2h, at most 7d`;
    return [{ field: fieldIn(field, index), message }];
  });
}

const instant =
  /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d{1,9})?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Parses RFC 3339. Undefined for leap seconds and dates such as the 30th of February. */
function timeMs(text: string): number | undefined {
  const [, date = '', time = '', fraction = '', zone = ''] = instant.exec(text) ?? [];
  const local = Date.parse(`${date}T${time}Z`);
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(`${date}T${time}`)) {
    return undefined;
  }
  return instantMs(`${date}T${time}${fraction.slice(0, 4)}${zone.toUpperCase()}`);
}

function isPlain(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text);
}

function isWithin(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && value >= min && value <= max;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isFaults(part: Exclude<ReturnType<Read>, string>): part is readonly Fault[] {
  return Array.isArray(part);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function sizeOf(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === 'string' ? `a text of ${Array.from(value).length}` : kindOf(value);
}

const shownCharsMax = 40;

function show(value: unknown): string {
  if (typeof value === 'object' && value !== null) return kindOf(value);
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= shownCharsMax ? text : `${text.slice(0, shownCharsMax)}…`;
}
