// A real receiver on a loopback port that records every callback and replies by a script. Tests wait for its counts,
// never for time to pass.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type RequestListener,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { Certificate } from '../egress/certificate.ts';
import { Tally } from './awaitable-count.ts';

export interface Received {
  /** Position among all requests to all receivers of this process, from 1. */
  order: number;
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export type Reply =
  | number
  | { status: number; headers?: OutgoingHttpHeaders; body?: string | Uint8Array };

export type Script = (request: Received) => Reply | Promise<Reply>;

export interface Receiver extends AsyncDisposable {
  port: number;
  /** `http://127.0.0.1:<port>/hook`, or https */
  url: string;
  /** In order of completion. */
  requests: readonly Received[];
  /** Resolves with all requests once there are `count`. */
  waitFor: (count: number) => Promise<readonly Received[]>;
  /** Resolves when `count` responses have been sent completely. */
  answered: (count: number) => Promise<void>;
  /** Decides the reply; may be replaced at any time. */
  script: Script;
}

let order = 0;

/** Uses https if there is a certificate. */
export async function receive(
  script: Script = () => 200,
  certificate?: Certificate,
): Promise<Receiver> {
  const requests: Received[] = [];
  const came = new Tally('callbacks came');
  const answered = new Tally('callbacks were answered');
  const listener: RequestListener = (request, response) => {
    response.on('finish', () => answered.add());
    const answer = async (): Promise<void> => {
      const body = await buffer(request);
      const { method = '', url = '', headers } = request;
      order += 1;
      const received = { order, method, url, headers, body };
      requests.push(received);
      came.add();
      const reply = await receiver.script(received);
      const { status, headers: extra = {}, body: text } = asParts(reply);
      response.writeHead(status, extra).end(text);
    };
    // A caller that has given up is not a failure of the receiver.
    answer().catch(() => response.destroy());
  };
  const server =
    certificate === undefined
      ? createServer(listener)
      : createSecureServer({ cert: certificate.certificate, key: certificate.key }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  const { port } = address;
  const receiver: Receiver = {
    port,
    url: `http${certificate === undefined ? '' : 's'}://127.0.0.1:${port}/hook`,
    requests,
    waitFor: async (count) => {
      await came.reach(count);
      return requests;
    },
    answered: async (count) => answered.reach(count),
    script,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return receiver;
}

function asParts(reply: Reply): Exclude<Reply, number> {
  return typeof reply === 'number' ? { status: reply } : reply;
}

/** Returns a header that must occur exactly once. */
export function header({ headers }: Received, name: string): string {
  const value = headers[name];
  assert(typeof value === 'string', `the callback has no header ${name}`);
  return value;
}
