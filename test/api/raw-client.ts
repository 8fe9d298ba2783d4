// An HTTP client that sends requests exactly as given: repeated headers, unusual media types, cookies,
// a body with GET. It keeps connections alive, so that thousands of requests stay fast.
import { Agent, request, type IncomingHttpHeaders } from 'node:http';

export interface RawCall {
  method?: string;
  path: string;
  /** Sent in order, including repetitions. `Host` and `Content-Length` are added. */
  headers?: readonly (readonly [string, string])[];
  body?: string;
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** Empty if the response is not a JSON object. */
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
        // A stream does not end, so only its head is returned.
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
