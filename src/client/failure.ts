// What a call can fail with. No message ever holds the key.
import type { Problem } from './contract/problem.ts';
import { clientLimits } from './limits.ts';

/** Besides the codes of docs/errors.md: an answer that is not Ringback's, and a redirect. */
export type OwnCode = 'unreadable_answer' | 'redirected';

export interface Refusal {
  status: number;
  /** Stable: one of docs/errors.md, or of `OwnCode`. */
  code: string;
  detail: string;
  /** To look for in the service's log. */
  requestId: string | undefined;
  /** So long the service asks for patience. */
  retryAfterS: number | undefined;
  /** The whole answer; `errors` in it names fields. Absent where something else answered. */
  problem: Problem | undefined;
}

/** The service answered, and the answer is no. */
export class RingbackError extends Error implements Refusal {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | undefined;
  readonly retryAfterS: number | undefined;
  readonly problem: Problem | undefined;

  constructor(action: string, refusal: Refusal) {
    super(
      `Cannot ${action}: the service responded ${refusal.status} ${refusal.code}: ` +
        `${refusal.detail}`,
    );
    this.name = 'RingbackError';
    this.status = refusal.status;
    this.code = refusal.code;
    this.detail = refusal.detail;
    this.requestId = refusal.requestId;
    this.retryAfterS = refusal.retryAfterS;
    this.problem = refusal.problem;
  }
}

/** No answer came: what was asked for may have happened or not. */
export class UnreachableError extends Error {
  readonly url: string;

  constructor(action: string, { url, why, cause }: { url: string; why: string; cause: unknown }) {
    super(`Cannot ${action}: no response from ${url}: ${why}`, { cause });
    this.name = 'UnreachableError';
    this.url = url;
  }
}

/** A text without the key, whoever wrote it. */
export function withoutKey(text: string, key: string | undefined): string {
  return key === undefined ? text : text.replaceAll(key, '***');
}

/** What an error says, and what caused it: fetch hides the reason there. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.cause instanceof Error ? reasonOf(error.cause) : '';
  return [error.message, inner].filter((text) => text !== '').join(': ') || error.name;
}

export function quote(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  const { quoteCharsMax } = clientLimits;
  return line.length <= quoteCharsMax ? line : `${line.slice(0, quoteCharsMax)}…`;
}
