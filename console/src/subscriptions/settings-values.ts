// The values of the settings form, and the PATCH body with only the changed ones. Pure, except for
// the time zone of the browser.
import { checkJson, lineAndColumn } from '../events/json-check.ts';
import { fromField, toField } from '../local-time.ts';
import type { Callback, Subscription } from '../../../src/client/contract/subscription.ts';
import { filterText } from './filter-text.ts';

/** Texts as typed; an empty text means the service default, or no customer. */
export type SettingsValues = {
  readonly description: string;
  readonly customer: string;
  readonly expiresAt: string;
  /** By callback position. */
  readonly events: Readonly<Record<number, string>>;
  readonly filter: string;
  readonly rateLimit: string;
  readonly concurrency: string;
  readonly timeout: string;
  readonly retry: string;
  readonly ordered: boolean;
  /** Current values are unknown: empty keeps them. */
  readonly headers: string;
  readonly removesHeaders: boolean;
};

/** Errors found before the request, by field. */
export type FormErrors = { readonly filter?: string; readonly headers?: string };

export type Changes =
  | { readonly kind: 'none' }
  | { readonly kind: 'invalid'; readonly formErrors: FormErrors }
  /** `positions`: the callbacks in the request, in order. */
  | { readonly kind: 'changes'; readonly json: string; readonly positions: readonly number[] };

/** Stands for an empty retry schedule. */
const noRetry = 'none';

type Configured = Partial<Subscription> & Pick<Subscription, 'callbacks'>;

export function valuesOf(subscription: Configured): SettingsValues {
  const { description, customer, expiresAt, filter } = subscription;
  const { rateLimit, concurrency, timeout, retry } = subscription;
  const events = activeCallbacks(subscription.callbacks).map((one): [number, string] => [
    one.position,
    one.events.map(writePattern).join(', '),
  ]);
  return {
    description: description ?? '',
    customer: customer ?? '',
    expiresAt: toField(expiresAt ?? undefined),
    events: Object.fromEntries(events),
    filter: isUnset(filter) ? '' : filterText(filter),
    rateLimit: String(rateLimit ?? ''),
    concurrency: String(concurrency ?? ''),
    timeout: timeout ?? '',
    retry: isUnset(retry) ? '' : retry.length === 0 ? noRetry : retry.join(', '),
    ordered: subscription.ordered ?? false,
    headers: '',
    removesHeaders: false,
  };
}

function isUnset(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** Callbacks whose events can be chosen. Inactive callbacks receive nothing. */
export function activeCallbacks(callbacks: readonly Callback[]): readonly Callback[] {
  return callbacks.filter(({ inactive }) => inactive === undefined);
}

export function changesOf(before: SettingsValues, values: SettingsValues): Changes {
  const headers = headersOf(values);
  const filter = filterOf(before, values);
  if (headers.kind === 'wrong' || filter.kind === 'wrong') {
    const formErrors = {
      ...(headers.kind === 'wrong' ? { headers: headers.message } : {}),
      ...(filter.kind === 'wrong' ? { filter: filter.message } : {}),
    };
    return { kind: 'invalid', formErrors };
  }
  const callbacks = callbacksOf(before, values);
  const members = [
    ...textsOf(before, values),
    ...(values.ordered === before.ordered ? [] : [member('ordered', values.ordered)]),
    ...(headers.kind === 'same' ? [] : [member('headers', headers.value)]),
    // As typed: parsing could change a number.
    ...(filter.kind === 'same' ? [] : [`"filter":${filter.value}`]),
    ...(callbacks.length === 0 ? [] : [member('callbacks', callbacks)]),
  ];
  if (members.length === 0) return { kind: 'none' };
  const positions = callbacks.map(({ position }) => position);
  return { kind: 'changes', json: `{${members.join(',')}}`, positions };
}

type Reading<T> =
  | { readonly kind: 'same' }
  | { readonly kind: 'new'; readonly value: T }
  | { readonly kind: 'wrong'; readonly message: string };

/** Single-line fields, each with the parser of its text. */
const readers = {
  description: (text: string) => text,
  customer: (text: string) => text,
  expiresAt: (text: string) => fromField(text) ?? text,
  rateLimit: numberOr,
  concurrency: numberOr,
  timeout: (text: string) => text,
  retry: delaysOf,
} as const;

function textsOf(before: SettingsValues, values: SettingsValues): string[] {
  const names = [
    'description',
    'customer',
    'expiresAt',
    'rateLimit',
    'concurrency',
    'timeout',
    'retry',
  ] as const;
  return names.flatMap((name) => {
    const text = values[name].trim();
    if (text === before[name].trim()) return [];
    return [member(name, text === '' ? null : readers[name](text))];
  });
}

/** An invalid number is sent as it is, so that the service reports it. */
function numberOr(text: string): number | string {
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}

/** Commas alone mean the default; only "none" means a single attempt. */
function delaysOf(text: string): string[] | null {
  if (text.toLowerCase() === noRetry) return [];
  const waits = words(text);
  return waits.length === 0 ? null : waits;
}

function callbacksOf(
  before: SettingsValues,
  values: SettingsValues,
): { position: number; events: string[] }[] {
  return Object.entries(values.events).flatMap(([position, text]) => {
    const events = readPatterns(text);
    const old = readPatterns(before.events[Number(position)] ?? '');
    return JSON.stringify(events) === JSON.stringify(old)
      ? []
      : [{ position: Number(position), events }];
  });
}

function filterOf(before: SettingsValues, values: SettingsValues): Reading<string> {
  const text = values.filter.trim();
  if (text === before.filter.trim()) return { kind: 'same' };
  if (text === '') return { kind: 'new', value: 'null' };
  const check = checkJson(values.filter);
  if (check.kind === 'right') return { kind: 'new', value: text };
  const { line, column } = lineAndColumn(values.filter, check.at);
  return { kind: 'wrong', message: `Line ${line}, column ${column}: ${check.message}.` };
}

function headersOf({
  headers,
  removesHeaders,
}: SettingsValues): Reading<Record<string, string> | null> {
  if (removesHeaders) return { kind: 'new', value: null };
  if (headers.trim() === '') return { kind: 'same' };
  const found = new Map<string, string>();
  for (const [at, line] of headers.split('\n').entries()) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trim();
    if (name === '') return wrongLine(at, 'expected a name, a colon and a value');
    if (found.has(name)) return wrongLine(at, `${name} appears twice, expected each name once`);
    found.set(name, line.slice(colon + 1).trim());
  }
  return { kind: 'new', value: Object.fromEntries(found) };
}

function wrongLine(at: number, message: string): { kind: 'wrong'; message: string } {
  return { kind: 'wrong', message: `Line ${at + 1}: ${message}.` };
}

/** A pattern with spaces, commas or quotes is written in quotes, as JSON. */
function writePattern(pattern: string): string {
  return /[\s,"]/u.test(pattern) ? JSON.stringify(pattern) : pattern;
}

function readPatterns(text: string): string[] {
  return (text.match(/"(?:[^"\\]|\\.)*"|[^\s,]+/gu) ?? []).map((one) => {
    try {
      const pattern: unknown = one.startsWith('"') ? JSON.parse(one) : one;
      return typeof pattern === 'string' ? pattern : one;
    } catch {
      return one; // Left to the service, whose message shows it.
    }
  });
}

function words(text: string): string[] {
  return text.split(/[\s,]+/u).filter((one) => one !== '');
}

function member(name: string, value: unknown): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}
