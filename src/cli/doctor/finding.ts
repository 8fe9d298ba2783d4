// What a check of the doctor found: a fact, and where it is not well, what to do. Never a secret.

export interface Finding {
  /** A word: what was looked at. */
  check: string;
  state: 'ok' | 'warning' | 'failed';
  message: string;
  /** What to do; undefined where all is well. */
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

/** In one line. OpenSSL's own message names its source files, so of that only the reason is taken. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isTls = 'code' in error && String(error.code).startsWith('ERR_SSL_');
  if (isTls && 'reason' in error) return `TLS: ${String(error.reason)}`;
  return error.message.trim().replaceAll(/\s*\n\s*/g, ' ');
}
