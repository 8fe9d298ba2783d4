// A delivery: one event on its way to one callback. It is named by the event and a number, so it
// needs no id of its own: `dlv_<event>_<n>`; an attempt is `att_<event>_<n>_<k>`.
import { patternsFor } from './pattern.ts';

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

// A lease as one number, holder and fencing token at once: the node's incarnation, then a counter.
// It distinguishes leases of a node that was declared gone from those of its next incarnation.

const leasesPerNode = 2 ** 32;

export function leaseOf(node: number, count: number): number {
  return node * leasesPerNode + count;
}

/** The node that holds the lease. */
export function holderOf(lease: number): number {
  return Math.floor(lease / leasesPerNode);
}

// Whether an ended delivery matches a filter. Pure, so that a replay, its dry run and a list apply
// a filter in the same way.

/** How a delivery can have ended; `ended` means any of these. */
export const endedStates = ['delivered', 'dead', 'cancelled', 'ended'] as const;
export type EndedState = (typeof endedStates)[number];

export interface EndedFilter {
  state: EndedState;
  /** An event name, or a pattern that matches it. */
  event: string | undefined;
  /** Of the event. */
  subject: string | undefined;
  /** Of the subscription. */
  customer: string | undefined;
  /** Bare id. */
  subscription: string | undefined;
  /** A class (`4xx`) or a code (`404`) of the last response. */
  status: string | undefined;
  /** Error of the last attempt; or why it is dead: `expired`, `exhausted`. */
  error: string | undefined;
}

/** How a delivery ended, from its own row. */
export interface Ending {
  state: DeliveryState;
  status: number | undefined;
  error: string | undefined;
}

export function fitsEnding(
  found: Ending,
  { state, status, error }: Pick<EndedFilter, 'state' | 'status' | 'error'>,
): boolean {
  return (
    (found.state === state || (state === 'ended' && isEnded(found.state))) &&
    (status === undefined || fitsStatus(found.status, status)) &&
    (error === undefined || fitsError(found, error))
  );
}

export function fitsEvent(name: string, pattern: string | undefined): boolean {
  return pattern === undefined || patternsFor(name).includes(pattern);
}

function isEnded(state: DeliveryState): boolean {
  return state === 'delivered' || state === 'dead' || state === 'cancelled';
}

function fitsStatus(found: number | undefined, status: string): boolean {
  if (found === undefined) return false;
  const isClass = status.endsWith('xx');
  return isClass ? String(found).charAt(0) === status.charAt(0) : String(found) === status;
}

/** A dead delivery keeps the error of its last attempt, unless it expired. */
function fitsError(found: Ending, error: string): boolean {
  if (error === 'exhausted') return found.state === 'dead' && found.error !== 'expired';
  return found.error === error;
}
