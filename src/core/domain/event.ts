// An event: something that happened, with a name and a payload. The payload is bytes, kept and sent
// exactly as published; it is never parsed and printed again.

export interface Event {
  id: string;
  appNo: number;
  name: string;
  /** What it is about, if its publisher says so. */
  subject: string | undefined;
  payload: Uint8Array;
  createdMs: number;
  /** Number of its deliveries; undefined while a large fan-out is in progress. */
  deliveries: number | undefined;
  /** Why it was never delivered: it was published by SQL and violates the contract. */
  rejected: string | undefined;
}

/** Ringback's own events begin with this; the pattern `*` does not match them. */
export const ownPrefix = 'ringback.';

export const pingEvent = 'ringback.ping';
