// The part of a settle statement that records attempts, with the request and the response.
import type { AttemptRecord } from '../../port/delivery-verbs.ts';
import { printHead } from '../../verbs/deliveries/attempts.ts';
import type { Parameter } from '../connection/wire.ts';

/** Columns of an attempt in a settle statement; `made` is 0 if there was none. */
const columns = {
  made: 'int',
  node: 'bigint',
  started_ms: 'bigint',
  took_ms: 'bigint',
  code: 'int',
  attempt_error: 'text',
  head: 'text',
  body: 'bytea',
} as const;

export const attemptColumns = Object.keys(columns).join(', ');

/** The parameters of these columns, numbered from `first`. */
export function attemptParameters(first: number): string {
  return Object.values(columns)
    .map((type, index) => `$${first + index}::${type}[]`)
    .join(', ');
}

/** Inserts attempts from a table of settled rows, whose `attempts` already counts them. */
export function insertAttempts(from: string): string {
  return `
    tried as (
      insert into attempt (event, n, k, node, started_ms, took_ms, code, error, head, body)
      select event, n, attempts, node, started_ms, took_ms, code, attempt_error, head, body
      from ${from} where made = 1)`;
}

export function attemptValues(attempts: readonly (AttemptRecord | undefined)[]): Parameter[] {
  return [
    attempts.map((attempt) => (attempt === undefined ? 0 : 1)),
    attempts.map((attempt) => attempt?.node ?? null),
    attempts.map((attempt) => attempt?.startedMs ?? null),
    attempts.map((attempt) => attempt?.tookMs ?? null),
    attempts.map((attempt) => attempt?.status ?? null),
    attempts.map((attempt) => attempt?.error ?? null),
    attempts.map((attempt) => (attempt === undefined ? null : printHead(attempt))),
    attempts.map((attempt) => attempt?.response?.body ?? null),
  ];
}
