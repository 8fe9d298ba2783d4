// An event: something that happened, a name and a payload. The payload is bytes, kept and sent as they
// were published; nothing in between parses and prints them again.

export interface Event {
  id: string;
  appNo: number;
  name: string;
  payload: Uint8Array;
  createdMs: number;
  /** How many deliveries it has; undefined while a large fan-out is under way. */
  deliveries: number | undefined;
  /** Why it was not sent to anybody: it came by SQL and broke the contract. */
  rejected: string | undefined;
}

/** Events of Ringback itself begin like this; `*` does not hear them. */
export const ownPrefix = 'ringback.';

export const pingEvent = 'ringback.ping';
