// An attempt: one HTTP request of a delivery, and its response. An error has a name from this list,
// so that people can filter by it and programs can rely on it.

export const attemptErrors = [
  'dns',
  'refused',
  'tls',
  'timeout',
  'reset',
  'too_large',
  'redirect',
  'blocked',
  'protocol',
  'status',
] as const;
export type AttemptError = (typeof attemptErrors)[number];

/** The result of one request. A failing receiver is expected, so it is never an exception. */
export type SendResult =
  | { kind: 'answered'; status: number; headers: readonly Header[]; body: Uint8Array; cut: boolean }
  | { kind: 'failed'; error: Exclude<AttemptError, 'redirect' | 'status'>; message: string };

export type Header = readonly [name: string, value: string];

export interface Attempt {
  /** Counted from 1. */
  k: number;
  startedMs: number;
  tookMs: number;
  status: number | undefined;
  error: AttemptError | undefined;
  /** For people: about the error, and the redirects that were followed. */
  message: string | undefined;
  request: { method: string; url: string };
  response: { headers: readonly Header[]; body: Uint8Array; cut: boolean } | undefined;
  /** A mismatch with the contract: a 2xx status that the document does not declare. */
  warning: string | undefined;
}
