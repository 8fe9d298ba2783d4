// Converts failures, which cross the transport as plain values, to the errors of the Store port.
import type { StoreFailure, VerbFailure } from '../port/transport-protocol.ts';
import { StoreUnavailable, VerbFailed } from '../port/store.ts';

export function toError(failure: StoreFailure | VerbFailure): StoreUnavailable | VerbFailed {
  const { kind, message, trace } = failure;
  if (kind === 'failed') return new VerbFailed(message, { cause: trace });
  return new StoreUnavailable(`The store failed: ${message}`, { cause: trace });
}

/** For a rejection of a transport: the connection to the store failed. */
export function unreachable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  return new StoreUnavailable('Cannot reach the store', { cause: error });
}
