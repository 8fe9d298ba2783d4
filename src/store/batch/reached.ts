// The reply of the store, or the failure of the transport.
import type { StoreFailure } from '../port/transport-protocol.ts';
import { toError, unreachable } from './failure-to-error.ts';
import { StoreUnavailable } from '../port/store.ts';

interface Unreached {
  kind: 'unreached';
  error: Error;
}

export async function reached<R>(asked: Promise<R>): Promise<R | Unreached> {
  try {
    return await asked;
  } catch (error) {
    return { kind: 'unreached', error: unreachable(error) };
  }
}

export function failureOf(failure: StoreFailure | Unreached): Error {
  return failure.kind === 'unreached' ? failure.error : toError(failure);
}

export function tooShort(): Error {
  return new StoreUnavailable('The store failed: its reply does not answer every call');
}
