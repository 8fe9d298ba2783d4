// The headers of a callback request: what it is about, who sends it, and the signature. Headers that
// a subscription adds are checked where they are set, and come after these.
import assert from 'node:assert/strict';
import type { Header } from '../core/attempt.ts';
import { hopsHeader } from '../core/hops.ts';
import { version } from '../core/version.ts';

export interface CallbackFacts {
  /** Of the payload; undefined where none is sent. */
  readonly mediaType: string | undefined;
  /** `evt_…`: the same in every attempt of every delivery of the event. */
  readonly eventId: string;
  readonly eventName: string;
  /** `dlv_…` */
  readonly delivery: string;
  /** `sub_…` */
  readonly subscription: string;
  /** From 1. */
  readonly attempt: number;
  /** From 1: callbacks that led here, one after the other, this one included. */
  readonly hops: number;
  /** Of this attempt: receivers refuse old ones. */
  readonly timestampS: number;
  /** What sign() made of the same id, timestamp and payload. */
  readonly signature: string;
  /** `traceparent` and `tracestate`, where the event belongs to a trace. */
  readonly trace?: readonly Header[];
  /** What the subscription adds. */
  readonly added?: readonly Header[];
}

/**
 * Names and values in turn. As pairs, with lists put into lists, it was a tenth of all that
 * was allocated for a callback.
 */
export function callbackHeaders(facts: CallbackFacts): string[] {
  const { mediaType, trace = [], added = [] } = facts;
  const headers = [
    'webhook-id',
    facts.eventId,
    'webhook-timestamp',
    String(facts.timestampS),
    'webhook-signature',
    facts.signature,
    'ringback-event',
    facts.eventName,
    'ringback-delivery',
    facts.delivery,
    'ringback-subscription',
    facts.subscription,
    'ringback-attempt',
    String(facts.attempt),
    hopsHeader,
    String(facts.hops),
    'user-agent',
    userAgent,
    'accept-encoding',
    'identity', // An answer is kept as it came; nothing here unpacks.
  ];
  if (mediaType !== undefined) headers.push('content-type', mediaType);
  for (const [name, value] of trace) headers.push(name, value);
  if (!added.some(([name]) => name.toLowerCase() === 'accept')) headers.push('accept', '*/*');
  for (const [name, value] of added) headers.push(name, value);
  for (let at = 1; at < headers.length; at += 2) {
    // All were checked where they came in. A line break here would be a header of somebody's choice.
    if (printable.test(headers[at] ?? '')) continue;
    assert.fail(`Cannot send header ${headers[at - 1]}: expected printable ASCII.`);
  }
  return headers;
}

const userAgent = `Ringback/${version}`;
const printable = /^[\x20-\x7e]+$/;
