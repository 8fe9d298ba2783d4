// The API behind the gateway, as a process of its own, to be killed. It decides about each job, records what it decided
// with the subscription that it was told, and answers. Before each step it waits for the prover.
// Usage, with an IPC channel: node api-process.ts <port> <file of records>
import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Decision, FromApi, Job, Step, ToApi } from './api.ts';

const [port = '0', file = ''] = process.argv.slice(2);
const goOn = new Map<string, () => void>();
process.on('message', ({ job }: ToApi) => goOn.get(job)?.());

const server = createServer((request, response) => {
  handle(request, response).catch(() => response.destroy());
});
server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) {
    tell({ kind: 'listening', port: address.port });
  }
});

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { job, isAcceptable } = (await json(request)) as Job;
  await reach('arrived', job);
  const subscriberId = String(request.headers['ringback-subscription']);
  const decision: Decision = { job, subscriberId, isAccepted: isAcceptable };
  appendFileSync(file, `${JSON.stringify(decision)}\n`);
  await reach('decided', job);
  const body = Buffer.from(JSON.stringify({ jobId: job }));
  const half = Math.floor(body.length / 2);
  response.writeHead(isAcceptable ? 201 : 409, {
    'content-type': 'application/json',
    'content-length': body.length,
  });
  await written(response, (then) => response.write(body.subarray(0, half), then));
  await reach('half answered', job);
  await written(response, (then) => response.end(body.subarray(half), then));
  await reach('answered', job);
}

async function reach(step: Step, job: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  goOn.set(job, resolve);
  tell({ kind: 'step', step, job });
  await promise;
}

/** Resolves when the bytes have left, or when they cannot, because the gateway is dead. */
async function written(
  response: ServerResponse,
  write: (then: () => void) => unknown,
): Promise<void> {
  if (response.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('close', resolve);
  write(resolve);
  await promise;
}

function tell(message: FromApi): void {
  process.send?.(message);
}
