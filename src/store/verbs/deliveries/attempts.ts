// Attempts: written once, when a delivery is settled, and read to show its history.
import { strict as assert } from 'node:assert';
import type { Attempt, Header } from '../../../core/domain/attempt.ts';
import { attemptErrors } from '../../../core/domain/attempt.ts';
import type { AttemptRecord } from '../../port/delivery-verbs.ts';
import type { Row } from '../../sql/row.ts';
import { bytes, integer, maybe, oneOf, text } from '../../sql/row.ts';
import { all, first } from '../../sql/statement.ts';
import type { Read } from '../shared/verb.ts';

export const attemptsSql = {
  owned: `
    select n from delivery_live where event = ?1 and n = ?2 and app = ?3
    union all select n from delivery_done where event = ?1 and n = ?2 and app = ?3`,
  // Head and body have a row of their own if they are long or were written before migration 0016.
  // If retention has deleted that row, the attempt is about to be deleted too.
  list: `
    select attempt.k, started_ms, took_ms, code, error,
      coalesce(attempt.head, response.head) as head, coalesce(attempt.body, response.body) as body
    from attempt left join response
      on response.event = attempt.event and response.n = attempt.n and response.k = attempt.k
    where attempt.event = ?1 and attempt.n = ?2 and coalesce(attempt.head, response.head) is not null
    order by attempt.k`,
} as const;

export const attempts: Read<'attempts'> = function* ({ appNo, event, n }) {
  if ((yield* first(attemptsSql.owned, event, n, appNo)) === undefined) return [];
  return (yield* all(attemptsSql.list, event, n)).map(toAttempt);
};

/** The head of a response as it is stored; undefined members are left out. */
export function printHead({ request, response, message, warning }: AttemptRecord): string {
  const { method, url } = request;
  const cut = response?.cut === true ? true : undefined;
  return JSON.stringify({ method, url, headers: response?.headers, cut, message, warning });
}

function toAttempt(row: Row): Attempt {
  const head: unknown = JSON.parse(text(row, 'head'));
  assert(
    typeof head === 'object' && head !== null,
    'Cannot read a response: its head is no object',
  );
  const fields = new Map<string, unknown>(Object.entries(head));
  const headers = fields.get('headers');
  const body = maybe(bytes, row, 'body');
  const error = maybe(text, row, 'error');
  return {
    k: integer(row, 'k'),
    startedMs: integer(row, 'started_ms'),
    tookMs: integer(row, 'took_ms'),
    status: maybe(integer, row, 'code'),
    error: error === undefined ? undefined : oneOf(attemptErrors, error),
    message: optionalText(fields.get('message')),
    request: { method: requiredText(fields.get('method')), url: requiredText(fields.get('url')) },
    response:
      headers === undefined
        ? undefined
        : {
            headers: toHeaders(headers),
            body: body ?? new Uint8Array(),
            cut: fields.get('cut') === true,
          },
    warning: optionalText(fields.get('warning')),
  };
}

function toHeaders(value: unknown): Header[] {
  assert(Array.isArray(value), 'Cannot read a response: its headers are no list');
  return value.map((header: unknown): Header => {
    assert(Array.isArray(header), 'Cannot read a response: a header is no pair');
    return [requiredText(header[0]), requiredText(header[1])];
  });
}

function optionalText(value: unknown): string | undefined {
  return value === undefined ? undefined : requiredText(value);
}

function requiredText(value: unknown): string {
  assert(typeof value === 'string', 'Cannot read a response: found no text where one must be');
  return value;
}
