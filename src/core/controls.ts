// What a subscription may choose for itself, beyond who is called and when. Absent means: as the service
// is set. Kept as JSON in `subscription.settings`; what a claim, a publish or a search must see has a column.
import { strict as assert } from 'node:assert';
import type { Filter, FilterValue } from './filter.ts';
import { signings, type Signing } from './signing-secret.ts';

export interface Controls {
  /** For people. */
  description: string | undefined;
  /** For programs: kept and shown, never read here. */
  metadata: Readonly<Record<string, string>> | undefined;
  /** Only events whose payload fits are delivered. */
  filter: Filter | undefined;
  /** Waits between the attempts of a delivery. */
  retryMs: readonly number[] | undefined;
  /** Of a whole attempt. */
  timeoutMs: number | undefined;
  /** Attempts under way at a time, per callback and node. */
  concurrency: number | undefined;
  /** Attempts a second over all its callbacks and all nodes. */
  ratePerSecond: number | undefined;
  /** How its callbacks are signed, as its newest secret does; absent: `hmac`. */
  signing: Signing | undefined;
  /** Names of the headers that its callbacks carry; what they say is sealed elsewhere. */
  headerNames: readonly string[] | undefined;
  /** One delivery after the other, in the order of their events. */
  ordered: boolean;
  /** When it ends by itself. */
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

/** Nothing was chosen. */
export function isWithoutControls(controls: Controls): boolean {
  return Object.values(controls).every((value) => value === undefined || value === false);
}

/** What has a column of its own. */
export type ColumnControls = Pick<Controls, 'filter' | 'ordered' | 'expiresMs'>;

/**
 * The settings of a row. What stood there and is unknown here stays: a newer node may have written it,
 * while this one is still to be replaced.
 */
export function encodeControls(controls: Controls, before = '{}'): string {
  const { filter: _filter, ordered: _ordered, expiresMs: _expiresMs, ...kept } = controls;
  const others = Object.entries(parse(before)).filter(([name]) => !Object.hasOwn(kept, name));
  return JSON.stringify(Object.fromEntries([...others, ...Object.entries(kept)]));
}

/** What is of another type than expected is a broken row, unlike what is unknown. */
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

/** A filter as its column has it. */
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
