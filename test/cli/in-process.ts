// The command line without a process of its own: the same words, the same exit code, in a tenth of the
// time. What only a process has (signals, a real terminal) is looked at in child.ts and pty.ts.
import { Readable } from 'node:stream';
import { commands } from '../../src/cli/program/commands.ts';
import { runCommandLine } from '../../src/cli/program/run.ts';
import type { Terminal } from '../../src/cli/terminal/terminal.ts';
import { realWorld } from '../../src/core/base/world.ts';
import type { Env } from './ringback-process.ts';

export interface InProcess {
  code: number;
  out: string;
  err: string;
}

export interface InProcessOptions {
  env?: Env;
  /** As on a screen that is so wide; otherwise as into a pipe. */
  columns?: number;
  /** What is piped in. */
  input?: string;
  /** Ctrl+C, where it comes. */
  stopped?: Promise<void>;
  /** Told all that it has said on standard output so far, whenever that is more. */
  onOut?: (out: string) => void;
}

/** For commands that come to an end by themselves. */
export async function runHere(
  args: readonly string[],
  { env = {}, columns, input, stopped, onOut }: InProcessOptions = {},
): Promise<InProcess> {
  const said = { out: '', err: '' };
  const terminal = terminalOf({
    env,
    columns,
    input,
    ...(stopped === undefined ? {} : { stopped }),
    out: (text) => {
      said.out += text;
      onOut?.(said.out);
    },
    err: (text) => void (said.err += text),
  });
  const code = await runCommandLine(args, terminal, commands);
  return { code, ...said };
}

type TerminalInput = Pick<Terminal, 'out' | 'err'> &
  Partial<Pick<Terminal, 'stopped'>> & {
    env: Env;
    columns: number | undefined;
    input?: string | undefined;
  };

export function terminalOf({ env, columns, input, out, err, stopped }: TerminalInput): Terminal {
  const isTerminal = columns !== undefined;
  return {
    out,
    err,
    isTerminal,
    isScreen: isTerminal,
    log: { isTerminal, isColoured: isTerminal },
    width: () => columns ?? Infinity,
    input: { isTerminal: false, bytes: () => Readable.from([Buffer.from(input ?? '')]) },
    env,
    world: realWorld(),
    stopped: stopped ?? new Promise<void>(() => undefined),
  };
}
