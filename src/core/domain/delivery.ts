// A delivery: one event on its way to one callback. It is named by the event and a number, so it
// needs no id of its own: `dlv_<event>_<n>`; an attempt is `att_<event>_<n>_<k>`.

export type DeliveryState = 'due' | 'running' | 'delivered' | 'dead' | 'cancelled';

export const deliveryStates: readonly DeliveryState[] = [
  'due',
  'running',
  'delivered',
  'dead',
  'cancelled',
];

export interface DeliveryName {
  event: string;
  n: number;
}

/**
 * The key of a delivery in maps. Most events have one delivery, and for it the key is the event's
 * own id: looking up an existing string is an order of magnitude faster than looking up one that
 * was just concatenated.
 */
export function deliveryKey({ event, n }: DeliveryName): string {
  return n === 0 ? event : `${event} ${n}`;
}

/** What a node needs to make an attempt: a delivery that it holds the lease of. */
export interface Leased extends DeliveryName {
  eventName: string;
  payload: Uint8Array;
  /** Trace context that the event was published with, if any. */
  trace: string | undefined;
  appNo: number;
  lane: number;
  callback: number;
  /** The version of the subscription when the lease was written. */
  version: number;
  /** How many deliveries of its lane may be in flight on a node; undefined: an adaptive limit. */
  concurrency: number | undefined;
  /** Attempts since it last became due by hand; the retry schedule counts these. */
  tries: number;
  /** Attempts in all; numbers the next one. */
  attempts: number;
  /** Fencing token: a settlement with another lease changes nothing. */
  lease: number;
}

export function deliveryId({ event, n }: DeliveryName): string {
  return `dlv_${event}_${n}`;
}

/** Parses a delivery id; undefined when the text is not one. */
export function parseDeliveryId(text: string): DeliveryName | undefined {
  const found = /^dlv_([0-7][0-9a-hjkmnp-tv-z]{25})_(0|[1-9][0-9]{0,8})$/.exec(text);
  if (found?.[1] === undefined) return undefined;
  return { event: found[1], n: Number(found[2]) };
}

export function attemptId({ event, n }: DeliveryName, k: number): string {
  return `att_${event}_${n}_${k}`;
}
