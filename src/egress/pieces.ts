// Lets a socket be read in small pieces only, and no more of it than an answer may have: on the wire, whatever
// it is made of. Undici counts names and values of headers only; it notices within a piece that a head is
// too long, and still works through the rest of it, at 10 µs a header; and what is neither header nor body
// it reads for ever. Measured, CPU for one receiver that never ends its headers: 70 to 105 ms without
// this, 0.5 to 1 ms with it. A window full of receivers that send ten thousand empty ones kept a node from
// everything else for six seconds, and took 500 MiB.
import type { Socket } from 'node:net';
import { limits } from '../core/limits.ts';

/** How much may still be read. */
export interface Allowance {
  bytes: number;
  lines: number;
}

export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

export function inPieces<T extends Socket>(socket: T, allowance: Allowance): T {
  const read = socket.read.bind(socket);
  socket.read = (bytes?: number): unknown => {
    // What has come for a socket that was given up is for nobody.
    if (socket.destroyed) return null;
    const there = socket.readableLength;
    // Only now: in a piece that went before, a head may have ended, and what follows it is not counted.
    if (there > 0 && allowance.lines < 0) {
      socket.destroy(new AnswerTooLong('More lines have come than expected'));
      return null;
    }
    if (there > 0 && allowance.bytes <= 0) {
      socket.destroy(new AnswerTooLong(`More has come than expected: ${there} bytes`));
      return null;
    }
    const most = Math.min(limits.responsePieceBytesMax, allowance.bytes);
    const piece: unknown = read(bytes ?? (there > most ? most : undefined));
    if (!(piece instanceof Uint8Array)) return piece;
    allowance.bytes -= piece.length;
    if (allowance.lines < Infinity) allowance.lines -= linesIn(piece);
    return piece;
  };
  return socket;
}

function linesIn(piece: Uint8Array): number {
  let lines = 0;
  for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, at + 1)) lines += 1;
  return lines;
}

const newline = 10;
