// A real receiver on a loopback port: it records every callback as it came and answers by a script.
// Tests wait for what it has seen, never for time to pass.
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
  /** Among all requests to all receivers of this process, from 1. */
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
  /** In the order in which they were complete. */
  requests: readonly Received[];
  /** Resolves with all requests, once there are so many. */
  waitFor: (count: number) => Promise<readonly Received[]>;
  /** Resolves when so many answers were given in full. */
  answered: (count: number) => Promise<void>;
  /** How it answers; may be replaced at any time. */
  script: Script;
}

let order = 0;

/** With a certificate: over https. */
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
    // A caller that gave up is no failure of the receiver.
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

/** A header that must be there, once. */
export function header({ headers }: Received, name: string): string {
  const value = headers[name];
  assert(typeof value === 'string', `the callback has no header ${name}`);
  return value;
}
