// The headers of a callback request: what it is about, who sends it, and the signature. Headers that
// a subscription adds are checked where they are set, and come after these.
import assert from 'node:assert/strict';
import type { Header } from '../core/attempt.ts';
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
  /** Of this attempt: receivers refuse old ones. */
  readonly timestampS: number;
  /** What sign() made of the same id, timestamp and payload. */
  readonly signature: string;
  /** `traceparent` and `tracestate`, where the event belongs to a trace. */
  readonly trace?: readonly Header[];
  /** What the subscription adds. */
  readonly added?: readonly Header[];
}

export function callbackHeaders(facts: CallbackFacts): Header[] {
  const { added = [] } = facts;
  const headers: Header[] = [
    ...(facts.mediaType === undefined ? [] : [['content-type', facts.mediaType] as const]),
    ['webhook-id', facts.eventId],
    ['webhook-timestamp', String(facts.timestampS)],
    ['webhook-signature', facts.signature],
    ['ringback-event', facts.eventName],
    ['ringback-delivery', facts.delivery],
    ['ringback-subscription', facts.subscription],
    ['ringback-attempt', String(facts.attempt)],
    ...(facts.trace ?? []),
    ['user-agent', userAgent],
    ['accept-encoding', 'identity'], // An answer is kept as it came; nothing here unpacks.
    ...(added.some(([name]) => name.toLowerCase() === 'accept') ? [] : [anything]),
    ...added,
  ];
  for (const [name, value] of headers) {
    // All were checked where they came in. A line break here would be a header of somebody's choice.
    assert(printable.test(value), `Cannot send header ${name}: expected printable ASCII.`);
  }
  return headers;
}

const anything: Header = ['accept', '*/*'];
const userAgent = `Ringback/${version}`;
const printable = /^[\x20-\x7e]+$/;
