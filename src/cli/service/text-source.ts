// Reads bytes from a file or, for "-", from standard input.
import { createReadStream } from 'node:fs';
import { CliFailure } from '../terminal/failure.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function sourceOf(
  name: string,
  terminal: Pick<Terminal, 'input'>,
): AsyncIterable<Uint8Array> {
  return name === '-' ? terminal.input.bytes() : fileBytes(name);
}

/** Reads all of it; throws if it is longer than `bytesMax`. */
export async function readAll(
  source: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of source) {
    parts.push(part);
    bytes += part.length;
    if (bytes > bytesMax)
      throw new CliFailure(`Cannot read the input: it is larger than ${bytesMax} bytes`);
  }
  return Buffer.concat(parts);
}

async function* fileBytes(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of createReadStream(path)) yield Buffer.from(chunk);
  } catch (cause) {
    if (cause instanceof CliFailure) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliFailure(`Cannot read "${path}": ${why}`, { cause });
  }
}
