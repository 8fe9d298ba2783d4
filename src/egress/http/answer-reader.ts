// Reads a response from the bytes of a connection: interim heads, the final head, the body. Written
// by hand because undici's parsing doubled the cost of a callback: decision 0021. Everything is
// bounded by its size on the wire.
import {
  answerPrefix,
  AnswerTooLong,
  BadAnswer,
  parseHead,
  type AnswerHead,
} from './answer-head.ts';
import { Chunks } from './chunks.ts';

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
    if (end < 0 && !beginsWell(bytes, from))
      throw new BadAnswer('it does not start with a status line');
    if (end < 0 && hasLoneBreak(bytes, from + had))
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

function beginsWell(bytes: Buffer, from: number): boolean {
  return answerPrefix.startsWith(bytes.toString('latin1', from, from + answerPrefix.length));
}

/** Refuses bare line feeds: with them the head would never end. */
function hasLoneBreak(bytes: Buffer, from: number): boolean {
  for (let at = bytes.indexOf(newline, from); at >= 0; at = bytes.indexOf(newline, at + 1)) {
    if (bytes[at - 1] !== carriage) return true;
  }
  return false;
}

const [newline, carriage] = [0x0a, 0x0d] as const;
const headEnd = Buffer.from('\r\n\r\n');
const nothing: Buffer = Buffer.alloc(0);
