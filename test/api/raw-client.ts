// An HTTP client that sends what it is told and nothing else: repeated headers, odd media types,
// cookies, a body with GET. Connections are kept, so that thousands of requests stay quick.
import { Agent, request, type IncomingHttpHeaders } from 'node:http';

export interface RawCall {
  method?: string;
  path: string;
  /** In order, repetitions included. `Host` and `Content-Length` are added. */
  headers?: readonly (readonly [string, string])[];
  body?: string;
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** Empty when the answer is no JSON object. */
  json: Record<string, unknown>;
}

export interface RawClient extends Disposable {
  send: (call: RawCall) => Promise<RawAnswer>;
}

export function rawClient(base: string): RawClient {
  const { hostname, port, host } = new URL(base);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  return {
    send: async ({ method = 'GET', path, headers = [], body }) => {
      const isChunked = headers.some(([name]) => name.toLowerCase() === 'transfer-encoding');
      const length = isChunked ? [] : ['Content-Length', `${Buffer.byteLength(body ?? '')}`];
      const lines = ['Host', host, ...headers.flat(), ...length];
      const answer = Promise.withResolvers<RawAnswer>();
      const call = request({ agent, hostname, port, method, path, headers: lines }, (response) => {
        const chunks: Buffer[] = [];
        // A stream has no end, so its head is the answer.
        const { statusCode: status = 0, headers: given } = response;
        if (/event-stream/.test(given['content-type'] ?? '')) {
          answer.resolve({ status, headers: given, text: '', json: {} });
          response.destroy();
        }
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', answer.reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = /json/.test(response.headers['content-type'] ?? '') && text !== '';
          const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
          answer.resolve({ status, headers: given, text, json });
        });
      });
      call.on('error', answer.reject);
      call.end(body);
      return answer.promise;
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}
