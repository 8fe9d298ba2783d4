// The tracer on top of OpenTelemetry's SDK: finished spans go into its bounded queue and are sent
// by OTLP. The SDK is loaded only when tracing is on. A slow or absent collector costs its spans
// and nothing else: the service never waits for it, except briefly at shutdown.
import type { TraceState } from '@opentelemetry/api';
import type { ReadableSpan, Sampler } from '@opentelemetry/sdk-trace';
import { limits } from '../core/limits/limits.ts';
import type { Span, TraceContext, Tracer } from '../core/telemetry/trace.ts';
import { version } from '../core/base/package.ts';
import type { World } from '../core/base/world.ts';
import type { TracingSettings } from './settings.ts';

export interface TracerDeps {
  world: Pick<World, 'sleep'>;
  settings: TracingSettings;
  /** Identifies this node among the nodes of the service. */
  nodeName: string;
  onError: (message: string) => void;
}

export interface RunningTracer extends Tracer, AsyncDisposable {}

const quiet = (): void => undefined;

export async function startTracer(deps: TracerDeps): Promise<RunningTracer> {
  const sdk = await loadSdk();
  const { settings, onError } = deps;
  // The SDK reports failed exports here, never their content.
  sdk.diag.setLogger(
    { error: onError, warn: onError, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: sdk.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = new sdk.OTLPTraceExporter();
  const processor = new sdk.BatchSpanProcessor({
    exporter,
    maxQueueSize: settings.queueMax,
    maxExportBatchSize: Math.min(settings.batchMax, settings.queueMax),
    scheduledDelayMillis: settings.delayMs,
    exportTimeoutMillis: settings.timeoutMs,
  });
  const resource = sdk
    .resourceFromAttributes({
      'service.name': 'ringback',
      'service.version': version,
      'service.instance.id': deps.nodeName,
    })
    .merge(sdk.detectResources({ detectors: [sdk.envDetector] }));
  const sampler = samplerOf(sdk, settings);
  const scope = { name: 'ringback', version };
  return {
    isSampled: (traceId, parent) => isSampled(sdk, { sampler, traceId, parent }),
    record: (span) =>
      processor.onEnd({ ...readable(sdk, span), resource, instrumentationScope: scope }),
    [Symbol.asyncDispose]: async () => {
      const given = new AbortController();
      const patience = deps.world.sleep(limits.traceFlushMs, given.signal).catch(() => undefined);
      const flushed = processor.shutdown().catch((error: unknown) => onError(String(error)));
      await Promise.race([flushed, patience]);
      given.abort();
      sdk.diag.disable();
    },
  };
}

/** Loading it is expensive, so it is loaded only when tracing is on. */
async function loadSdk() {
  const [api, trace, otlp, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  return { ...api, ...trace, ...otlp, ...resources };
}

type Sdk = Awaited<ReturnType<typeof loadSdk>>;

function samplerOf(sdk: Sdk, { sampler, ratio }: TracingSettings): Sampler {
  const root = sampler.endsWith('always_on')
    ? new sdk.AlwaysOnSampler()
    : sampler.endsWith('always_off')
      ? new sdk.AlwaysOffSampler()
      : new sdk.TraceIdRatioBasedSampler(ratio);
  return sampler.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}

function isSampled(
  sdk: Sdk,
  input: { sampler: Sampler; traceId: string; parent: TraceContext | undefined },
): boolean {
  const { sampler, traceId, parent } = input;
  const context =
    parent === undefined
      ? sdk.ROOT_CONTEXT
      : sdk.trace.setSpanContext(sdk.ROOT_CONTEXT, { ...spanContext(sdk, parent), isRemote: true });
  const { decision } = sampler.shouldSample(context, traceId, '', sdk.SpanKind.SERVER, {}, []);
  return decision === sdk.SamplingDecision.RECORD_AND_SAMPLED;
}

type Readable = Omit<ReadableSpan, 'resource' | 'instrumentationScope'>;

function readable(sdk: Sdk, span: Span): Readable {
  const { name, kind, context, parentId, startMs, endMs, attributes, error } = span;
  const own = spanContext(sdk, context);
  return {
    name,
    kind: sdk.SpanKind[kinds[kind]],
    spanContext: () => own,
    ...(parentId === undefined ? {} : { parentSpanContext: { ...own, spanId: parentId } }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(endMs - startMs),
    status:
      error === undefined
        ? { code: sdk.SpanStatusCode.UNSET }
        : { code: sdk.SpanStatusCode.ERROR, message: error },
    attributes: Object.fromEntries(
      Object.entries(attributes).filter(([, value]) => value !== undefined),
    ),
    links: [],
    events: [],
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const kinds = { server: 'SERVER', internal: 'INTERNAL', client: 'CLIENT' } as const;

function spanContext(
  sdk: Sdk,
  { traceId, spanId, isSampled: sampled, state }: TraceContext,
): { traceId: string; spanId: string; traceFlags: number; traceState?: TraceState } {
  const traceFlags = sampled ? sdk.TraceFlags.SAMPLED : sdk.TraceFlags.NONE;
  const own = { traceId, spanId, traceFlags };
  return state === undefined ? own : { ...own, traceState: sdk.createTraceState(state) };
}

/** Seconds and nanoseconds. */
function hrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
