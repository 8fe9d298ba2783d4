// Failures cross the border as plain values; here they become the errors of the port again.
import type { StoreFailure, VerbFailure } from './call.ts';
import { StoreUnavailable, VerbFailed } from './store.ts';

export function rebuild(failure: StoreFailure | VerbFailure): StoreUnavailable | VerbFailed {
  const { kind, message, trace } = failure;
  if (kind === 'failed') return new VerbFailed(message, { cause: trace });
  return new StoreUnavailable(`The store failed: ${message}`, { cause: trace });
}

/** For what a transport rejects with: the way to the store is broken. */
export function unreachable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  return new StoreUnavailable('Cannot reach the store', { cause: error });
}
