// Ringback as a real process, as a person starts it. Tests wait for its output, never for time.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertCleanLog, keepSettings } from '../canary.ts';

const source = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
/** The built program, if the global setup has built it: `check` then takes half the CPU time of the source. */
export const main = process.env['TEST_PROGRAM'] ?? source;

/** A command and its entry point: those of the checkout, unless a test has installed another. */
export type Program = readonly [command: string, ...entry: string[]];

/** A hook that changes source files on loading (test/proof/controls) would not find them in the bundle. */
function ownProgram(env: Env): Program {
  return [process.execPath, env['NODE_OPTIONS'] === undefined ? main : source];
}

/** A safety net for tests that would hang: passing tests take far less. */
export const patienceMs = 180_000;

/** Dozens of processes compile the same source; with the cache, each after the first takes half the time. */
export const compileCache = process.env['NODE_COMPILE_CACHE'] ?? ownCompileCache();

/** Used if no global setup has created a shared one. */
function ownCompileCache(): string {
  const path = mkdtempSync(join(tmpdir(), 'ringback-compiled-'));
  process.on('exit', () => rmSync(path, { recursive: true, force: true }));
  return path;
}

export interface Child extends AsyncDisposable {
  pid: number | undefined;
  out: () => string;
  err: () => string;
  /** Resolves when the output matches; rejects if the process ends before that. */
  says: (pattern: RegExp, stream?: 'out' | 'err') => Promise<RegExpExecArray>;
  signal: (name: NodeJS.Signals) => void;
  /** Stops reading its output. Resolves when it has ended nevertheless. */
  deafen: () => Promise<number | string>;
  /** The exit code, or the name of the signal that ended it. */
  ended: Promise<number | string>;
}

export interface Ended {
  code: number | string;
  out: string;
  err: string;
}

export type Env = Readonly<Record<string, string>>;

/**
 * Passes only `env`, what a shell needs, and the time limit of tools/test.ts, so that no other setting of the machine
 * leaks into a test.
 */
export function startChild(
  args: readonly string[],
  env: Env = {},
  [command, ...entry]: Program = ownProgram(env),
): Child {
  const { PATH = '', HOME = '', RINGBACK_STORE_TIMEOUT } = process.env;
  const limit = RINGBACK_STORE_TIMEOUT === undefined ? {} : { RINGBACK_STORE_TIMEOUT };
  const child: ChildProcess = spawn(command, [...entry, ...args], {
    env: { PATH, HOME, TZ: 'UTC', NODE_COMPILE_CACHE: compileCache, ...limit, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  keepSettings(env);
  const texts = { out: '', err: '' };
  const listeners = new Set<() => void>();
  const hear = (stream: keyof typeof texts, chunk: Buffer): void => {
    texts[stream] += chunk.toString();
    for (const listener of listeners) listener();
  };
  child.stdout?.on('data', (chunk: Buffer) => hear('out', chunk));
  child.stderr?.on('data', (chunk: Buffer) => hear('err', chunk));
  const ended = new Promise<number | string>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? String(signal)));
  });
  const says: Child['says'] = async (pattern, stream = 'out') => {
    const found = Promise.withResolvers<RegExpExecArray>();
    const look = (): void => {
      const match = pattern.exec(texts[stream]);
      if (match !== null) found.resolve(match);
    };
    listeners.add(look);
    look();
    const giveUp = AbortSignal.timeout(patienceMs);
    const fail = (why: string): void =>
      found.reject(new Error(`${why} and did not say ${pattern}:\n${texts.out}\n${texts.err}`));
    giveUp.addEventListener('abort', () => fail('It did not end'));
    ended.then(
      (code) => fail(`It ended with ${code}`),
      (error: unknown) => fail(String(error)),
    );
    try {
      return await found.promise;
    } finally {
      listeners.delete(look);
    }
  };
  return {
    pid: child.pid,
    out: () => texts.out,
    err: () => texts.err,
    says,
    signal: (name) => void child.kill(name),
    deafen: async () => {
      const pipes = [child.stdout, child.stderr];
      for (const pipe of pipes) pipe?.pause();
      return new Promise((resolve) => {
        child.on('exit', (code, signal) => {
          for (const pipe of pipes) pipe?.resume(); // Otherwise it would never emit `close`.
          resolve(code ?? String(signal));
        });
      });
    },
    ended,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
      assertCleanLog('the log of a process', texts.err);
    },
  };
}

/** Runs a command to its end. */
export async function runChild(
  args: readonly string[],
  env: Env = {},
  program: Program = ownProgram(env),
): Promise<Ended> {
  await using child = startChild(args, env, program);
  const code = await child.ended;
  return { code, out: child.out(), err: child.err() };
}

export interface Serving extends Child {
  /** The URL that it prints. */
  url: string;
  appId: string;
  /** The key that it prints, if any. */
  key: string | undefined;
}

export async function serve(
  env: Env,
  args: readonly string[] = [],
  program: Program = ownProgram(env),
): Promise<Serving> {
  const child = startChild(['serve', ...args], { RINGBACK_PORT: '0', ...env }, program);
  try {
    const [, url = ''] = await child.says(/listens on (\S+)\n/);
    const [, appId = ''] = await child.says(/app id +(\S+)\n/);
    await child.says(/ curl .*\n\n/);
    const key = /API key +(rbk_\S+)/.exec(child.out())?.[1];
    return { ...child, url, appId, key };
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  }
}

export interface Folder extends AsyncDisposable {
  path: string;
}

export async function newFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'ringback-cli-'));
  return { path, [Symbol.asyncDispose]: async () => rm(path, { recursive: true, force: true }) };
}

/** The settings of a service with its data in this folder. */
export function data({ path }: Folder, more: Env = {}): Env {
  return { RINGBACK_DATA: path, ...more };
}

export async function status(url: string, init: RequestInit = {}): Promise<number> {
  const response = await fetch(url, init);
  await response.arrayBuffer();
  return response.status;
}
