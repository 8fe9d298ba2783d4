// A collector of traces, as OTLP over HTTP in JSON asks for one: keeps every span as it came. Independent of
// the exporter's library; tests wait for spans, never for time.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { patienceMs } from './awaitable-count.ts';

export interface CollectedSpan {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code?: number; message?: string };
  attributes: Readonly<Record<string, string | number>>;
  resource: Readonly<Record<string, string | number>>;
}

export interface Collector extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  url: string;
  spans: readonly CollectedSpan[];
  /** Of every request, and all bodies as text. */
  headers: readonly IncomingHttpHeaders[];
  paths: readonly string[];
  bodies: () => string;
  /** All spans, once what they are is enough. */
  until: (
    isEnough: (spans: readonly CollectedSpan[]) => boolean,
  ) => Promise<readonly CollectedSpan[]>;
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number | string; doubleValue?: number };
}

interface Export {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: (Omit<CollectedSpan, 'attributes'> & { attributes: Attribute[] })[] }[];
  }[];
}

export async function collect(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const paths: string[] = [];
  const bodies: string[] = [];
  const listeners = new Set<() => void>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      headers.push(request.headers);
      paths.push(request.url ?? '');
      bodies.push(body);
      spans.push(...spansIn(JSON.parse(body) as Export));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      for (const listener of listeners) listener();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  return {
    url: `http://127.0.0.1:${address.port}`,
    spans,
    headers,
    paths,
    bodies: () => bodies.join('\n'),
    until: async (isEnough) => {
      const found = Promise.withResolvers<void>();
      const look = (): void => {
        if (isEnough(spans)) found.resolve();
      };
      const giveUp = AbortSignal.timeout(patienceMs);
      giveUp.addEventListener('abort', () => {
        found.reject(new Error(`The spans never came; there are ${JSON.stringify(spans)}`));
      });
      listeners.add(look);
      look();
      await found.promise.finally(() => listeners.delete(look));
      return spans;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function spansIn({ resourceSpans }: Export): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        ...span,
        attributes: valuesOf(span.attributes),
        resource: valuesOf(resource.attributes),
      })),
    ),
  );
}

function valuesOf(attributes: readonly Attribute[]): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue } }) => [
      key,
      stringValue ?? Number(intValue ?? doubleValue),
    ]),
  );
}
