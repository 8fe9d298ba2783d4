// Ringback as a user starts it, with all of its features: as one process with a file, or on
// PostgreSQL.
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { samplePayload } from '../harness/numbered-payloads.ts';
import { waitForOutput } from '../harness/wait-for-output.ts';
import type { Contender } from './contender.ts';
import { programOf } from './program.ts';

const here = join(import.meta.dirname, '..', '..');
const key = 'bench-bench-bench-bench-bench-bench';

export interface Ringback extends Contender {
  url: string;
  call: Call;
  pid: number;
  /** Resolves when the process is gone. Its folder or database stays. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

export interface Subscribed extends Ringback {
  /** Ids of the subscriptions. */
  subscriptions: readonly string[];
}

export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;
type Answer = Readonly<Record<string, unknown>>;

export interface RingbackOptions {
  name: string;
  /** On PostgreSQL; without it, on a file of its own. */
  databaseUrl?: string;
  /** A data folder to start on. */
  dataDir?: string;
  args?: readonly string[];
  /** Arguments for Node itself. */
  nodeArgs?: readonly string[];
  /** The checkout to run; by default this one. */
  root?: string | undefined;
  /** Runs the source, so that profiles name its functions. */
  isSource?: boolean;
}

export async function startRingback(options: RingbackOptions): Promise<Ringback> {
  await using made = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'ringback-bench-'));
  made.defer(async () => rm(folder, { recursive: true, force: true }));
  const { name, databaseUrl, dataDir = folder, args = [], nodeArgs = [], root = here } = options;
  const main = options.isSource === true ? join(root, 'src', 'main.ts') : await programOf(root);
  const place =
    databaseUrl === undefined
      ? { RINGBACK_DATA: dataDir }
      : {
          DATABASE_URL: databaseUrl,
          RINGBACK_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
        };
  const env = { RINGBACK_API_KEY: key, RINGBACK_PORT: '0', ...place };
  const child = made.use(
    await startProgram({ main, nodeArgs, args, env, logPath: join(folder, 'log') }),
  );
  const { url } = child;
  const kept = made.move();
  return {
    name,
    url,
    pids: [child.pid],
    pid: child.pid,
    kill: child.kill,
    call: callerOf(url, key),
    publish: {
      port: Number(new URL(url).port),
      path: '/events',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      bodies: [],
    },
    [Symbol.asyncDispose]: async () => kept.disposeAsync(),
  };
}

interface Program {
  main: string;
  nodeArgs: readonly string[];
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** The log goes to a file: reading it through a pipe would take a core. */
  logPath: string;
}

async function startProgram({
  main,
  nodeArgs,
  args,
  env,
  logPath,
}: Program): Promise<AsyncDisposable & Pick<Ringback, 'url' | 'pid' | 'kill'>> {
  const { PATH = '', HOME = '' } = process.env;
  const log = openSync(logPath, 'a');
  const child = spawn(process.execPath, [...nodeArgs, main, 'serve', ...args], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', log],
  });
  closeSync(log);
  const { pid } = child;
  assert(pid !== undefined && child.stdout !== null, 'Cannot start Ringback');
  const ended = once(child, 'close');
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  const [, url = ''] = await waitForOutput(child.stdout, /listens on (\S+)\n/);
  return { url, pid, kill, [Symbol.asyncDispose]: async () => kill('SIGKILL') };
}

/** One subscription per port; the i-th receives the event `e<i>`. */
export async function subscribed(
  ringback: Ringback,
  ports: readonly number[],
): Promise<Subscribed> {
  await using owned = new AsyncDisposableStack();
  owned.use(ringback);
  const subscriptions: string[] = [];
  for (const [i, port] of ports.entries()) {
    const query = new URLSearchParams({ callbackUrl: `http://127.0.0.1:${port}/`, event: `e${i}` });
    const { subscriberId } = await ringback.call('POST', `/subscribe?${query.toString()}`);
    subscriptions.push(String(subscriberId));
  }
  owned.move(); // The caller owns it from here on.
  return { ...ringback, subscriptions, publish: { ...ringback.publish, bodies: bodiesFor(ports) } };
}

/** Events in each request; larger batches are possible. */
export const perBatch = 100;

/** Publishes a hundred events with each request. */
export function inBatches<C extends Contender>(contender: C): C {
  const { publish } = contender;
  const events = Array.from({ length: perBatch }, (_, i) => {
    const body: unknown = JSON.parse(publish.bodies[i % publish.bodies.length] ?? '');
    return body;
  });
  const bodies = [JSON.stringify({ events })];
  return { ...contender, publish: { ...publish, path: '/events/batch', bodies } };
}

export async function setAll(
  { call, subscriptions }: Subscribed,
  state: 'active' | 'paused',
): Promise<void> {
  for (const id of subscriptions) await call('PATCH', `/subscriptions/${id}`, { state });
}

export function bodiesFor(ports: readonly number[]): string[] {
  return ports.map((_, i) => JSON.stringify({ event: `e${i}`, payload: samplePayload() }));
}

export function callerOf(url: string, apiKey: string): Call {
  return async (method, path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Answer;
  };
}
