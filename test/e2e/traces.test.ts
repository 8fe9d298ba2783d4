// Traces over real sockets: publish → delivery → attempt, and the receiver's parent. The collector is ours,
// so the exporter's library is not judged by itself.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { start } from '../api/harness.ts';
import { newFolder, runChild, serve, type Serving } from '../cli/ringback-process.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import { startNodes } from './cluster.ts';
import { collect, type CollectedSpan } from './collector.ts';
import { header, receive, type Received } from './receiver.ts';
import { publish, subscribe } from './stage.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const caller = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${caller}-01`;
const key = 't'.repeat(40);
const [server, internal, client] = [2, 1, 3]; // Kinds of spans, as OTLP numbers them.

async function post(on: { url: string }, path: string, body: object, headers = {}): Promise<void> {
  const response = await fetch(on.url + path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  assert.ok(response.ok, await response.text());
}

const event = { event: 'order.created', payload: { message: 'hello' } };

function named(spans: readonly CollectedSpan[], name: string): CollectedSpan[] {
  return spans.filter((span) => span.name === name);
}

/** The trace and the parent that a receiver was told. */
function parentOf(request: Received): { trace: string; span: string; flags: string } {
  const [, trace = '', span = '', flags = ''] = header(request, 'traceparent').split('-');
  return { trace, span, flags };
}

describe('a trace', () => {
  it('goes from the publisher to the receiver, over a crash and a restart', async () => {
    await using collector = await collect();
    await using folder = await newFolder();
    const held = Promise.withResolvers<number>();
    await using receiver = await receive((request) => {
      const count = receiver.requests.indexOf(request);
      return count === 0 ? held.promise : count === 1 ? 500 : 200;
    });
    const run = async (delay: string): Promise<Serving> =>
      serve({
        RINGBACK_DATA: folder.path,
        RINGBACK_API_KEY: key,
        RINGBACK_RETRY: '100ms',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=the key of the collector',
        OTEL_SERVICE_NAME: 'hooks',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
        OTEL_BSP_SCHEDULE_DELAY: delay,
      });
    {
      await using first = await run('1');
      const callbackUrl = `${receiver.url}?token=in-the-query`;
      await post(first, '/subscribe', { callbackUrl });
      const trace = { traceparent, tracestate: 'vendor=1' };
      await post(first, '/events', event, trace);
      await receiver.waitFor(1);
      await collector.until((spans) => named(spans, 'publish').length === 1);
      first.signal('SIGKILL');
      await first.ended;
    }
    held.resolve(200);
    await using second = await run('3600000'); // Only its end can bring the spans.
    await receiver.answered(2); // The first was never answered: its caller was dead.
    await second.says(/"msg":"attempt failed"/, 'err');
    second.signal('SIGTERM');
    assert.equal(await second.ended, 0);

    const { spans } = collector;
    const [published, ...others] = named(spans, 'publish');
    assert(published !== undefined && others.length === 0);
    const [delivery, ...more] = named(spans, 'delivery');
    assert(delivery !== undefined && more.length === 0);
    const attempts = named(spans, 'attempt');
    assert.equal(attempts.length, 2, 'the one that a crash ended is not there');
    assert.ok(spans.every((span) => span.traceId === traceId));
    assert.deepEqual([published.parentSpanId, published.kind], [caller, server]);
    assert.deepEqual([delivery.parentSpanId, delivery.kind], [published.spanId, internal]);
    for (const attempt of attempts) {
      assert.deepEqual([attempt.parentSpanId, attempt.kind], [delivery.spanId, client]);
    }
    // The first request was of the process that crashed: the same trace, and a parent of its own.
    const told = receiver.requests.map(parentOf);
    assert.deepEqual(
      told.slice(1).map(({ span }) => span),
      attempts.map(({ spanId }) => spanId),
    );
    assert.equal(new Set(told.map(({ span }) => span)).size, 3);
    assert.ok(told.every(({ trace, flags }) => trace === traceId && flags === '01'));
    assert.equal(header(receiver.requests[0] ?? assert.fail(), 'tracestate'), 'vendor=1');

    const [failed, delivered] = attempts;
    assert(failed && delivered);
    const { attributes } = failed;
    assert.equal(attributes['http.request.method'], 'POST');
    assert.equal(attributes['http.response.status_code'], 500);
    assert.equal(attributes['server.address'], '127.0.0.1');
    assert.equal(attributes['server.port'], receiver.port);
    assert.equal(attributes['url.full'], receiver.url, 'without the query');
    assert.equal(attributes['error.type'], '500');
    assert.equal(attributes['ringback.outcome'], 'retry');
    assert.equal(failed.status.code, 2);
    assert.equal(delivered.attributes['ringback.outcome'], 'delivered');
    assert.equal(delivered.attributes['ringback.attempt'], 2);
    assert.equal(delivery.attributes['ringback.outcome'], 'delivered');
    assert.equal(delivery.attributes['ringback.attempts'], 2);
    assert.equal(delivery.attributes['ringback.event_name'], 'order.created');
    assert.equal(published.attributes['http.response.status_code'], 202);
    assert.equal(published.attributes['http.route'], '/events');
    assert.equal(published.attributes['ringback.event'], delivery.attributes['ringback.event']);
    assert.equal(published.resource['service.name'], 'hooks');
    assert.equal(published.resource['deployment.environment'], 'test');
    assert.ok(
      collector.headers.every((one) => one['x-collector-key'] === 'the key of the collector'),
    );
    assert.ok(collector.paths.every((path) => path === '/v1/traces'));
    assert.doesNotMatch(collector.bodies(), /in-the-query|hello/);
    const line = JSON.parse(/.*"msg":"attempt failed".*/.exec(second.err())?.[0] ?? '{}') as object;
    assert.ok('traceId' in line && line.traceId === traceId);
  });

  it('is one over two nodes, also of what was published by SQL', async () => {
    await using collector = await collect();
    await using database = await freshStoreDatabase();
    await using receiver = await receive();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '1' };
    const nodes = await startNodes(database.url, { door: 'api', hand: 'worker' }, env);
    await using stack = new AsyncDisposableStack();
    for (const node of nodes) stack.use(node);
    const [door] = nodes;
    assert(door);
    await subscribe(door, receiver.url);
    await publish(door, 'order.created');
    await database.query(`select ringback.publish('order.sent', '{"message":"by SQL"}')`);
    const spans = await collector.until((all) => named(all, 'delivery').length === 2);
    const [published, ...others] = named(spans, 'publish');
    assert(published !== undefined && others.length === 0, 'SQL is no request of ours');
    assert.equal(published.parentSpanId ?? '', '');
    assert.equal(published.resource['service.instance.id'], 'door');
    const [ours, bySql] = ['order.created', 'order.sent'].map((name) =>
      spans.filter((span) => span.attributes['ringback.event_name'] === name),
    );
    assert(ours !== undefined && bySql !== undefined);
    for (const [trace, root] of [
      [ours, published.spanId],
      [bySql, ''],
    ] as const) {
      const [delivery] = named(trace, 'delivery');
      const [attempt] = named(trace, 'attempt');
      assert(delivery && attempt);
      assert.equal(delivery.parentSpanId ?? '', root);
      assert.equal(attempt.parentSpanId, delivery.spanId);
      assert.equal(attempt.traceId, delivery.traceId);
      assert.equal(attempt.resource['service.instance.id'], 'hand');
      const request = receiver.requests.find((one) => parentOf(one).span === attempt.spanId);
      assert.equal(request && parentOf(request).trace, attempt.traceId);
    }
    assert.equal(ours[0]?.traceId, published.traceId);
    assert.notEqual(bySql[0]?.traceId, published.traceId);
  });

  it('is passed on as it came where nobody collects, and made up by nobody', async () => {
    await using service = await start();
    await using receiver = await receive();
    await subscribe(service, receiver.url);
    const send = async (headers: Record<string, string>): Promise<void> => {
      const answer = await service.call({ method: 'POST', path: '/events', headers, body: event });
      assert.equal(answer.status, 202);
    };
    await send({ traceparent, tracestate: 'a=b' });
    await receiver.waitFor(1);
    await send({ traceparent: 'no trace at all' });
    await receiver.waitFor(2);
    const [passed, none] = receiver.requests;
    assert(passed && none);
    assert.equal(header(passed, 'traceparent'), traceparent);
    assert.equal(header(passed, 'tracestate'), 'a=b');
    assert.equal(none.headers['traceparent'], undefined);
    assert.equal(none.headers['tracestate'], undefined);
  });
});

describe('OTEL_*', () => {
  it('says at the start what it cannot do', async () => {
    await using folder = await newFolder();
    const { code, err } = await runChild(['serve'], {
      RINGBACK_DATA: folder.path,
      RINGBACK_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_TRACES_SAMPLER: 'sometimes',
    });
    assert.equal(code, 1);
    assert.match(err, /Cannot read OTEL_EXPORTER_OTLP_PROTOCOL "grpc": expected http\/json\n/);
    assert.match(
      err,
      /Cannot read OTEL_TRACES_SAMPLER "sometimes": expected parentbased_always_on/,
    );
  });
});
