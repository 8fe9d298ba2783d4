// A body in chunks (RFC 9112, 7.1), in whatever pieces it comes. Extensions and trailers are passed over: nobody
// here reads them, and how long they may be is the reader's business.
import { BadAnswer } from './answer-head.ts';

type State =
  | 'size'
  | 'extension'
  | 'size_end'
  | 'data'
  | 'data_break'
  | 'data_end'
  | 'trailer_start'
  | 'trailer'
  | 'trailer_end'
  | 'last_end'
  | 'over';

export class Chunks {
  #state: State = 'size';
  #digits = 0;
  /** Of the size while it is read, then of the data that is still to come. */
  #left = 0;

  get isOver(): boolean {
    return this.#state === 'over';
  }

  /** Up to the end of the body at most, from `at`; says where it stopped. */
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
        if (byte === newline) throw bad();
        return byte === carriage ? 'size_end' : 'extension';
      case 'size_end':
        this.#digits = 0;
        return expect(byte, newline, this.#left === 0 ? 'trailer_start' : 'data');
      case 'data_break':
        return expect(byte, carriage, 'data_end');
      case 'data_end':
        return expect(byte, newline, 'size');
      case 'trailer_start':
        return byte === carriage ? 'last_end' : 'trailer';
      case 'trailer':
        if (byte === newline) throw bad();
        return byte === carriage ? 'trailer_end' : 'trailer';
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
    if (byte === semicolon || byte === space || byte === tab) return 'extension';
    throw bad();
  }
}

function expect(byte: number, expected: number, next: State): State {
  if (byte !== expected) throw bad();
  return next;
}

function hexOf(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const small = byte | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : undefined;
}

function bad(): BadAnswer {
  return new BadAnswer('its chunks cannot be read');
}

/** More would not be a safe integer. */
const digitsMax = 13;
const [tab, newline, carriage, space, semicolon] = [0x09, 0x0a, 0x0d, 0x20, 0x3b] as const;
