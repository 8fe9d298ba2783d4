// Payload filters: which of the events that match a subscription's patterns are delivered to it.
// Every rule must match. Pure and total: a payload of any shape either matches or does not.
import { limits } from '../limits/limits.ts';
import { pointerTokens, valueAt } from '../base/pointer.ts';
import { fieldIn, type Fault } from '../errors/problem.ts';

/** By JSON pointer (RFC 6901): the payload must have one of these values there. */
export type Filter = Readonly<Record<string, readonly FilterValue[]>>;

export type FilterValue = string | number | boolean | null;

export type FilterReading =
  /** Undefined: the filter has no rules, which means no filter. */
  { kind: 'filter'; filter: Filter | undefined } | { kind: 'faulty'; faults: readonly Fault[] };

/**
 * Normalises a filter from JSON: one value or a list for each pointer becomes a list. `field` names
 * its place in the request: `body#/filter`.
 */
export function readFilter(value: unknown, field: string): FilterReading {
  const whole = (message: string): FilterReading => faulty([{ field, message }]);
  if (!isRecord(value)) return whole(`is ${kindOf(value)}, expected an object of JSON pointers`);
  const entries = Object.entries(value);
  if (entries.length > limits.filterPointersMax) {
    return whole(`has ${entries.length} pointers, expected at most ${limits.filterPointersMax}`);
  }
  const faults: Fault[] = [];
  const rules = entries.map(([pointer, wanted]) => {
    const list: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted];
    const message = pointerFault(pointer) ?? listFault(list);
    if (message !== undefined) faults.push({ field: fieldIn(field, pointer), message });
    return [pointer, [...new Set(list.filter(isScalar))]] as const;
  });
  if (faults.length > 0) return faulty(faults);
  if (rules.length === 0) return { kind: 'filter', filter: undefined };
  const filter = Object.fromEntries(rules);
  const { length } = JSON.stringify(filter);
  if (length > limits.filterCharsMax) {
    return whole(`has ${length} characters, expected at most ${limits.filterCharsMax}`);
  }
  return { kind: 'filter', filter };
}

/** A filter compiled for matching. */
export type Rules = readonly { tokens: readonly string[]; wanted: readonly FilterValue[] }[];

export function rulesOf(filter: Filter): Rules {
  return Object.entries(filter).map(([pointer, wanted]) => {
    return { tokens: pointerTokens(pointer) ?? [], wanted };
  });
}

/**
 * Whether the parsed payload has one of the wanted values at every pointer. A pointer to nothing
 * matches no value. Strings are compared character by character. Numbers are compared as doubles,
 * as nearly every JSON parser reads them, so 1 equals 1.0 and 1e0. Two integers are never confused:
 * a filter holds none beyond 2^53 - 1, so a larger one in a payload, which was rounded, equals none
 * of them.
 */
export function fits(rules: Rules, payload: unknown): boolean {
  return rules.every(({ tokens, wanted }) => {
    const found = valueAt(payload, tokens);
    return isScalar(found) && wanted.includes(found);
  });
}

/**
 * Returns a function that matches one payload against any number of filters, parsing it lazily and
 * once.
 */
export function payloadMatcher(payload: Uint8Array): (rules: Rules) => boolean {
  let parsed: { value: unknown } | undefined;
  return (rules) => {
    parsed ??= { value: parse(payload) };
    return fits(rules, parsed.value);
  };
}

/** The last value of a repeated key counts. A payload that is not JSON matches no filter. */
function parse(payload: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(payload));
  } catch {
    return undefined;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function pointerFault(pointer: string): string | undefined {
  if (pointer.length > limits.filterPointerCharsMax) {
    const most = `expected at most ${limits.filterPointerCharsMax}`;
    return `is a pointer of ${pointer.length} characters, ${most}`;
  }
  if (pointerTokens(pointer) !== undefined) return undefined;
  const expected =
    'expected an empty string, or "/" and a name, any number of times, with ~ written as ' +
    '~0 and / as ~1';
  return `is not a JSON pointer, ${expected}`;
}

function listFault(list: readonly unknown[]): string | undefined {
  if (list.length === 0 || list.length > limits.filterValuesMax) {
    return `has ${list.length} values, expected 1 to ${limits.filterValuesMax}`;
  }
  for (const each of list) {
    if (!isScalar(each)) {
      return `is ${kindOf(each)}, expected a string, a number, a boolean, null, or a list of these`;
    }
    if (typeof each === 'number' && !isExact(each)) {
      const most = Number.MAX_SAFE_INTEGER;
      return (
        `is a number beyond ${most}, where several numbers are indistinguishable: expected a ` +
        'smaller number, or a string'
      );
    }
  }
  return undefined;
}

/** Beyond this, JSON.parse maps several integers to one number. */
function isExact(number: number): boolean {
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER;
}

function isScalar(value: unknown): value is FilterValue {
  if (value === null || typeof value === 'string') return true;
  return typeof value === 'number' || typeof value === 'boolean';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function faulty(faults: readonly Fault[]): FilterReading {
  return { kind: 'faulty', faults };
}
