import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { traceIdOf, type Span, type TraceContext } from '../core/telemetry/trace.ts';
import type { SamplerName } from './settings.ts';
import { startTracer, type RunningTracer } from './tracer.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const context: TraceContext = {
  traceId,
  spanId: 'b7ad6b7169203331',
  isSampled: true,
  state: undefined,
};
const span: Span = {
  name: 'attempt',
  kind: 'client',
  context,
  parentId: undefined,
  startMs: 1,
  endMs: 2,
  attributes: {},
  error: undefined,
};
const sizes = { queueMax: 8, batchMax: 8, delayMs: 60_000, timeoutMs: 60_000 };
/** A sleep that is over at once. */
const world = { sleep: async () => Promise.resolve() };

async function tracerWith(sampler: SamplerName, ratio = 1): Promise<RunningTracer> {
  const settings = { ...sizes, sampler, ratio };
  return startTracer({ world, settings, nodeName: 'n', onError: () => undefined });
}

describe('startTracer', () => {
  it('honours the sampled flag of the caller, and decides itself without one', async () => {
    const sampled = context;
    const unsampled = { ...context, isSampled: false };
    const expected: Record<SamplerName, readonly boolean[]> = {
      parentbased_always_on: [true, true, false],
      parentbased_always_off: [false, true, false],
      parentbased_traceidratio: [false, true, false],
      always_on: [true, true, true],
      always_off: [false, false, false],
      traceidratio: [false, false, false],
    };
    for (const [name, decisions] of Object.entries(expected)) {
      await using tracer = await tracerWith(name as SamplerName, 0);
      const found = [undefined, sampled, unsampled].map((one) => tracer.isSampled(traceId, one));
      assert.deepEqual(found, decisions, name);
    }
  });

  it('samples a share of all traces, the same on every node', async () => {
    await using one = await tracerWith('parentbased_traceidratio', 0.5);
    await using other = await tracerWith('traceidratio', 0.5);
    const ids = Array.from({ length: 200 }, (_, i) => traceIdOf(`event ${i}`));
    const taken = ids.filter((id) => one.isSampled(id, undefined));
    assert.ok(taken.length > 50 && taken.length < 150, String(taken.length));
    assert.deepEqual(
      ids.filter((id) => other.isSampled(id, undefined)),
      taken,
    );
  });

  it('neither waits for an unresponsive collector nor fails because of it', async () => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert(typeof address === 'object' && address !== null);
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = `http://127.0.0.1:${address.port}`;
    process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '50';
    try {
      const tracer = await tracerWith('always_on');
      for (let i = 0; i < 1_000; i += 1) tracer.record(span); // Far more than the queue holds.
      await tracer[Symbol.asyncDispose]();
      tracer.record(span); // Too late, and ignored.
    } finally {
      delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
      delete process.env['OTEL_EXPORTER_OTLP_TIMEOUT'];
      server.close();
    }
  });

  it('loads the SDK only when it starts', () => {
    const source = readFileSync(join(import.meta.dirname, 'tracer.ts'), 'utf8');
    const imports = source.split('\n').filter((line) => /^import .*@opentelemetry/.test(line));
    assert.ok(imports.length > 0);
    for (const line of imports) assert.match(line, /^import type /);
  });
});
