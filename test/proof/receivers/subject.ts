// The service under proof, as the process that a person would start; and what can be seen of it from
// outside: what waits, what it weighs, what it has open, how late its loop is, what it logs.
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { compileCache, serve, type Env } from '../../cli/ringback-process.ts';

export interface Subject extends AsyncDisposable {
  subscribe: (wanted: Wanted) => Promise<void>;
  /** So many events of that name. */
  publish: (event: string, count: number) => Promise<void>;
  /** Resolves when so many deliveries have ended in all, or after that time, with what is missing. */
  drain: (ended: number, mostMs: number) => Promise<number>;
  /** How many have been delivered in all. */
  delivered: () => Promise<number>;
  weigh: () => Weight;
  /** Seconds: the 99th percentile of how late its loop was of late, and the worst. */
  lag: () => Promise<{ p99: number; worst: number }>;
  /** As a person stops it. */
  stop: () => Promise<number | string>;
  readLog: () => Promise<LogRead>;
}

/** A subscription whose deliveries have one attempt each. */
export interface Wanted {
  url: string;
  events: string;
  /** How many attempts of it may be under way; as many as its receiver takes well, unless said otherwise. */
  concurrency?: number;
}

export interface Weight {
  rssMiB: number;
  /** Without what belongs to files. */
  ownMiB: number;
  peakMiB: number;
  open: number;
  /** Since its start, all threads. */
  cpuMs: number;
}

export interface LogRead {
  lines: number;
  bytes: number;
  /** A receiver's doing is none of ours: lines of errors of our own. */
  ownFailures: string[];
}

type Totals = Record<'delivered' | 'dead' | 'cancelled', number>;

const main = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts');
const key = 'k'.repeat(40);
const lookAgainMs = 15;
const ownFailuresShown = 5;

export async function startSubject(folder: string, env: Env): Promise<Subject> {
  const logFile = join(folder, 'log');
  // Some hundred megabytes: they are for nobody's memory.
  const program = ['/bin/sh', '-c', 'exec "$0" "$@" 2>>"$LOG"', process.execPath, main] as const;
  const serving = await serve(
    {
      RINGBACK_DATA: join(folder, 'data'),
      RINGBACK_API_KEY: key,
      RINGBACK_METRICS: 'open',
      RINGBACK_LOG_FORMAT: 'json',
      NODE_COMPILE_CACHE: compileCache,
      LOG: logFile,
      ...env,
    },
    [],
    program,
  );
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const call = async (path: string, status: number, body?: object): Promise<unknown> => {
    const request = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(serving.url + path, { headers, ...request });
    const text = await response.text();
    if (response.status !== status) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const totals = async (): Promise<Totals> =>
    ((await call('/stats?range=1h', 200)) as { totals: Totals }).totals;
  return {
    subscribe: async ({ url, events, ...more }) => {
      const controls = { events: [events], retry: [], ...more };
      await call('/subscribe', 201, { callbackUrl: url, 'x-ringback': controls });
    },
    publish: async (event, count) => {
      const one = { event, payload: { message: 'are you there' } };
      await call('/events/batch', 202, { events: Array.from({ length: count }, () => one) });
    },
    drain: async (ended, mostMs) => {
      const lastMs = performance.now() + mostMs;
      for (;;) {
        const { delivered, dead, cancelled } = await totals();
        const missing = ended - delivered - dead - cancelled;
        if (missing <= 0 || performance.now() > lastMs) return missing;
        await wait(lookAgainMs);
      }
    },
    delivered: async () => (await totals()).delivered,
    weigh: () => weightOf(serving.pid ?? 0),
    lag: async () => {
      const text = await (await fetch(`${serving.url}/metrics`)).text();
      const read = (name: string): number =>
        Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
      const [p99, worst] = ['p99', 'max'].map((one) => read(`ringback_loop_lag_${one}_seconds`));
      return { p99: p99 ?? NaN, worst: worst ?? NaN };
    },
    stop: async () => {
      serving.signal('SIGTERM');
      return serving.ended;
    },
    readLog: async () => readLog(logFile),
    [Symbol.asyncDispose]: async () => serving[Symbol.asyncDispose](),
  };
}

/** Linux only, where proofs run. */
function weightOf(pid: number): Weight {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_024;
  return {
    rssMiB: read('VmRSS'),
    ownMiB: read('RssAnon'),
    peakMiB: read('VmHWM'),
    open: readdirSync(`/proc/${pid}/fd`).length,
    cpuMs: cpuMsOf(readFileSync(`/proc/${pid}/stat`, 'utf8')),
  };
}

/** The 14th and 15th field, in ticks of 10 ms; the second one may hold anything, in parentheses. */
function cpuMsOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function readLog(file: string): Promise<LogRead> {
  const found: LogRead = { lines: 0, bytes: 0, ownFailures: [] };
  for await (const line of createInterface({ input: createReadStream(file) })) {
    found.lines += 1;
    found.bytes += line.length + 1;
    const isOwn = /^\{"level":[56]0/.test(line);
    if (isOwn && found.ownFailures.length < ownFailuresShown) found.ownFailures.push(line);
  }
  return found;
}
