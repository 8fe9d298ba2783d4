// Decodes a chunked body (RFC 9112, 7.1), however it is split. Extensions and trailers are ignored
// but must be valid, or the end of the body would be uncertain. The caller limits their length.
import { BadAnswer } from './answer-head.ts';

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
