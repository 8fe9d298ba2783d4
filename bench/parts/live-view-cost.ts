// What the live view costs: deliveries per second with 100 open streams and without, in turns
// within one run, and the memory of the service. The service, its receiver and the stream clients
// are processes of their own on loopback. Fails below 0.8. Run: node bench/parts/live-view-cost.ts
//
// docs/performance.md has the figures.
import { strict as assert } from 'node:assert';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve, type Serving } from '../../test/cli/ringback-process.ts';

const streams = 100;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 12);
const roundMs = Number(process.env['BENCH_ROUND_MS'] ?? 1_500);
const ratioMin = 0.8;
/** Concurrent publishers, and events per publish: enough for more than 2,000 events a second. */
const publishers = 8;
const batch = 25;
const lanes = 8;
const apiKey = 'bench-bench-bench-bench-bench-bench';

const [, , role, serviceUrl = ''] = process.argv;
if (role === 'receive') await receive();
else if (role === 'watch') watch(serviceUrl);
else await compare();

async function compare(): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'ringback-streams-'));
  cleanup.defer(async () => rm(folder, { recursive: true }));
  const receiver = start(cleanup, 'receive');
  const [port] = await once(receiver, 'message');
  const env = { RINGBACK_DATA: folder, RINGBACK_API_KEY: apiKey, RINGBACK_LOG: 'warn' };
  const service = cleanup.use(await serve(env));
  for (let lane = 0; lane < lanes; lane += 1) {
    const query = new URLSearchParams({
      callbackUrl: `http://127.0.0.1:${String(port)}/`,
      event: `e${lane}`,
    });
    await call(service, `/subscribe?${query.toString()}`);
  }
  const rates = { without: new Array<number>(), with: new Array<number>() };
  const cpu = { without: new Array<number>(), with: new Array<number>() };
  const memory: string[] = [];
  const frames: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const without = await load(service, receiver);
    const before = rssMegabytes(service);
    await using watching = new AsyncDisposableStack();
    const watcher = start(watching, 'watch', service.url);
    await once(watcher, 'message'); // All streams are open.
    const with_ = await load(service, receiver);
    watcher.send('count');
    const [perSecond] = await once(watcher, 'message');
    if (round === 0) continue; // Warm-up.
    rates.without.push(without.perSecond);
    rates.with.push(with_.perSecond);
    cpu.without.push(without.cpuMs);
    cpu.with.push(with_.cpuMs);
    memory.push(`${before.toFixed(0)} → ${rssMegabytes(service).toFixed(0)}`);
    frames.push(Number(perSecond));
  }
  const ratio = median(rates.with.map((one, i) => one / (rates.without[i] ?? one)));
  for (const kind of ['without', 'with'] as const) {
    const [rate, cpuMs] = [median(rates[kind]).toFixed(0), median(cpu[kind]).toFixed(2)];
    console.log(`${kind} ${streams} streams: ${rate} deliveries/s, ${cpuMs} ms of CPU each`);
  }
  console.log(`frames to each client: ${median(frames).toFixed(2)} a second`);
  console.log(`memory of the service in MB, without → with: ${memory.join(', ')}`);
  console.log(`ratio: ${ratio.toFixed(2)}, expected at least ${ratioMin}`);
  if (ratio < ratioMin) process.exitCode = 1;
}

function start(cleanup: AsyncDisposableStack, ...args: readonly string[]): ChildProcess {
  const child = fork(import.meta.filename, args);
  cleanup.defer(() => void child.kill());
  return child;
}

interface Load {
  perSecond: number;
  /** Of the service, per delivery. */
  cpuMs: number;
}

/** Publishes for a while as fast as it can; returns what the receiver got per second. */
async function load(service: Serving, receiver: ChildProcess): Promise<Load> {
  const beforeMs = cpuMsOf(service);
  receiver.send('begin');
  const untilMs = performance.now() + roundMs;
  const payload = { message: 'x'.repeat(500) };
  const publish = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const events = Array.from({ length: batch }, (_, i) => ({ event: `e${i % lanes}`, payload }));
      await call(service, '/events/batch', { events });
    }
  };
  await Promise.all(Array.from({ length: publishers }, publish));
  receiver.send('end');
  const [rate] = await once(receiver, 'message');
  await drained(service);
  receiver.send('count');
  const [came] = await once(receiver, 'message');
  return { perSecond: Number(rate), cpuMs: (cpuMsOf(service) - beforeMs) / Number(came) };
}

/** Waits until the rest is delivered, before the next round. */
async function drained(service: Serving): Promise<void> {
  for (const state of ['due', 'running']) {
    for (;;) {
      const { items } = await call(service, `/deliveries?state=${state}&limit=1`, undefined, 'GET');
      if (Array.isArray(items) && items.length === 0) break;
    }
  }
}

async function call(
  { url }: Serving,
  path: string,
  body?: unknown,
  method = 'POST',
): Promise<Record<string, unknown>> {
  const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, { method, headers, ...sent });
  const text = await answer.text();
  assert(answer.ok, `${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

function rssMegabytes({ pid }: Serving): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1_024;
}

/** Linux counts in hundredths of a second. */
function cpuMsOf({ pid }: Serving): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
  return (user + system) * 10;
}

/** Counts callbacks between `begin` and `end`, and reports the rate per second. */
async function receive(): Promise<void> {
  let came = 0;
  let fromMs = 0;
  process.on('message', (told) => {
    if (told === 'begin') {
      came = 0;
      fromMs = performance.now();
    } else if (told === 'count') process.send?.(came);
    else process.send?.((came * 1_000) / (performance.now() - fromMs));
  });
  process.on('disconnect', () => process.exit());
  const server = createServer((callback, response) => {
    came += 1;
    callback.resume();
    response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  process.send?.(address.port);
}

/** Reads all streams, as a browser would, and counts frames. */
function watch(url: string): void {
  let open = 0;
  let frames = 0;
  const fromMs = performance.now();
  for (let count = 0; count < streams; count += 1) {
    const headers = { 'X-API-Key': apiKey };
    request(`${url}/stream`, { agent: false, headers }, (response) => {
      assert.equal(response.statusCode, 200);
      open += 1;
      if (open === streams) process.send?.('open');
      response.setEncoding('latin1');
      response.on('data', (text: string) => {
        frames += text.split('\ndata: ').length - 1;
      });
    }).end();
  }
  const perSecond = (): number => (frames * 1_000) / streams / (performance.now() - fromMs);
  process.on('message', () => process.send?.(perSecond()));
  process.on('disconnect', () => process.exit());
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
