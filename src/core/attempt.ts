// An attempt: one HTTP request of a delivery, and what came back. An error has a name from this list,
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

/** What the network gave back. Never an exception: a failing receiver is nothing unusual. */
export type SendResult =
  | { kind: 'answered'; status: number; headers: readonly Header[]; body: Uint8Array; cut: boolean }
  | { kind: 'failed'; error: Exclude<AttemptError, 'redirect' | 'status'>; message: string };

export type Header = readonly [name: string, value: string];

export interface Attempt {
  /** From 1. */
  k: number;
  startedMs: number;
  tookMs: number;
  status: number | undefined;
  error: AttemptError | undefined;
  /** A sentence about the error, for people. */
  message: string | undefined;
  request: { method: string; url: string };
  response: { headers: readonly Header[]; body: Uint8Array; cut: boolean } | undefined;
  /** What the contract says about it: a 2xx that the document does not declare. */
  warning: string | undefined;
}
