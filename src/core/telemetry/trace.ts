// Traces by W3C Trace Context: which call led to which, across processes and restarts. Ids that
// several nodes must agree on are derived from data that all of them have. Independent of the
// collector of spans.
import { hash } from 'node:crypto';
import type { DeliveryName, Leased } from '../domain/delivery.ts';
import { withoutHops } from '../domain/hops.ts';
import { limits } from '../limits/limits.ts';

/** A position in a trace: the next call names `spanId` as its parent. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** Whether the spans of this trace are collected. */
  isSampled: boolean;
  /** `tracestate`, which is passed on unchanged. */
  state: string | undefined;
}

/** A finished operation. Never contains a payload, a header or a secret. */
export interface Span {
  name: 'publish' | 'delivery' | 'attempt' | 'pass-through';
  kind: 'server' | 'internal' | 'client';
  /** Its own position in the trace. */
  context: TraceContext;
  /** The parent span; undefined when the trace begins here. */
  parentId: string | undefined;
  startMs: number;
  endMs: number;
  attributes: Readonly<Record<string, string | number | undefined>>;
  /** The error, if the operation failed. */
  error: string | undefined;
}

/** Collects spans. Without a tracer, the service only passes traces on. */
export interface Tracer {
  /** Whether a trace is collected: one that begins here, or one that continues `parent`. */
  isSampled(traceId: string, parent: TraceContext | undefined): boolean;
  /** Never throws, never blocks. */
  record(span: Span): void;
}

/** The trace context of a request; undefined when there is none or it is invalid. */
export function readTrace(header: ReadonlyMap<string, string>): TraceContext | undefined {
  const parent = header.get('traceparent');
  return parent === undefined ? undefined : parse(parent, header.get('tracestate'));
}

/** The form stored with an event: `traceparent`, then after a space `tracestate`. */
export function printTrace(context: TraceContext): string {
  const { state } = context;
  return state === undefined ? traceparentOf(context) : `${traceparentOf(context)} ${state}`;
}

export function parseTrace(kept: string): TraceContext | undefined {
  const text = withoutHops(kept);
  const space = text.indexOf(' ');
  if (space < 0) return parse(text, undefined);
  return parse(text.slice(0, space), text.slice(space + 1));
}

export function traceparentOf({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** The trace id of an event that was published without one; the same on all nodes. */
export function traceIdOf(event: string): string {
  return digits(`trace ${event}`, 32);
}

/**
 * The span id of a delivery; the same on all nodes until it ends, and new when it is sent again by
 * hand.
 */
export function deliverySpanId(leased: Pick<Leased, 'event' | 'n' | 'attempts' | 'tries'>): string {
  const earlier = leased.attempts - leased.tries;
  return digits(`delivery ${nameOf(leased)} ${earlier}`, 16);
}

/** The span id of the attempt made under a lease: there is at most one. */
export function attemptSpanId(leased: Pick<Leased, 'event' | 'n' | 'lease'>): string {
  return digits(`attempt ${nameOf(leased)} ${leased.lease}`, 16);
}

// A later version may append fields after a dash. An id of all zeros is invalid.
const traceparent =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

function parse(parent: string, state: string | undefined): TraceContext | undefined {
  if (parent.length > limits.traceCharsMax) return undefined;
  const [, version, traceId, spanId, flags, rest] = traceparent.exec(parent) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  const isSampled = (Number.parseInt(flags ?? '', 16) & 1) === 1;
  return { traceId, spanId, isSampled, state: isFit(state) ? state : undefined };
}

/** It is sent on as a header, so it must be a valid header value. */
function isFit(state: string | undefined): boolean {
  if (state === undefined || state.length > limits.traceCharsMax) return false;
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(state);
}

function nameOf({ event, n }: DeliveryName): string {
  return `${event} ${n}`;
}

function digits(text: string, count: number): string {
  return hash('sha256', text).slice(0, count);
}
