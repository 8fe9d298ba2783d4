// The result of a check of the doctor: a fact and, unless all is well, what to do. Never a secret.

export interface Finding {
  /** A word for what was checked. */
  check: string;
  state: 'ok' | 'warning' | 'failed';
  message: string;
  /** What to do; undefined if all is well. */
  remedy: string | undefined;
}

export function ok(check: string, message: string): Finding {
  return { check, state: 'ok', message, remedy: undefined };
}

export type Trouble = Pick<Finding, 'message'> & { remedy: string };

export function warning(check: string, { message, remedy }: Trouble): Finding {
  return { check, state: 'warning', message, remedy };
}

export function failed(check: string, { message, remedy }: Trouble): Finding {
  return { check, state: 'failed', message, remedy };
}

/**
 * The message in one line. OpenSSL's messages name its source files, so only their reason is used.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isTls = 'code' in error && String(error.code).startsWith('ERR_SSL_');
  if (isTls && 'reason' in error) return `TLS: ${String(error.reason)}`;
  return error.message.trim().replaceAll(/\s*\n\s*/g, ' ');
}
