// Why a delivery failed and what the customer can do, in the language of the portal. Pure, except for the strings.
import type { Delivery } from '../../src/client/contract/delivery.ts';
import { t } from './language.ts';
import type { Strings } from './strings/en.ts';

type Failures = Strings['failures'];
export type Failure = Failures[keyof Failures];

type Failed = { readonly error?: string | undefined; readonly status?: number | undefined };

/** Undefined if nothing has failed. */
export function failureOf({
  state,
  error,
  status,
}: Pick<Delivery, 'state'> & Failed): Failure | undefined {
  if (state === 'delivered') return undefined;
  if (state === 'cancelled') return t().failures[status === 410 ? 'gone' : 'cancelled'];
  return error === undefined ? undefined : explain({ error, status });
}

export function explain({ error = 'status', status }: Failed): Failure {
  const known: Readonly<Record<string, Failure>> = t().failures;
  const byError = error === 'status' ? undefined : known[error];
  const text = String(status ?? 500);
  const byStatus = known[text] ?? known[`${text.charAt(0)}xx`];
  return byError ?? byStatus ?? t().failures['5xx'];
}

/** `HTTP 503`, `Timed out`; undefined while there is no outcome. */
export function outcomeOf({ error, status }: Failed): string | undefined {
  const labels: Readonly<Record<string, string>> = t().errors;
  if (error !== undefined && error !== 'status') return labels[error] ?? error;
  return status === undefined ? undefined : `HTTP ${status}`;
}

export function resultOf(attempt: Failed): string {
  return outcomeOf(attempt) ?? t().errors.none;
}
