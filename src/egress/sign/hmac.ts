// HMAC-SHA256 (RFC 2104) as two one-shot hashes in reused memory. Node's `createHmac` creates an
// object outside the heap for each signature: 4.2 instead of 2.0 µs for 500 bytes.
import { createHmac, hash } from 'node:crypto';

const blockBytes = 64;
const digestBytes = 32;
/** Longer messages use `createHmac`, because this memory is never freed. */
const messageBytesMax = 16 * 1024;
const inner = Buffer.alloc(blockBytes + messageBytesMax);
const outer = Buffer.alloc(blockBytes + digestBytes);

/** The signature of `prefix` followed by `payload`, in base64. */
export function hmacSha256(key: Uint8Array, prefix: string, payload: Uint8Array): string {
  const charBytesMax = 3;
  const isLong = charBytesMax * prefix.length + payload.length > messageBytesMax;
  if (isLong || key.length > blockBytes) {
    return createHmac('sha256', key).update(prefix).update(payload).digest('base64');
  }
  for (let at = 0; at < blockBytes; at += 1) {
    const byte = key[at] ?? 0;
    inner[at] = byte ^ 0x36;
    outer[at] = byte ^ 0x5c;
  }
  const payloadAt = blockBytes + inner.write(prefix, blockBytes);
  inner.set(payload, payloadAt);
  // As latin1 text, because a buffer for each digest would take a microsecond more.
  const digest = hash('sha256', inner.subarray(0, payloadAt + payload.length), 'latin1');
  outer.write(digest, blockBytes, 'latin1');
  return hash('sha256', outer, 'base64');
}
