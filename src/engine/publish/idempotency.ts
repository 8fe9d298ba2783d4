// Idempotency keys: the fingerprint that identifies a repeated request, and the error for a key
// that is used for two different requests. The store keeps the keys: sqlite/publish/publish.ts for
// publishes, postgres/shared/idempotency.ts for publishes and subscribes, many at once, and
// verbs/shared/idempotency.ts for everything else.
import { createHash } from 'node:crypto';
import type { Actor } from '../../core/domain/app.ts';
import { Problem } from '../../core/errors/problem.ts';
import type { Idempotency } from '../../store/port/store.ts';

export interface KeyedRequest {
  key: string;
  operation: string;
  /** Everything that distinguishes the request from another one. */
  parts: readonly (string | Uint8Array)[];
}

/**
 * The key is bound to the operation and to the customer of the caller, so that others may use the same one, and never get
 * the answer of this one.
 */
export function idempotencyOf(
  { key, operation, parts }: KeyedRequest,
  { customer }: Pick<Actor, 'customer'>,
): Idempotency {
  const owner = customer === undefined ? [] : [customer];
  return { key: digest([operation, key, ...owner]).subarray(0, 16), print: digest(parts) };
}

export function idempotencyMismatch(): Problem {
  const detail =
    'The Idempotency-Key was used for another request within the last 24 hours: expected ' +
    'the same request, or a new key';
  const faults = [{ field: 'header.Idempotency-Key', message: 'was used for another request' }];
  return new Problem('idempotency_mismatch', detail, { faults });
}

/** Hashes the digests of the parts, so that `ab`, `c` and `a`, `bc` differ. */
function digest(parts: readonly (string | Uint8Array)[]): Uint8Array {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(createHash('sha256').update(part).digest());
  return hash.digest();
}
