// Connections of hostile receivers: responses without end, byte by byte, or broken off.
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

export const head = 'HTTP/1.1 200 OK\r\n';

/**
 * Writes until the sender stops reading, up to fifty times what it should read. The limit keeps the system's
 * buffers small, because draining them takes time, too.
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

/** Writes a text byte by byte, too slowly for the deadline. */
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

/** Sends a text, then ends, destroys or resets the connection. */
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
/** 24 MiB compressed to 24 kB, created on first use. */
export function bomb(): Buffer {
  const body = made ?? gzipSync(Buffer.alloc(24 << 20));
  made = body;
  const length = `content-encoding: gzip\r\ncontent-length: ${body.length}`;
  return Buffer.concat([Buffer.from(`${head}${length}\r\n\r\n`), body]);
}
