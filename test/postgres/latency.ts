// Simulates a distant server: a TCP proxy that adds latency to each round trip, half in each direction, in whole
// milliseconds. It runs in its own thread, so that the measuring thread does not slow it down.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface Latency extends AsyncDisposable {
  /** The URL of the server through the proxy. */
  url: string;
}

/** The parameters of the thread. */
export interface LatencyOrder {
  host: string;
  port: number;
  thereMs: number;
  backMs: number;
}

export async function startLatency(url: string, roundTripMs: number): Promise<Latency> {
  const target = new URL(url);
  const thereMs = Math.ceil(roundTripMs / 2);
  const order: LatencyOrder = {
    host: target.hostname,
    port: Number(target.port || 5432),
    thereMs,
    backMs: roundTripMs - thereMs,
  };
  const thread = new Worker(new URL('latency-thread.ts', import.meta.url), { workerData: order });
  const [port] = (await once(thread, 'message')) as [number];
  const proxied = new URL(target);
  proxied.host = `127.0.0.1:${port}`;
  return {
    url: proxied.href,
    [Symbol.asyncDispose]: async () => void (await thread.terminate()),
  };
}
