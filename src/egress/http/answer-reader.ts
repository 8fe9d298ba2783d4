// Reads a response from the bytes of a connection: interim heads, the final head, the body. Written
// by hand because undici's parsing doubled the cost of a callback: decision 0021. Everything is
// bounded by its size on the wire.
import type { Header } from '../../core/domain/attempt.ts';

export interface AnswerLimits {
  readonly responseHeadBytesMax: number;
  readonly responseHeadLinesMax: number;
  readonly responseRestBytesMax: number;
}

export interface AnswerHandler {
  /** Called for each interim head, then for the final one. */
  onHead(head: AnswerHead): void;
  /** `data` is valid only during the call. */
  onBody(data: Uint8Array): void;
}

/** `ended_early`: bytes followed the response that belong to no request. */
export type Reading = 'goes_on' | 'ended' | 'ended_early';

export class AnswerReader {
  readonly #limits: AnswerLimits;
  readonly #handler: AnswerHandler;
  #state: 'idle' | 'head' | 'length' | 'chunks' | 'until_closed' = 'idle';
  #isToHead = false;
  /** The beginning of an incomplete head. */
  #begun: Buffer = nothing;
  #headBytes = 0;
  #headLines = 0;
  #restBytes = 0;
  #left = 0;
  #chunks = new Chunks();

  constructor(limits: AnswerLimits, handler: AnswerHandler) {
    this.#limits = limits;
    this.#handler = handler;
  }

  /** From the next byte on, expects the response to a request with this method. */
  begin(method: string): void {
    this.#state = 'head';
    this.#isToHead = method === 'HEAD';
    this.#begun = nothing;
    this.#headBytes = 0;
    this.#headLines = 0;
    this.#restBytes = 0;
  }

  /** Stops reading: the caller needs no more of the response. */
  stop(): void {
    this.#state = 'idle';
  }

  /** Throws BadAnswer or AnswerTooLong: the connection is then unusable. */
  read(piece: Buffer): Reading {
    let at: number | undefined = 0;
    while (this.#state === 'head') {
      at = this.#readHead(piece, at);
      if (at === undefined) return 'goes_on';
    }
    this.#restBytes += piece.length - at;
    const end = this.#readBody(piece, at);
    if (this.#state === 'idle') return end === piece.length ? 'ended' : 'ended_early';
    if (this.#restBytes <= this.#limits.responseRestBytesMax) return 'goes_on';
    throw new AnswerTooLong('More has come than a body may have');
  }

  /** The connection was closed. Returns whether that completes the response. */
  close(): boolean {
    return this.#state === 'until_closed';
  }

  /** Returns where the head ends; undefined when it continues in the next piece. */
  #readHead(piece: Buffer, from: number): number | undefined {
    const { responseHeadBytesMax: bytesMax, responseHeadLinesMax: linesMax } = this.#limits;
    const had = this.#begun.length;
    const bytes = had === 0 ? piece : Buffer.concat([this.#begun, piece]);
    const end = bytes.indexOf(headEnd, had === 0 ? from : Math.max(0, had - headEnd.length + 1));
    const size = (end < 0 ? bytes.length : end + headEnd.length) - from;
    if (end < 0 && !startsLikeResponse(bytes, from))
      throw new BadAnswer('it does not start with a status line');
    if (end < 0 && hasBareLineBreak(bytes, from + had))
      throw new BadAnswer('a line does not end with CRLF');
    if (this.#headBytes + size > bytesMax) throw new AnswerTooLong(`More than ${bytesMax} bytes`);
    if (end < 0) {
      // A copy, because the next read, perhaps of another receiver, reuses the memory of the piece.
      this.#begun = had === 0 ? Buffer.from(piece.subarray(from)) : bytes;
      return undefined;
    }
    this.#headBytes += size;
    this.#begun = nothing;
    const head = parseHead(bytes.toString('latin1', from, end), linesMax - this.#headLines);
    this.#headLines += head.headers.length + 1;
    this.#start(head);
    return from + size - had;
  }

  #start(head: AnswerHead): void {
    const { status, body } = head;
    if (status === 101) throw new BadAnswer('it switches protocols');
    this.#handler.onHead(head);
    // The handler may have called stop().
    if (status < 200 || this.#state === 'idle') return;
    if (this.#isToHead || body.kind === 'none') {
      this.#state = 'idle';
      return;
    }
    this.#state = body.kind;
    if (body.kind === 'length') this.#left = body.bytes;
    if (body.kind === 'chunks') this.#chunks = new Chunks();
  }

  /** Reads up to the end of the body at most; returns where it stopped. */
  #readBody(piece: Buffer, at: number): number {
    switch (this.#state) {
      case 'length': {
        const end = Math.min(piece.length, at + this.#left);
        this.#left -= end - at;
        if (this.#left === 0) this.#state = 'idle';
        if (end > at) this.#handler.onBody(piece.subarray(at, end));
        return end;
      }
      case 'chunks': {
        const end = this.#chunks.read(piece, at, this.#handler);
        if (this.#chunks.isOver) this.#state = 'idle';
        return end;
      }
      case 'until_closed':
        if (at < piece.length) this.#handler.onBody(piece.subarray(at));
        return piece.length;
      case 'idle':
      case 'head':
        return at;
    }
  }
}

function startsLikeResponse(bytes: Buffer, from: number): boolean {
  return answerPrefix.startsWith(bytes.toString('latin1', from, from + answerPrefix.length));
}

/** Refuses bare line feeds: with them the head would never end. */
function hasBareLineBreak(bytes: Buffer, from: number): boolean {
  for (let at = bytes.indexOf(newline, from); at >= 0; at = bytes.indexOf(newline, at + 1)) {
    if (bytes[at - 1] !== carriage) return true;
  }
  return false;
}

const headEnd = Buffer.from('\r\n\r\n');
const nothing: Buffer = Buffer.alloc(0);

// Parses the head of a response strictly (RFC 9112). Anything that two parsers could read
// differently is refused, not guessed.

export interface AnswerHead {
  readonly status: number;
  /** Names in lower case, in their order. */
  readonly headers: readonly Header[];
  readonly body: Framing;
  /** Whether the connection can carry another request, and how long the receiver keeps it open. */
  readonly isKept: boolean;
  readonly keepAliveMs: number | undefined;
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
  #keepAliveMs: number | undefined;

  add(line: string): void {
    const colon = line.indexOf(':');
    const name = colon < 0 ? '' : line.slice(0, colon).toLowerCase();
    if (!headerName.test(name)) throw new BadAnswer('a header name cannot be parsed');
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
        this.#keepAliveMs = Number(keepAlive.exec(value)?.[1] ?? Number.NaN) * 1_000;
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
      keepAliveMs: Number.isNaN(this.#keepAliveMs) ? undefined : this.#keepAliveMs,
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
const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const digits = /^\d{1,15}$/;
const chunkedLast = /(?:^|,)[\t ]*chunked[\t ]*$/i;
const keepAlive = /(?:^|[,; \t])timeout="?(\d{1,6})/i;

// Decodes a chunked body (RFC 9112, 7.1), however it is split. Extensions and trailers are ignored
// but must be valid, or the end of the body would be uncertain. The caller limits their length.

type State =
  | 'size'
  | 'extension'
  | 'extension_name'
  | 'extension_value'
  | 'size_end'
  | 'data'
  | 'data_break'
  | 'data_end'
  | 'trailer_start'
  | 'trailer_name'
  | 'trailer_value'
  | 'trailer_end'
  | 'last_end'
  | 'over';

export class Chunks {
  #state: State = 'size';
  #digits = 0;
  /** The chunk size while it is read, then the bytes of data still to come. */
  #left = 0;

  get isOver(): boolean {
    return this.#state === 'over';
  }

  /** Reads from `at` up to the end of the body at most; returns where it stopped. */
  read(piece: Uint8Array, at: number, to: { onBody(data: Uint8Array): void }): number {
    let next = at;
    while (next < piece.length && this.#state !== 'over') {
      if (this.#state === 'data') {
        const data = piece.subarray(next, next + this.#left);
        this.#left -= data.length;
        next += data.length;
        if (this.#left === 0) this.#state = 'data_break';
        to.onBody(data);
      } else {
        this.#state = this.#after(piece[next] ?? 0);
        next += 1;
      }
    }
    return next;
  }

  #after(byte: number): State {
    switch (this.#state) {
      case 'size':
        return this.#afterSize(byte);
      case 'extension':
        return token(byte, 'extension_name');
      case 'extension_name':
      case 'extension_value':
        return this.#afterExtension(byte);
      case 'size_end':
        this.#digits = 0;
        return expect(byte, newline, this.#left === 0 ? 'trailer_start' : 'data');
      case 'data_break':
        return expect(byte, carriage, 'data_end');
      case 'data_end':
        return expect(byte, newline, 'size');
      case 'trailer_start':
        return byte === carriage ? 'last_end' : token(byte, 'trailer_name');
      case 'trailer_name':
        return byte === colon ? 'trailer_value' : token(byte, 'trailer_name');
      case 'trailer_value':
        if (byte === carriage) return 'trailer_end';
        if ((byte < space && byte !== tab) || byte === del) throw bad();
        return 'trailer_value';
      case 'trailer_end':
        return expect(byte, newline, 'trailer_start');
      case 'last_end':
        return expect(byte, newline, 'over');
      case 'data':
      case 'over':
        return this.#state;
    }
  }

  #afterSize(byte: number): State {
    const digit = hexOf(byte);
    if (digit !== undefined && this.#digits < digitsMax) {
      this.#digits += 1;
      this.#left = this.#left * 16 + digit;
      return 'size';
    }
    if (this.#digits === 0) throw bad();
    if (byte === carriage) return 'size_end';
    if (byte === semicolon) return 'extension';
    throw bad();
  }

  /**
   * Refuses quoted values and spaces: no known server sends them, and parsers disagree about them.
   */
  #afterExtension(byte: number): State {
    if (byte === carriage) return 'size_end';
    if (byte === semicolon) return 'extension';
    if (byte === equals && this.#state === 'extension_name') return 'extension_value';
    return token(byte, this.#state);
  }
}

function expect(byte: number, expected: number, next: State): State {
  if (byte !== expected) throw bad();
  return next;
}

function token(byte: number, next: State): State {
  if (!tokenBytes.has(byte)) throw bad();
  return next;
}

function hexOf(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const small = byte | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : undefined;
}

function bad(): BadAnswer {
  return new BadAnswer('its chunked encoding cannot be parsed');
}

/** More digits would not fit into a safe integer. */
const digitsMax = 13;
const [tab, newline, carriage, space, semicolon] = [0x09, 0x0a, 0x0d, 0x20, 0x3b] as const;
const [colon, equals, del] = [0x3a, 0x3d, 0x7f] as const;
const tokenBytes = new Set(
  Buffer.from("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
);
