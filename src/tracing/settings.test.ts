import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readTracing, samplers } from './settings.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

function mistakesIn(env: Record<string, string>): readonly string[] {
  const reading = readTracing({ ...endpoint, ...env });
  return reading.kind === 'mistakes' ? reading.mistakes : [];
}

describe('readTracing', () => {
  it('is off unless a collector is set', () => {
    assert.deepEqual(readTracing({}), { kind: 'off' });
    assert.deepEqual(readTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }), { kind: 'off' });
    assert.deepEqual(readTracing({ OTEL_TRACES_EXPORTER: 'otlp' }), { kind: 'off' });
    assert.deepEqual(readTracing({ ...endpoint, OTEL_SDK_DISABLED: 'True' }), { kind: 'off' });
    assert.deepEqual(readTracing({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }), { kind: 'off' });
  });

  it('is on with the defaults of OpenTelemetry', () => {
    const settings = {
      sampler: 'parentbased_always_on',
      ratio: 1,
      queueMax: 2_048,
      batchMax: 512,
      delayMs: 5_000,
      timeoutMs: 30_000,
    };
    assert.deepEqual(readTracing(endpoint), { kind: 'on', settings });
    const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector.example/traces' };
    assert.deepEqual(readTracing(own), { kind: 'on', settings });
  });

  it('reads every sampler, its argument and the sizes of the queue', () => {
    for (const sampler of samplers) {
      const reading = readTracing({
        ...endpoint,
        OTEL_TRACES_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_TRACES_SAMPLER: sampler,
        OTEL_TRACES_SAMPLER_ARG: '0.25',
        OTEL_BSP_MAX_QUEUE_SIZE: '10',
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '5',
        OTEL_BSP_SCHEDULE_DELAY: '20',
        OTEL_BSP_EXPORT_TIMEOUT: '30',
      });
      const sizes = { queueMax: 10, batchMax: 5, delayMs: 20, timeoutMs: 30 };
      assert.deepEqual(reading, { kind: 'on', settings: { sampler, ratio: 0.25, ...sizes } });
    }
  });

  it('reports all mistakes at once, and no password', () => {
    const mistakes = mistakesIn({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://me:swordfish@collector?token=swordfish',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
      OTEL_TRACES_EXPORTER: 'zipkin',
      OTEL_TRACES_SAMPLER: 'sometimes',
      OTEL_TRACES_SAMPLER_ARG: '2',
      OTEL_BSP_MAX_QUEUE_SIZE: '0',
    });
    assert.equal(mistakes.length, 6);
    assert.doesNotMatch(mistakes.join('\n'), /swordfish/);
    for (const mistake of mistakes) assert.match(mistake, /^Cannot read OTEL_\w+ ".*": expected /);
  });
});
