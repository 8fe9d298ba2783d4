// The trace context of requests, deliveries and attempts. Without a tracer the publisher's context
// is passed on unchanged, so that it is the receiver's parent; with one, our spans are in between.
import type { Header } from '../../core/domain/attempt.ts';
import { deliveryId, type Leased } from '../../core/domain/delivery.ts';
import { timeOf, withPrefix } from '../../core/base/id.ts';
import { plainUrl } from '../../core/secrets/redact.ts';
import {
  attemptSpanId,
  deliverySpanId,
  parseTrace,
  traceIdOf,
  traceparentOf,
  type Span,
  type TraceContext,
  type Tracer,
} from '../../core/telemetry/trace.ts';
import type { World } from '../../core/base/world.ts';
import type { Settlement } from '../../store/port/delivery-verbs.ts';
import type { KnownTarget } from '../targets/prepared-target.ts';

/** A span that has not ended. */
export interface StartedTrace {
  context: TraceContext;
  parentId: string | undefined;
}

/** Begins a span for a publish request; without a tracer, returns the caller's own context. */
export function beginTrace(
  { tracer, world }: { tracer?: Tracer | undefined; world: Pick<World, 'randomBytes'> },
  caller: TraceContext | undefined,
): StartedTrace | undefined {
  if (tracer === undefined) return caller && { context: caller, parentId: undefined };
  const traceId = caller?.traceId ?? hex(world.randomBytes(16));
  const isSampled = tracer.isSampled(traceId, caller);
  const spanId = hex(world.randomBytes(8));
  return {
    context: { traceId, spanId, isSampled, state: caller?.state },
    parentId: caller?.spanId,
  };
}

/** The delivery's span, which is the parent of its attempts. */
export function deliveryTrace(
  tracer: Tracer | undefined,
  leased: Leased,
): StartedTrace | undefined {
  const { event, trace } = leased;
  const published = trace === undefined ? undefined : parseTrace(trace);
  if (tracer === undefined) return published && { context: published, parentId: undefined };
  const spanId = deliverySpanId(leased);
  if (published !== undefined) {
    return { context: { ...published, spanId }, parentId: published.spanId };
  }
  const traceId = traceIdOf(event);
  const isSampled = tracer.isSampled(traceId, undefined);
  return { context: { traceId, spanId, isSampled, state: undefined }, parentId: undefined };
}

/** The headers for the receiver, whose parent is the attempt if there is a tracer. */
export function traceHeaders(tracer: Tracer | undefined, leased: Leased): Header[] {
  const delivery = deliveryTrace(tracer, leased);
  if (delivery === undefined) return [];
  const { context } = delivery;
  const sent = tracer === undefined ? context : { ...context, spanId: attemptSpanId(leased) };
  const parent = ['traceparent', traceparentOf(sent)] as const;
  return sent.state === undefined ? [parent] : [parent, ['tracestate', sent.state]];
}

export interface Traced {
  leased: Leased;
  settlement: Settlement;
  target: KnownTarget;
}

/** The span of the attempt in a settlement; undefined if none was made. */
export function attemptSpan(
  delivery: StartedTrace,
  { leased, settlement, target }: Traced,
): Span | undefined {
  const { attempt } = settlement;
  if (attempt === undefined) return undefined;
  const { startedMs, tookMs, status, error, request } = attempt;
  const url = URL.parse(request.url);
  return {
    name: 'attempt',
    kind: 'client',
    context: { ...delivery.context, spanId: attemptSpanId(leased) },
    parentId: delivery.context.spanId,
    startMs: startedMs,
    endMs: startedMs + tookMs,
    attributes: {
      ...namesOf(leased, target),
      'ringback.attempt': leased.attempts + 1,
      'ringback.outcome': settlement.outcome.kind,
      'http.request.method': request.method,
      'http.response.status_code': status,
      'server.address': url?.hostname.replaceAll(/[[\]]/g, ''),
      'server.port': url === null ? undefined : portOf(url),
      'url.full': plainUrl(request.url),
      'error.type': error === 'status' ? String(status) : error,
    },
    error,
  };
}

/** The span of a delivery that has ended. */
export function deliverySpan(
  { context, parentId }: StartedTrace,
  { leased, settlement, target }: Traced,
  endMs: number,
): Span {
  const { outcome, attempt } = settlement;
  const isDead = outcome.kind === 'dead';
  return {
    name: 'delivery',
    kind: 'internal',
    context,
    parentId,
    startMs: Math.min(timeOf(leased.event), endMs),
    endMs,
    attributes: {
      ...namesOf(leased, target),
      'ringback.attempts': leased.attempts + (attempt === undefined ? 0 : 1),
      'ringback.outcome': outcome.kind,
      'error.type': isDead ? outcome.reason : undefined,
    },
    error: isDead ? outcome.reason : undefined,
  };
}

function namesOf(leased: Leased, target: KnownTarget): Span['attributes'] {
  return {
    'ringback.app': withPrefix('app', target.appId),
    'ringback.event': withPrefix('evt', leased.event),
    'ringback.event_name': leased.eventName,
    'ringback.delivery': deliveryId(leased),
    'ringback.subscription': withPrefix('sub', target.subscription),
  };
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
