// The short words for how an attempt ended, for tables and lists. The sentences with what to do about it
// are in the catalogue of failures.
const words: Readonly<Record<string, string>> = {
  dns: 'Name not found',
  refused: 'Connection refused',
  tls: 'TLS failed',
  timeout: 'Timed out',
  reset: 'Connection lost',
  too_large: 'Answer too large',
  redirect: 'Redirected',
  blocked: 'Address not allowed',
  protocol: 'Not HTTP',
  expired: 'Expired',
  exhausted: 'Tries used up',
};

/** Every error by its name, as filters take it. */
export const errorNames: readonly string[] = [...Object.keys(words), 'status'];

/** `HTTP 503`, `Timed out`; undefined if nothing came back yet. */
export function outcomeLabel({
  status,
  error,
}: {
  readonly status?: number | undefined;
  readonly error?: string | undefined;
}): string | undefined {
  if (error !== undefined && error !== 'status') return words[error] ?? error;
  return status === undefined ? undefined : `HTTP ${status}`;
}
