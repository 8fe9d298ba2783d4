// The headers of a callback request: what it is about, who sends it, and the signature. Headers
// that a subscription adds are validated when they are set, and come last.
import assert from 'node:assert/strict';
import type { Header } from '../../core/domain/attempt.ts';
import { hopsHeader } from '../../core/domain/hops.ts';
import { nameInHeader } from '../../core/domain/pattern.ts';
import { version } from '../../core/base/package.ts';

export interface CallbackFacts {
  /** Media type of the payload; undefined without a payload. */
  readonly mediaType: string | undefined;
  /** `evt_…`: the same in every attempt of every delivery of the event. */
  readonly eventId: string;
  readonly eventName: string;
  /** `dlv_…` */
  readonly delivery: string;
  /** `sub_…` */
  readonly subscription: string;
  /** Counted from 1. */
  readonly attempt: number;
  /** Counted from 1: callbacks in the chain that led here, this one included. */
  readonly hops: number;
  /** Time of this attempt: receivers refuse old ones. */
  readonly timestampS: number;
  /** The result of sign() for the same id, timestamp and payload. */
  readonly signature: string;
  /** `traceparent` and `tracestate`, if the event belongs to a trace. */
  readonly trace?: readonly Header[];
  /** Headers that the subscription adds. */
  readonly added?: readonly Header[];
}

/**
 * Alternating names and values: a list of pairs, merged from several lists, was a tenth of all
 * allocation of a callback.
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
    nameInHeader(facts.eventName),
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
    'identity', // The response is stored as received, never decompressed.
  ];
  if (mediaType !== undefined) headers.push('content-type', mediaType);
  for (const [name, value] of trace) headers.push(name, value);
  if (!added.some(([name]) => name.toLowerCase() === 'accept')) headers.push('accept', '*/*');
  for (const [name, value] of added) headers.push(name, value);
  for (let at = 1; at < headers.length; at += 2) {
    // All values were validated on input. This is the last check, since a line break would inject a
    // header.
    if (printable.test(headers[at] ?? '')) continue;
    assert.fail(`Cannot send header ${headers[at - 1]}: expected printable ASCII.`);
  }
  return headers;
}

const userAgent = `Ringback/${version}`;
const printable = /^[\x20-\x7e]+$/;
