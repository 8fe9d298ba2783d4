// Short labels for the outcome of an attempt, for tables and lists. The sentences with advice are
// in core/domain/failures.ts.
const labels: Readonly<Record<string, string>> = {
  dns: 'DNS lookup failed',
  refused: 'Connection refused',
  tls: 'TLS error',
  timeout: 'Timed out',
  reset: 'Connection reset',
  too_large: 'Response too large',
  redirect: 'Redirect',
  blocked: 'Address blocked',
  protocol: 'Invalid HTTP',
  expired: 'Expired',
  exhausted: 'Retries exhausted',
};

/** All error names, as filters accept them. */
export const errorNames: readonly string[] = [...Object.keys(labels), 'status'];

/** `HTTP 503`, `Timed out`; undefined while there is no outcome. */
export function outcomeLabel({
  status,
  error,
}: {
  readonly status?: number | undefined;
  readonly error?: string | undefined;
}): string | undefined {
  if (error !== undefined && error !== 'status') return labels[error] ?? error;
  return status === undefined ? undefined : `HTTP ${status}`;
}
