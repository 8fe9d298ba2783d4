// The OTEL_* variables that Ringback itself reads. OpenTelemetry reads those of the exporter
// (headers, timeout, compression, certificates) and of the resource. A mistake is reported at
// start: a service that silently traces nothing would be noticed only when the traces are needed.
import { plainUrl } from '../core/secrets/redact.ts';

export const samplers = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;
export type SamplerName = (typeof samplers)[number];

export interface TracingSettings {
  sampler: SamplerName;
  /** For samplers by ratio. */
  ratio: number;
  queueMax: number;
  batchMax: number;
  delayMs: number;
  timeoutMs: number;
}

export type TracingReading =
  | { kind: 'on'; settings: TracingSettings }
  /** Tracing is not configured. */
  | { kind: 'off' }
  | { kind: 'mistakes'; mistakes: readonly string[] };

type Environment = Readonly<Record<string, string | undefined>>;

export function readTracing(env: Environment): TracingReading {
  const endpoint = first(env, endpointNames);
  const exporter = env['OTEL_TRACES_EXPORTER'] ?? '';
  const isDisabled = env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true';
  if (isDisabled || exporter.trim() === 'none' || endpoint === undefined) return { kind: 'off' };
  const mistakes: string[] = [];
  if (exporter !== '' && exporter.trim() !== 'otlp') {
    mistakes.push(cannotRead('OTEL_TRACES_EXPORTER', exporter, 'otlp or none'));
  }
  if (!/^https?:$/.test(URL.parse(endpoint.value)?.protocol ?? '')) {
    const shown = plainUrl(endpoint.value); // It may hold a password.
    mistakes.push(cannotRead(endpoint.name, shown, 'a URL with http or https'));
  }
  const protocol = first(env, protocolNames);
  if (protocol !== undefined && protocol.value !== 'http/json') {
    mistakes.push(cannotRead(protocol.name, protocol.value, 'http/json'));
  }
  const settings = {
    sampler: readSampler(env, mistakes),
    ratio: readRatio(env, mistakes),
    queueMax: readCount(env, { name: 'OTEL_BSP_MAX_QUEUE_SIZE', fallback: 2_048 }, mistakes),
    batchMax: readCount(env, { name: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', fallback: 512 }, mistakes),
    delayMs: readCount(env, { name: 'OTEL_BSP_SCHEDULE_DELAY', fallback: 5_000 }, mistakes),
    timeoutMs: readCount(env, { name: 'OTEL_BSP_EXPORT_TIMEOUT', fallback: 30_000 }, mistakes),
  };
  return mistakes.length > 0 ? { kind: 'mistakes', mistakes } : { kind: 'on', settings };
}

const endpointNames = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
const protocolNames = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];

/** The first variable that is set; an empty one counts as unset, as OpenTelemetry defines. */
function first(
  env: Environment,
  names: readonly string[],
): { name: string; value: string } | undefined {
  for (const name of names) {
    const value = env[name]?.trim() ?? '';
    if (value !== '') return { name, value };
  }
  return undefined;
}

function readSampler(env: Environment, mistakes: string[]): SamplerName {
  const name = env['OTEL_TRACES_SAMPLER']?.trim() ?? '';
  if (name === '') return 'parentbased_always_on';
  const known = samplers.find((one) => one === name);
  if (known === undefined) {
    mistakes.push(cannotRead('OTEL_TRACES_SAMPLER', name, samplers.join(', ')));
  }
  return known ?? 'parentbased_always_on';
}

function readRatio(env: Environment, mistakes: string[]): number {
  const text = env['OTEL_TRACES_SAMPLER_ARG']?.trim() ?? '';
  const ratio = text === '' ? 1 : Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  mistakes.push(cannotRead('OTEL_TRACES_SAMPLER_ARG', text, 'a number from 0 to 1'));
  return 1;
}

function readCount(
  env: Environment,
  { name, fallback }: { name: string; fallback: number },
  mistakes: string[],
): number {
  const text = env[name]?.trim() ?? '';
  if (text === '') return fallback;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  mistakes.push(cannotRead(name, text, 'a whole number above 0'));
  return fallback;
}

function cannotRead(name: string, value: string, expected: string): string {
  return `Cannot read ${name} "${value}": expected ${expected}`;
}
