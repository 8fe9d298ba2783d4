// Runs the command line in this process: the same output and exit code, in a tenth of the time. Signals and
// real terminals need a process: ringback-process.ts and pty.ts.
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
  /** Output to a screen of this width; without it, to a pipe. */
  columns?: number;
  /** Standard input. */
  input?: string;
  /** Resolves on Ctrl+C. */
  stopped?: Promise<void>;
  /** Called with all standard output so far, whenever there is more. */
  onOut?: (out: string) => void;
}

/** Runs a command that ends by itself. */
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
