// The errors of a call. No message ever contains the key.
import type { Problem } from './contract/service.ts';
import { clientLimits } from './limits.ts';

/** Codes besides those of docs/errors.md: a response that is not from Ringback, and a redirect. */
export type OwnCode = 'unreadable_answer' | 'redirected';

export interface Refusal {
  status: number;
  /** Stable: a code of docs/errors.md, or an `OwnCode`. */
  code: string;
  detail: string;
  /** Identifies the request in the service's log. */
  requestId: string | undefined;
  /** How long the service asks to wait before a retry. */
  retryAfterS: number | undefined;
  /**
   * The whole problem response; its `errors` name fields. Absent if something other than Ringback responded.
   */
  problem: Problem | undefined;
}

/** The service responded with an error. */
export class RingbackError extends Error implements Refusal {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | undefined;
  readonly retryAfterS: number | undefined;
  readonly problem: Problem | undefined;

  constructor(action: string, refusal: Refusal) {
    super(
      `Cannot ${action}: the service responded ` +
        `${refusal.status} ${refusal.code}: ${refusal.detail}`,
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

/** No response arrived: the request may or may not have been processed. */
export class UnreachableError extends Error {
  readonly url: string;

  constructor(action: string, { url, why, cause }: { url: string; why: string; cause: unknown }) {
    super(`Cannot ${action}: no response from ${url}: ${why}`, { cause });
    this.name = 'UnreachableError';
    this.url = url;
  }
}

/** The text with the key removed, wherever the text comes from. */
export function withoutKey(text: string, key: string | undefined): string {
  return key === undefined ? text : text.replaceAll(key, '***');
}

/** The message of an error and of its cause: fetch puts the reason there. */
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
