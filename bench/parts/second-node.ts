// What a second node is worth when lanes are the limit: deliveries per second out of a backlog in
// two lanes, whose receivers answer after 50 ms, by one worker and by two, in turns within one run.
// All are real processes over a real PostgreSQL with fsync. Fails below 1.5.
// Run: node bench/parts/second-node.ts
//
// A node has at most `cap` deliveries of a lane in flight. Each is in flight from its claim to the
// end of its settlement: 50 ms at the receiver, and the store's time. So a node delivers at most
// lanes × cap / (50 ms + store). The cap is per node, so two nodes deliver twice that, as long as
// nothing else is short.
//
// The bound is tested with caps of 8: with the program's own (limits.laneCapMax) the machine is the
// limit and not the lanes, so that ratio is only printed. docs/performance.md has the figures.
import { strict as assert } from 'node:assert';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { limits } from '../../src/core/limits/limits.ts';
import { serve, startChild, type Child, type Serving } from '../../test/cli/ringback-process.ts';
import { startPostgres } from '../../test/postgres/server.ts';

const lanes = 2;
const answerMs = 50;
const ratioMin = 1.5;
const small = { cap: limits.laneCapStart, backlog: 1_500, rounds: 5 };
const full = { cap: limits.laneCapMax, backlog: 10_000, rounds: 3 };

if (process.send === undefined) await compareAll();
else await receive();

async function compareAll(): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const postgres = cleanup.use(await startPostgres());
  const receiver = fork(import.meta.filename);
  cleanup.defer(() => void receiver.kill());
  const [ports] = await once(receiver, 'message');
  assert(Array.isArray(ports));
  const env = {
    DATABASE_URL: await postgres.createDatabase('ringback'),
    RINGBACK_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    RINGBACK_API_KEY: 'bench-bench-bench-bench-bench-bench',
    RINGBACK_LOG: 'warn',
  };
  const api = cleanup.use(await serve(env, ['--role', 'api']));
  const call = caller(api, env.RINGBACK_API_KEY);
  const subscriptions: string[] = [];
  for (const [i, port] of ports.entries()) {
    const query = new URLSearchParams({ callbackUrl: `http://127.0.0.1:${port}/`, event: `e${i}` });
    const { subscriberId } = await call('POST', `/subscribe?${query.toString()}`);
    subscriptions.push(String(subscriberId));
  }
  const stage = { env, call, subscriptions, receiver };
  const ratio = await compare(stage, small);
  await compare(stage, full);
  console.log(`with caps of ${small.cap}: ${ratio.toFixed(2)}, expected at least ${ratioMin}`);
  if (ratio < ratioMin) process.exitCode = 1;
}

interface Stage {
  env: Readonly<Record<string, string>>;
  call: Call;
  subscriptions: readonly string[];
  receiver: ChildProcess;
}

interface Load {
  cap: number;
  backlog: number;
  rounds: number;
}

/** The median ratio of neighbouring rounds: the load of the machine changes more slowly. */
async function compare(stage: Stage, load: Load): Promise<number> {
  const { cap, backlog, rounds } = load;
  await using _first = await startWorker(stage.env, { name: 'first', cap });
  const rates = { one: new Array<number>(), two: new Array<number>() };
  for (let round = 0; round <= rounds; round += 1) {
    const one = await drain(stage, backlog);
    await using second = await startWorker(stage.env, { name: 'second', cap });
    const two = await drain(stage, backlog);
    second.signal('SIGTERM');
    assert.equal(await second.ended, 0);
    if (round === 0) continue; // Warm-up.
    rates.one.push(one);
    rates.two.push(two);
  }
  const ratio = median(rates.two.map((two, i) => two / (rates.one[i] ?? two)));
  const most = (Math.min(lanes * cap, limits.windowClaimedMax) * 1_000) / answerMs;
  console.log(`${lanes} lanes, caps of ${cap}: at most ${most}/s a node with a store of no time`);
  console.log(`  one worker: ${median(rates.one).toFixed(0)} deliveries/s`);
  console.log(`  two workers: ${median(rates.two).toFixed(0)} deliveries/s`);
  console.log(`  ratio: ${ratio.toFixed(2)}`);
  return ratio;
}

async function startWorker(
  env: Stage['env'],
  { name, cap }: { name: string; cap: number },
): Promise<Child> {
  const child = startChild(['serve', '--role', 'worker', '--port', '0', '--node-name', name], {
    ...env,
    BENCH_LANE_CAP: String(cap),
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'lane-cap.ts')}`,
  });
  await child.says(/delivers, .*\n/);
  return child;
}

/** Fills the lanes while they are paused, resumes them, and returns deliveries per second. */
async function drain(stage: Stage, backlog: number): Promise<number> {
  const { call, subscriptions, receiver } = stage;
  const setAll = async (state: 'paused' | 'active'): Promise<void> => {
    for (const id of subscriptions) await call('PATCH', `/subscriptions/${id}`, { state });
  };
  await setAll('paused');
  const payload = { message: 'x'.repeat(500) };
  for (let left = backlog; left > 0; left -= limits.batchEventsMax) {
    const events = Array.from({ length: Math.min(left, limits.batchEventsMax) }, (_, i) => ({
      event: `e${i % lanes}`,
      payload,
    }));
    await call('POST', '/events/batch', { events });
  }
  const counted = once(receiver, 'message');
  receiver.send(backlog);
  await setAll('active');
  const [rate] = await counted;
  assert(typeof rate === 'number');
  return rate;
}

type Call = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

function caller({ url }: Serving, key: string): Call {
  return async (method, path, body) => {
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const answer = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await answer.text();
    assert(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
}

/**
 * The receivers, in a process of their own: a server per lane, because a node opens at most
 * `connectionsPerOriginMax` connections to each. Given the size of a backlog, it reports the rate
 * between its first and last tenth, while the caps are fully grown and both lanes are full.
 */
async function receive(): Promise<void> {
  const count = { left: 0, of: 0, fromMs: 0, toMs: 0 };
  process.on('message', (backlog) => {
    Object.assign(count, { left: backlog, of: backlog });
  });
  process.on('disconnect', () => process.exit());
  const answered = (): void => {
    count.left -= 1;
    if (count.left === count.of * 0.9) count.fromMs = performance.now();
    if (count.left === count.of * 0.1) count.toMs = performance.now();
    if (count.left === 0) process.send?.((count.of * 800) / (count.toMs - count.fromMs));
  };
  const ports: number[] = [];
  for (let lane = 0; lane < lanes; lane += 1) {
    const server = createServer((request, response) => {
      request.resume();
      setTimeout(() => {
        response.end('ok');
        answered();
      }, answerMs);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert(typeof address === 'object' && address !== null);
    ports.push(address.port);
  }
  process.send?.(ports);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
