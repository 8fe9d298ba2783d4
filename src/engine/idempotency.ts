// Idempotency keys: what is kept of a request so that its repetition is known, and what a caller hears
// who uses one key for two requests.
import { createHash } from 'node:crypto';
import { Problem } from '../core/problem.ts';
import type { Idempotency } from '../store/store.ts';

export interface KeyedRequest {
  key: string;
  operation: string;
  /** All that makes the request what it is. */
  parts: readonly (string | Uint8Array)[];
}

/** The key is bound to the operation, so that it may be used for another one as well. */
export function idempotencyOf({ key, operation, parts }: KeyedRequest): Idempotency {
  return { key: digest([operation, key]).subarray(0, 16), print: digest(parts) };
}

export function idempotencyMismatch(): Problem {
  const detail =
    'The Idempotency-Key was used for another request within the last 24 hours: expected ' +
    'the same request, or a new key';
  const faults = [{ field: 'header.Idempotency-Key', message: 'was used for another request' }];
  return new Problem('idempotency_mismatch', detail, { faults });
}

/** Of the parts' own digests, so that `ab`, `c` and `a`, `bc` differ. */
function digest(parts: readonly (string | Uint8Array)[]): Uint8Array {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(createHash('sha256').update(part).digest());
  return hash.digest();
}
