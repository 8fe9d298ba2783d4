// The thread of the proxy in latency.ts: it passes bytes unchanged, with one delay line per direction.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { createDelayLine } from './delay-line.ts';
import type { LatencyOrder } from './latency.ts';

const { host, port, thereMs, backMs } = workerData as LatencyOrder;

const listener = createServer({ noDelay: true }, (client) => {
  const server = connect({ host, port, noDelay: true });
  relay(client, server, thereMs);
  relay(server, client, backMs);
});
listener.listen(0, '127.0.0.1');
await once(listener, 'listening');
const address = listener.address();
if (typeof address !== 'object' || address === null) throw new Error('It must listen on TCP');
parentPort?.postMessage(address.port);

/** When one side has ended, the other is ended after all data was passed on. */
function relay(from: Socket, to: Socket, delayMs: number): void {
  const line = createDelayLine<Buffer | undefined>(delayMs);
  let isArmed = false;
  const pass = (): void => {
    isArmed = false;
    for (const piece of line.leave(performance.now())) {
      if (piece === undefined) to.end();
      else if (!to.destroyed) to.write(piece);
    }
    arm();
  };
  const arm = (): void => {
    const dueMs = line.dueMs();
    if (isArmed || dueMs === undefined) return;
    isArmed = true;
    const leftMs = dueMs - performance.now();
    // A timer takes at least a millisecond, so the rest is spent in turns of the event loop.
    if (leftMs < 1) setImmediate(pass);
    else setTimeout(pass, Math.floor(leftMs));
  };
  const enter = (piece: Buffer | undefined): void => {
    if (delayMs === 0 && piece !== undefined) to.write(piece);
    else line.enter(piece, performance.now());
    arm();
  };
  from.on('data', enter);
  from.on('close', () => enter(undefined));
  from.on('error', () => undefined); // The close event follows.
}
