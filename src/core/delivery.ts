// A delivery: one event on its way to one callback. Named by the event and a number, so that it needs
// no id of its own: `dlv_<event>_<n>`; an attempt is `att_<event>_<n>_<k>`.

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
 * For maps. Most events have one delivery: kept, found and deleted by the event's own id it takes 0.1 µs, by a text
 * that is made of both 1.3.
 */
export function deliveryKey({ event, n }: DeliveryName): string {
  return n === 0 ? event : `${event} ${n}`;
}

/** What a node needs to make an attempt: a delivery it holds the lease of. */
export interface Leased extends DeliveryName {
  eventName: string;
  payload: Uint8Array;
  /** Where it was published, in a trace; undefined: nobody said. */
  trace: string | undefined;
  appNo: number;
  lane: number;
  callback: number;
  /** The version of the subscription when the lease was written. */
  version: number;
  /** How many of its lane may be under way on a node; undefined: as many as the receiver takes well. */
  concurrency: number | undefined;
  /** Attempts made since it last became due by hand; the schedule counts these. */
  tries: number;
  /** Attempts made in all; numbers the next one. */
  attempts: number;
  /** Proof of the lease: a settle with another one changes nothing. */
  lease: number;
}

export function deliveryId({ event, n }: DeliveryName): string {
  return `dlv_${event}_${n}`;
}

/** The delivery's name, or undefined when the text is no delivery id. */
export function parseDeliveryId(text: string): DeliveryName | undefined {
  const found = /^dlv_([0-7][0-9a-hjkmnp-tv-z]{25})_(0|[1-9][0-9]{0,8})$/.exec(text);
  if (found?.[1] === undefined) return undefined;
  return { event: found[1], n: Number(found[2]) };
}

export function attemptId({ event, n }: DeliveryName, k: number): string {
  return `att_${event}_${n}_${k}`;
}
