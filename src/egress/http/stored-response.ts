// The part of a response that is stored: some headers and the beginning of the body, both bounded
// whatever the receiver sends. Cookies are never stored: they are credentials, and Ringback never
// sends them back.
import type { Header } from '../../core/domain/attempt.ts';
import { limits } from '../../core/limits/limits.ts';

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

// One growing buffer, not a list of chunks: 16 KiB in one-byte chunks would be 16,384 objects, and
// the memory of a chunk is reused for the next read of any receiver (connect.ts).
export class KeptBody {
  readonly #bytesMax: number;
  #buffer = nothing;
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Copies what fits. Returns `full` when something did not fit. */
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

  // Most responses have a single chunk, so the first one gets exactly its size.
  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const size = Math.min(this.#bytesMax, Math.max(bytes, 2 * this.#buffer.length));
    const grown = new Uint8Array(size);
    if (this.#length > 0) grown.set(this.#buffer);
    this.#buffer = grown;
  }
}

const nothing = new Uint8Array(0);
