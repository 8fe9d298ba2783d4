// Typed access to values that the contract has already checked. A value of another type means that
// contract and handler disagree: a bug, so it fails the request instead of guessing.
import assert from 'node:assert/strict';
import type { Message } from '../../contract/expression/evaluate.ts';
import { instantExpected, instantMs } from '../../core/base/parse-time.ts';
import { Problem } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import type { PageInput } from '../../store/port/store.ts';
import { isCursor, type CursorKind } from '../../store/sql/cursor.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The JSON object in the body; no body reads as an empty object. */
export function bodyFields({ body }: Message): Fields {
  if (body === undefined) return {};
  return object(body, 'body');
}

export function object(value: unknown, name: string): Fields {
  assert(isFields(value), `${name}: object`);
  return value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function text(fields: Fields, name: string): string {
  const value = fields[name];
  assert(typeof value === 'string', `${name}: expected a string`);
  return value;
}

export function optionalText(fields: Fields, name: string): string | undefined {
  return fields[name] === undefined ? undefined : text(fields, name);
}

export function integer(fields: Fields, name: string): number {
  const value = fields[name];
  assert(typeof value === 'number' && Number.isInteger(value), `${name}: expected an integer`);
  return value;
}

export function optionalInteger(fields: Fields, name: string): number | undefined {
  return fields[name] === undefined ? undefined : integer(fields, name);
}

export function list(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name] ?? [];
  assert(Array.isArray(value), `${name}: expected a list`);
  return value;
}

export function pathText({ path }: Message, name: string): string {
  return text(Object.fromEntries(path), name);
}

/** `kind`: the cursor kind of this list; a cursor of another list is invalid. */
export function pageInput({ query }: Message, kind: CursorKind = 'row'): PageInput {
  const fields = Object.fromEntries(query);
  const after = optionalText(fields, 'cursor');
  if (after !== undefined && !isCursor(after, kind)) {
    throw badField('query.cursor', 'is not a cursor, expected the nextCursor of the previous page');
  }
  return { limit: optionalInteger(fields, 'limit') ?? limits.pageItemsDefault, after };
}

/** `from` and `until` of a query. */
export function timeRange({ query }: Message): {
  fromMs: number | undefined;
  untilMs: number | undefined;
} {
  const fields = Object.fromEntries(query);
  const fromMs = optionalInstant(fields, 'from', 'query.from');
  const untilMs = optionalInstant(fields, 'until', 'query.until');
  if (fromMs !== undefined && untilMs !== undefined && fromMs > untilMs) {
    throw badField('query.until', 'is before from, expected from or later');
  }
  return { fromMs, untilMs };
}

/**
 * The contract has checked the syntax. RFC 3339 still allows leap seconds, and offsets that lead
 * out of its range of years: these must be refused, and never become NaN. `field`: the name in
 * errors.
 */
export function optionalInstant(fields: Fields, name: string, field: string): number | undefined {
  const written = optionalText(fields, name);
  if (written === undefined) return undefined;
  const ms = instantMs(written);
  if (ms !== undefined) return ms;
  throw badField(field, `is ${JSON.stringify(written)}, expected ${instantExpected}`);
}

export function badField(field: string, message: string): Problem {
  return new Problem('invalid_request', `${field} ${message}`, { faults: [{ field, message }] });
}

/** `overlapSeconds` of a rotation, in milliseconds. */
export function overlapMs(request: Message): number {
  const seconds = optionalInteger(bodyFields(request), 'overlapSeconds');
  return seconds === undefined ? limits.rotationOverlapMs : seconds * 1000;
}

export function time(ms: number): string {
  return new Date(ms).toISOString();
}
