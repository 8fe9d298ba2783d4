// How receivers serve a connection that mean no good: without an end, byte by byte, or until it breaks.
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

export const head = 'HTTP/1.1 200 OK\r\n';

/**
 * Writes until nobody reads any more, or fifty times what anybody should: what is left in the buffers of the
 * system costs time, too.
 */
export function endlessly(first: string, again: string | Uint8Array): (socket: Socket) => void {
  const piece = Buffer.from(again);
  return (socket) => {
    const pour = (): void => {
      while (!socket.destroyed && socket.bytesWritten < floodBytes && socket.write(piece));
    };
    socket.on('drain', pour);
    socket.once('data', () => {
      socket.write(first);
      pour();
    });
  };
}

const floodBytes = 1 << 20;

/** Writes a text byte by byte, far too slowly. */
export function dripping(first: string, rest: string): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', () => {
      socket.write(first);
      let at = 0;
      const timer = setInterval(() => socket.write(rest.charAt(at++ % rest.length)), 100);
      socket.on('close', () => clearInterval(timer));
    });
  };
}

/** Sends this and then ends, or worse. */
export function thenEnds(text: string, how: 'end' | 'destroy' | 'reset'): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', () => {
      socket.write(text, () => {
        if (how === 'end') socket.end();
        else if (how === 'destroy') socket.destroy();
        else socket.resetAndDestroy();
      });
    });
  };
}

let made: Buffer | undefined;
/** 24 MiB in 24 kB, made when the first one is needed. */
export function bomb(): Buffer {
  const body = made ?? gzipSync(Buffer.alloc(24 << 20));
  made = body;
  const length = `content-encoding: gzip\r\ncontent-length: ${body.length}`;
  return Buffer.concat([Buffer.from(`${head}${length}\r\n\r\n`), body]);
}
