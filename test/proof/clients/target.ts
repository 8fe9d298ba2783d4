// The service that is attacked: the real one, in a process of its own, on a file of its own; and what can
// be seen of it from outside.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sendTo, type Answer, type Call } from '../../api/harness.ts';
import { serve, type Env } from '../../cli/ringback-process.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import { withScratch } from '../crash/points.ts';
import type { Finding } from '../finding.ts';

export interface Target {
  url: string;
  key: string;
  pid: number;
  appId: string;
  /** For other programs of ours that are to be broken in the same way. */
  env: Env;
  call: (call: Call) => Promise<Answer>;
  /** What it has logged up to now. */
  log: () => string;
  /** Undefined while it runs. */
  ended: () => number | string | undefined;
}

export interface TargetOptions {
  /** The product as it is, or broken on purpose. */
  changes?: readonly SourceChange[];
  env?: Env;
}

export interface Attempt {
  target: Target;
  figures: Finding['figures'];
  violations: string[];
}

/** Starts it, lets `body` attack it, and looks afterwards whether it is well. */
export async function attack(
  part: string,
  { changes = [], env = {} }: TargetOptions,
  body: (attempt: Attempt) => Promise<void>,
): Promise<Finding> {
  return withScratch(async (scratch) => {
    const key = 'k'.repeat(40);
    const violations: string[] = [];
    const figures: Finding['figures'] = {};
    await using serving = await serve({
      RINGBACK_DATA: join(scratch, 'data'),
      RINGBACK_API_KEY: key,
      ...collecting(changes),
      ...env,
    });
    let end: number | string | undefined;
    void serving.ended.then((code) => (end = code));
    const target: Target = {
      url: serving.url,
      key,
      pid: serving.pid ?? 0,
      appId: serving.appId,
      env: changedSource(changes),
      call: async (call) => sendTo(serving.url, key, call),
      log: serving.err,
      ended: () => end,
    };
    await body({ target, figures, violations });
    if (end !== undefined) violations.push(`I12: the process ended with ${end}`);
    violations.push(...failuresIn(serving.err(), env['RINGBACK_LOG_FORMAT'] === 'pretty'));
    return { part, figures, violations: few(violations) };
  });
}

/** One cause breaks a thousand cells: the first ones are enough to see it. */
function few(violations: readonly string[]): string[] {
  const more = violations.length - shownMax;
  return more <= 0 ? [...violations] : [...violations.slice(0, shownMax), `and ${more} more`];
}

const shownMax = 20;

function collecting(changes: readonly SourceChange[]): Env {
  const { NODE_OPTIONS, ...rest } = changedSource(changes);
  const preloads = ['./collect.ts', './turns.ts'].map(
    (file) => `--import=${new URL(file, import.meta.url).href}`,
  );
  return { ...rest, NODE_OPTIONS: [NODE_OPTIONS, ...preloads].join(' ') };
}

/**
 * What it holds when its garbage is collected. Linux only: elsewhere nothing is known, and nothing claimed.
 */
export async function residentMiB({ pid, call }: Target): Promise<number> {
  process.kill(pid, 'SIGUSR2');
  // Answered behind the collection, which happens in the same thread. Once more for what it set free.
  for (let i = 0; i < 3; i += 1) await call({ path: '/healthz' });
  return memory(pid, 'VmRSS');
}

export function peakMiB({ pid }: Target): number {
  return memory(pid, 'VmHWM');
}

export function descriptors({ pid }: Target): number {
  return process.platform === 'linux' ? readdirSync(`/proc/${pid}/fd`).length : 0;
}

function memory(pid: number, name: string): number {
  if (process.platform !== 'linux') return 0;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]);
  return Math.round(kib / 1_024);
}

/**
 * Whatever a client does, it is no failure of ours; and a line of the log is one fact. That the store was
 * too late is of the machine: nobody here keeps it from answering.
 */
function failuresIn(log: string, isPretty: boolean): string[] {
  if (isPretty) return [];
  const lines = log.split('\n').filter((line) => line !== '');
  const failures = lines.filter(
    (line) => /"level":[56]0/.test(line) && !line.includes('"code":"store_unavailable"'),
  );
  const broken = lines.filter((line) => !isOneFact(line));
  return [
    ...failures.slice(0, 3).map((line) => `I12: it failed: ${line.slice(0, 600)}`),
    ...broken.slice(0, 3).map((line) => `log: a line is no fact: ${line.slice(0, 300)}`),
  ];
}

function isOneFact(line: string): boolean {
  try {
    const fact: unknown = JSON.parse(line);
    return typeof fact === 'object' && fact !== null && 'level' in fact;
  } catch {
    return false;
  }
}
