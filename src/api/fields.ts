// Typed access to what the contract has already checked. A value of another type here means that the
// contract and the handler disagree: a bug, so it crashes the request instead of guessing.
import assert from 'node:assert/strict';
import type { Message } from '../contract/exchange.ts';
import { instantExpected, instantMs } from '../core/instant.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import { isCursor, type CursorKind } from '../store/cursor.ts';
import type { PageInput } from '../store/store.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The JSON object in the body; nothing there reads as an empty one. */
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

/** `kind`: of the list's own cursors; one of another list is none. */
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
 * The contract has checked how it is written. RFC 3339 knows leap seconds all the same, and offsets that lead
 * out of its years: no number may come of these, above all not NaN. `field`: as errors call it.
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
