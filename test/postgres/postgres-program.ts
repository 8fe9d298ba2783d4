// One of PostgreSQL's own programs as a child: what it says, and when the last of its family is gone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import type { Account } from './os-account.ts';
import { advice, cannotStart } from './binaries.ts';

export interface Program {
  readonly pid: number | undefined;
  /** Resolves when it has said the text; rejects when it ends without. */
  says: (text: string) => Promise<void>;
  /**
   * Resolves with the exit code when the last of the family has let go of memory and pipes, orphans
   * included: until then one of them holds this pipe, too. No code: a signal, or it never ran.
   */
  readonly gone: Promise<number | null>;
  /** Whether it keeps this process awake. At first it does. */
  ref: () => void;
  unref: () => void;
  /** What is wrong, with the end of what it said. */
  failure: () => Error;
}

const logCharsMax = 20_000;

export function run(path: string, args: readonly string[], as: Account & { cwd: string }): Program {
  const child = spawn(path, args, {
    ...as,
    // PGPORT, PGOPTIONS and the like are not for this server; macOS wants a locale that it knows.
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
    // In a session of its own: Ctrl-C in the terminal is for the tests, which then end it.
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
      cause = error; // There is no such program, or it is not for this machine.
      return null;
    },
  );
  const failure = (): Error => {
    const said = log.trim() || (cause?.message ?? 'it said nothing');
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
