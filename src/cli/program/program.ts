// The program: its terminal, its commands, and its exit code.
import { commands } from './commands.ts';
import { runCommandLine } from './run.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { realWorld } from '../../core/base/world.ts';

/**
 * The first signal asks to stop; a second one ends the process at once. Commands that never ask for
 * `stopped` keep the default behaviour and end at once, except a backup while it copies.
 */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    stop = resolve;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

/** Undefined until a command asks for `stopped`. */
let stop: (() => void) | undefined;

/**
 * The reader of the output has closed it: `ringback events --all | head -1`. Further output is
 * pointless, so it means that the program should stop. Only `serve` goes on.
 */
function outFailed({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE' && process.argv[2] === 'serve') return;
  if (code === 'EPIPE' && stop !== undefined) return stop();
  if (code !== 'EPIPE') process.stderr.write(`Cannot write to standard output: ${message}\n`);
  process.exit(code === 'EPIPE' ? readerLeft : 1);
}

/** The exit code of a program that SIGPIPE ends. */
const readerLeft = 141;

process.stdout.on('error', outFailed);
process.stderr.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') process.exit(1); // There is nowhere left to report it.
});

const isColourless = (process.env['NO_COLOR'] ?? '') !== '' || process.env['TERM'] === 'dumb';
/** For a terminal that does not report its width. */
const columnsUnknown = 80;
let stopped: Promise<void> | undefined;
const terminal: Terminal = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  isTerminal: process.stdout.isTTY,
  isScreen: process.stdout.isTTY && !isColourless,
  log: { isTerminal: process.stderr.isTTY, isColoured: process.stderr.isTTY && !isColourless },
  width: () => (process.stdout.isTTY ? process.stdout.columns || columnsUnknown : Infinity),
  input: { isTerminal: process.stdin.isTTY, bytes: () => process.stdin },
  env: process.env,
  world: realWorld(),
  get stopped() {
    return (stopped ??= untilSignal());
  },
};

process.exitCode = await runCommandLine(process.argv.slice(2), terminal, commands);
