// What is kept of an answer: some headers and the beginning of the body, both bounded whatever the
// receiver sends. Cookies are never kept: they are credentials, and nobody here sends them back.
import type { Header } from '../core/attempt.ts';
import { limits } from '../core/limits.ts';

export function keepHeaders(headers: readonly Header[]): Header[] {
  const kept: Header[] = [];
  for (const header of headers) {
    const [name, value] = header;
    if (kept.length === limits.responseHeadersMax) break;
    if (name === 'set-cookie' || name.length > limits.responseHeaderNameCharsMax) continue;
    const { responseHeaderCharsMax: most } = limits;
    kept.push(value.length > most ? [name, value.slice(0, most)] : header);
  }
  return kept;
}

// One buffer that grows, not a list of chunks: 16 KiB in chunks of one byte would be 16,384 objects, and where
// a chunk lies, what another receiver says may land in the next moment (connect.ts).
export class KeptBody {
  readonly #bytesMax: number;
  #buffer = nothing;
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Copies what fits. Says `full` when something did not. */
  add(chunk: Uint8Array): 'fits' | 'full' {
    const room = this.#bytesMax - this.#length;
    const part = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.#reserve(this.#length + part.length);
    this.#buffer.set(part, this.#length);
    this.#length += part.length;
    return part === chunk ? 'fits' : 'full';
  }

  bytes(): Uint8Array {
    const { length } = this.#buffer;
    return this.#length === length ? this.#buffer : this.#buffer.subarray(0, this.#length);
  }

  // The first chunk is mostly the only one, so it gets exactly its size.
  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const size = Math.min(this.#bytesMax, Math.max(bytes, 2 * this.#buffer.length));
    const grown = new Uint8Array(size);
    if (this.#length > 0) grown.set(this.#buffer);
    this.#buffer = grown;
  }
}

const nothing = new Uint8Array(0);
