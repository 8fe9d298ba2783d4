// A service with scripted misbehaviour, and a clock that the test controls.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { ClientOptions } from '../../src/client/client.ts';

export interface Seen {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface RawService extends AsyncDisposable {
  url: string;
  seen: Seen[];
}

export type Behave = (response: ServerResponse, seen: Seen) => void | Promise<void>;

/** The n-th behaviour serves the n-th request; the last one serves all further requests. */
export async function rawService(...behaviours: Behave[]): Promise<RawService> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await readText(request).catch(() => '');
      const { method = '', url: path = '', headers } = request;
      const one = { method, path, headers, body };
      seen.push(one);
      await (behaviours[seen.length - 1] ?? behaviours.at(-1))?.(response, one);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  return {
    url: `http://127.0.0.1:${address.port}`,
    seen,
    [Symbol.asyncDispose]: async () => {
      const ended = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await ended;
    },
  };
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Behave {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(value));
  };
}

export function problem(status: number, code: string, headers?: Record<string, string>): Behave {
  const detail = `made up ${code}`;
  const answer = { type: '/docs', title: code, status, code, detail, requestId: 'req_1' };
  return json(status, answer, headers);
}

/** Reads the request and closes the connection. */
export const hangUp: Behave = (response) => void response.destroy();

/** Sends less of a response than its Content-Length. */
export const cutShort: Behave = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"eventId":"evt_', () => response.destroy());
};

export const timeoutMs = 12_345;

export interface Time extends Pick<ClientOptions, 'sleep' | 'now' | 'timeoutMs'> {
  /** All waits, except for time limits. */
  waits: number[];
  /** Ends the time limits that are running. */
  runOut: () => void;
}

/** Waits take no time; time limits end when `runOut` is called. */
export function virtualTime(limitsMs: readonly number[] = [timeoutMs]): Time {
  const waits: number[] = [];
  const limits = new Set<() => void>();
  return {
    timeoutMs,
    waits,
    now: () => Date.UTC(2026, 0, 31, 12),
    sleep: async (ms, signal) => {
      signal.throwIfAborted();
      if (!limitsMs.includes(ms)) {
        waits.push(ms);
        return;
      }
      await new Promise<void>((resolve, reject) => {
        limits.add(resolve);
        signal.addEventListener('abort', () => {
          limits.delete(resolve);
          reject(signal.reason);
        });
      });
    },
    runOut: () => {
      for (const end of limits) end();
    },
  };
}
