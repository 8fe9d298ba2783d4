// An event: something that happened, with a name and a payload. The payload is bytes, kept and sent
// exactly as published; it is never parsed and printed again.

export interface Event {
  id: string;
  appNo: number;
  name: string;
  /** What it is about, if its publisher says so. */
  subject: string | undefined;
  /** Only subscriptions of this customer receive it. */
  customer: string | undefined;
  payload: Uint8Array;
  createdMs: number;
  /** Number of its deliveries; undefined while a large fan-out is in progress. */
  deliveries: number | undefined;
  /** Why it was never delivered: it was published by SQL and violates the contract. */
  rejected: string | undefined;
  /** The callbacks that it does not reach although they match it. */
  skipped: readonly SkippedCallback[] | undefined;
}

/** A callback of the contract whose schema the payload of an event violates, while it fits another one. */
export interface SkippedCallback {
  /** The operation that declares it. */
  operation: string;
  definition: string;
  reason: string;
}

export const eventTypeStates = ['active', 'deprecated'] as const;

/** What an app declares of its events with this name. */
export interface EventType {
  name: string;
  /** JSON Schema of the payload, as JSON. */
  schema: string;
  description: string | undefined;
  /** As JSON. */
  example: string | undefined;
  /** Events of a deprecated type can still be published. */
  state: (typeof eventTypeStates)[number];
  /** Rises when the schema changes. */
  version: number;
  createdMs: number;
  updatedMs: number;
}

/** Ringback's own events begin with this; the pattern `*` does not match them. */
export const ownPrefix = 'ringback.';

export const pingEvent = 'ringback.ping';
