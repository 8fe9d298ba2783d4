// Traces by W3C Trace Context: which call led to which, over processes and restarts. Ids that several
// nodes must agree on are made from what they all know; nothing here may know who collects spans.
import { hash } from 'node:crypto';
import type { DeliveryName, Leased } from './delivery.ts';
import { withoutHops } from './hops.ts';
import { limits } from './limits.ts';

/** Where one is in a trace: whoever is called next names `spanId` as its parent. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** Whether somebody collects the spans of this trace. */
  isSampled: boolean;
  /** `tracestate`: what others want to have passed on. */
  state: string | undefined;
}

/** Something that took time, when it is over. Never holds a payload, a header or a secret. */
export interface Span {
  name: 'publish' | 'delivery' | 'attempt';
  kind: 'server' | 'internal' | 'client';
  /** Its own place in the trace. */
  context: TraceContext;
  /** The span that led to it; undefined: the trace begins with it. */
  parentId: string | undefined;
  startMs: number;
  endMs: number;
  attributes: Readonly<Record<string, string | number | undefined>>;
  /** Why it counts as failed. */
  error: string | undefined;
}

/** Whoever collects spans. A program without one passes traces on, and that is all. */
export interface Tracer {
  /** Whether a trace is collected: one that begins here, or that the given one called for. */
  isSampled(traceId: string, parent: TraceContext | undefined): boolean;
  /** Never throws, never waits. */
  record(span: Span): void;
}

/** What a request says about the trace it belongs to; undefined where it says nothing readable. */
export function readTrace(header: ReadonlyMap<string, string>): TraceContext | undefined {
  const parent = header.get('traceparent');
  return parent === undefined ? undefined : parse(parent, header.get('tracestate'));
}

/** As it is kept with an event: `traceparent`, and after a space `tracestate`. */
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

/** The trace of an event that nobody gave one, the same on all nodes. */
export function traceIdOf(event: string): string {
  return digits(`trace ${event}`, 32);
}

/** Of a delivery, the same on all nodes until it ends; one that is sent again by hand has another. */
export function deliverySpanId(leased: Pick<Leased, 'event' | 'n' | 'attempts' | 'tries'>): string {
  const earlier = leased.attempts - leased.tries;
  return digits(`delivery ${nameOf(leased)} ${earlier}`, 16);
}

/** Of the attempt that is made under a lease: there is at most one. */
export function attemptSpanId(leased: Pick<Leased, 'event' | 'n' | 'lease'>): string {
  return digits(`attempt ${nameOf(leased)} ${leased.lease}`, 16);
}

// A later version may say more behind a dash. Zeros alone are no id.
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

/** It goes on as a header, so it must be one. */
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
