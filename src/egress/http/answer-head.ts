// Parses the head of a response strictly (RFC 9112). Anything that two parsers could read
// differently is refused, not guessed.
import type { Header } from '../../core/domain/attempt.ts';

export interface AnswerHead {
  readonly status: number;
  /** Names in lower case, in their order. */
  readonly headers: readonly Header[];
  readonly body: Framing;
  /** Whether the connection can carry another request, and how long the receiver keeps it open. */
  readonly isKept: boolean;
  readonly keptMs: number | undefined;
}

/** How the end of the body is found. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunks' }
  | { readonly kind: 'until_closed' };

/** The message says what is wrong, and never quotes the receiver. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer';
}

export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/** The first characters of every response. */
export const answerPrefix = 'HTTP/1.';

/** `text` is the head without the empty line at its end. */
export function parseHead(text: string, linesMax: number): AnswerHead {
  const lineEnd = text.indexOf(lineBreak);
  const [, minor, status] = statusLine.exec(lineEnd < 0 ? text : text.slice(0, lineEnd)) ?? [];
  if (status === undefined) throw new BadAnswer('the status line cannot be parsed');
  const facts = new Facts();
  let lines = 1;
  for (let at = lineEnd; at >= 0; lines += 1) {
    if (lines >= linesMax) throw new AnswerTooLong(`More than ${linesMax} lines have come`);
    const next = text.indexOf(lineBreak, at + 2);
    facts.add(text.slice(at + 2, next < 0 ? undefined : next));
    at = next;
  }
  return facts.read(Number(status), minor === '1');
}

class Facts {
  readonly #headers: Header[] = [];
  #length: number | undefined;
  #coding: string | undefined;
  #connection = '';
  #keptMs: number | undefined;

  add(line: string): void {
    const colon = line.indexOf(':');
    const name = colon < 0 ? '' : line.slice(0, colon).toLowerCase();
    if (!token.test(name)) throw new BadAnswer('a header name cannot be parsed');
    const value = trim(line, colon + 1);
    if (!fieldValue.test(value)) throw new BadAnswer('a header value cannot be parsed');
    this.#headers.push([name, value]);
    switch (name) {
      case 'content-length':
        if (this.#length !== undefined) throw new BadAnswer('it has two Content-Length headers');
        if (!digits.test(value)) throw new BadAnswer('Content-Length is not a number');
        this.#length = Number(value);
        break;
      case 'transfer-encoding':
        // Some parsers read `chunked` followed by a tab as another coding, and so find another end
        // of the body.
        if (line.includes('\t')) throw new BadAnswer('Transfer-Encoding contains a tab');
        this.#coding = this.#coding === undefined ? value : `${this.#coding}, ${value}`;
        break;
      case 'connection':
        this.#connection += `,${value.toLowerCase()}`;
        break;
      case 'keep-alive':
        this.#keptMs = Number(keepAlive.exec(value)?.[1] ?? Number.NaN) * 1_000;
        break;
    }
  }

  read(status: number, isOnePointOne: boolean): AnswerHead {
    const body = this.#framing(status);
    const says = (word: string): boolean =>
      this.#connection !== '' && this.#connection.split(',').some((each) => each.trim() === word);
    const isOffered = isOnePointOne || (says('keep-alive') && this.#coding === undefined);
    const isLast = !isOffered || says('close');
    if (status < 200 && isLast) throw new BadAnswer('an interim answer is the last one');
    const isSure = isUsual(status) && this.#isSureToEnd(status, body);
    return {
      status,
      headers: this.#headers,
      body,
      isKept: !isLast && isSure,
      keptMs: Number.isNaN(this.#keptMs) ? undefined : this.#keptMs,
    };
  }

  /**
   * A response that announces a body that its status forbids may send one anyway, and the next
   * response would begin with it.
   */
  #isSureToEnd(status: number, { kind }: Framing): boolean {
    if (kind === 'until_closed') return false;
    if (status !== 204 && status !== 304) return true;
    return this.#coding === undefined && (this.#length ?? 0) === 0;
  }

  #framing(status: number): Framing {
    if (this.#coding !== undefined && this.#length !== undefined) {
      throw new BadAnswer('it has both Content-Length and Transfer-Encoding');
    }
    if (status < 200 && (this.#coding !== undefined || this.#length !== undefined)) {
      throw new BadAnswer('an interim response announces a body');
    }
    if (status < 200 || status === 204 || status === 304) return { kind: 'none' };
    if (this.#coding !== undefined) {
      return chunkedLast.test(this.#coding) ? { kind: 'chunks' } : { kind: 'until_closed' };
    }
    if (this.#length === undefined) return { kind: 'until_closed' };
    return this.#length === 0 ? { kind: 'none' } : { kind: 'length', bytes: this.#length };
  }
}

/**
 * Interim responses other than 100 and 103 are rare, so a receiver that sends one does not get
 * another request on the connection.
 */
function isUsual(status: number): boolean {
  return status >= 200 || status === 100 || status === 103;
}

/** Strips spaces and tabs. */
function trim(line: string, from: number): string {
  let [start, end] = [from, line.length];
  while (start < end && isBlank(line, start)) start += 1;
  while (end > start && isBlank(line, end - 1)) end -= 1;
  return line.slice(start, end);
}

function isBlank(line: string, at: number): boolean {
  const code = line.charCodeAt(at);
  return code === 0x20 || code === 0x09;
}

const lineBreak = '\r\n';
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const digits = /^\d{1,15}$/;
const chunkedLast = /(?:^|,)[\t ]*chunked[\t ]*$/i;
const keepAlive = /(?:^|[,; \t])timeout="?(\d{1,6})/i;
