// What a subscription may choose for itself, beyond its callbacks and events. An absent control
// means the service default. Kept as JSON in `subscription.settings`, except for those that a
// claim, a publish or a search reads: these have columns.
import { strict as assert } from 'node:assert';
import type { Filter, FilterValue } from './filter.ts';
import { signings, type Signing } from '../secrets/signing-secret.ts';

export interface Controls {
  /** For people. */
  description: string | undefined;
  /** For the subscriber's own use: stored and returned, never interpreted. */
  metadata: Readonly<Record<string, string>> | undefined;
  /** Only events whose payload matches are delivered. */
  filter: Filter | undefined;
  /** Waits between the attempts of a delivery. */
  retryMs: readonly number[] | undefined;
  /** Timeout of a whole attempt. */
  timeoutMs: number | undefined;
  /** Attempts in flight at a time, per callback and node. */
  concurrency: number | undefined;
  /** Attempts per second, over all callbacks of the subscription and all nodes. */
  ratePerSecond: number | undefined;
  /** How its callbacks are signed: the kind of its newest secret. Absent: `hmac`. */
  signing: Signing | undefined;
  /** Names of the headers that its callbacks carry. Their values are stored sealed, elsewhere. */
  headerNames: readonly string[] | undefined;
  /** One delivery after the other, in the order of their events. */
  ordered: boolean;
  /** When the subscription expires. */
  expiresMs: number | undefined;
}

export const noControls: Controls = {
  description: undefined,
  metadata: undefined,
  filter: undefined,
  retryMs: undefined,
  timeoutMs: undefined,
  concurrency: undefined,
  ratePerSecond: undefined,
  signing: undefined,
  headerNames: undefined,
  ordered: false,
  expiresMs: undefined,
};

/** Whether every control has its default. */
export function isWithoutControls(controls: Controls): boolean {
  return Object.values(controls).every((value) => value === undefined || value === false);
}

/** Controls that have a column of their own. */
export type ColumnControls = Pick<Controls, 'filter' | 'ordered' | 'expiresMs'>;

/**
 * Encodes the settings of a row. Settings in `before` that this version does not know are kept:
 * during a rolling upgrade a newer node may have written them.
 */
export function encodeControls(controls: Controls, before = '{}'): string {
  const { filter: _filter, ordered: _ordered, expiresMs: _expiresMs, ...kept } = controls;
  const others = Object.entries(parse(before)).filter(([name]) => !Object.hasOwn(kept, name));
  return JSON.stringify(Object.fromEntries([...others, ...Object.entries(kept)]));
}

/** Ignores unknown settings, but a known one of the wrong type means a corrupt row. */
export function decodeControls(settings: string, columns: ColumnControls): Controls {
  const found = parse(settings);
  return {
    description: maybe(found, 'description', isText),
    metadata: maybe(found, 'metadata', isTexts),
    retryMs: maybe(found, 'retryMs', isNumbers),
    timeoutMs: maybe(found, 'timeoutMs', isNumber),
    concurrency: maybe(found, 'concurrency', isNumber),
    ratePerSecond: maybe(found, 'ratePerSecond', isNumber),
    signing: maybe(found, 'signing', isSigning),
    headerNames: maybe(found, 'headerNames', isTextList),
    ...columns,
  };
}

/** Encodes a filter for its column. */
export function encodeFilter(filter: Filter): string {
  return JSON.stringify(filter);
}

export function decodeFilter(text: string): Filter {
  const value: unknown = JSON.parse(text);
  assert(isFilter(value), 'Cannot read a filter: expected lists of values by pointer');
  return value;
}

type Kept = Readonly<Record<string, unknown>>;

function parse(settings: string): Kept {
  const value: unknown = JSON.parse(settings);
  assert(isObject(value), 'Cannot read settings: expected an object');
  return value;
}

function maybe<T>(kept: Kept, name: string, is: (value: unknown) => value is T): T | undefined {
  const value = kept[name];
  if (value === undefined) return undefined;
  assert(is(value), `Cannot read setting "${name}": it has another type than expected`);
  return value;
}

function isObject(value: unknown): value is Kept {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isSigning(value: unknown): value is Signing {
  return signings.some((signing) => signing === value);
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

function isTexts(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every(isText);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every(isNumber);
}

function isFilter(value: unknown): value is Filter {
  return isObject(value) && Object.values(value).every(isFilterValues);
}

function isFilterValues(value: unknown): value is FilterValue[] {
  return Array.isArray(value) && value.every((one) => one === null || typeof one !== 'object');
}
