// Runs one of PostgreSQL's programs as a child process: its output, and the end of its last descendant.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import type { Account } from './os-account.ts';
import { advice, cannotStart } from './binaries.ts';

export interface Program {
  readonly pid: number | undefined;
  /** Resolves when the output contains the text; rejects if the program ends before that. */
  says: (text: string) => Promise<void>;
  /**
   * Resolves with the exit code when the last descendant has ended, including orphans: until then one of
   * them holds the pipe open. Null: it was killed by a signal, or never ran.
   */
  readonly gone: Promise<number | null>;
  /** Whether it keeps this process alive. Initially it does. */
  ref: () => void;
  unref: () => void;
  /** An error with the end of its output. */
  failure: () => Error;
}

const logCharsMax = 20_000;

export function run(path: string, args: readonly string[], as: Account & { cwd: string }): Program {
  const child = spawn(path, args, {
    ...as,
    // PGPORT, PGOPTIONS and the like must not affect this server; macOS needs a known locale.
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
    // In its own session, so that Ctrl-C in the terminal reaches only the tests, which then end it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-logCharsMax);
      for (const listener of listeners) listener();
    });
  }
  let cause: Error | undefined;
  const gone = once(child, 'close').then(
    ([code]) => (typeof code === 'number' ? code : null),
    (error: Error) => {
      cause = error; // The program does not exist, or is not for this machine.
      return null;
    },
  );
  const failure = (): Error => {
    const said = log.trim() || (cause?.message ?? 'no output');
    return new Error(`${cannotStart}: "${path}" failed:\n${said}\n${advice}`, { cause });
  };
  const says: Program['says'] = async (text) => {
    const found = Promise.withResolvers<void>();
    const look = (): void => void (log.includes(text) && found.resolve());
    listeners.add(look);
    look();
    void gone.then(() => found.reject(failure()));
    return found.promise.finally(() => listeners.delete(look));
  };
  const pipes = [child.stdout, child.stderr].filter((stream) => stream instanceof Socket);
  const handles = [child, ...pipes];
  return {
    pid: child.pid,
    says,
    gone,
    ref: () => handles.forEach((handle) => handle.ref()),
    unref: () => handles.forEach((handle) => handle.unref()),
    failure,
  };
}
