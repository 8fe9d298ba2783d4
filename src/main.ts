#!/usr/bin/env node
// The program: its terminal, its commands, and its exit code.
import { commands } from './cli/commands.ts';
import { runCommandLine } from './cli/run.ts';
import type { Terminal } from './cli/terminal.ts';
import { realWorld } from './core/world.ts';

/**
 * The first signal asks to stop; the second one is not waited for. Commands that never ask for this end at
 * once, as any program does: a backup is deaf while it copies.
 */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

// Whoever read this has left: `ringback serve | head -1`. That is no reason to stop.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const isColourless = (process.env['NO_COLOR'] ?? '') !== '' || process.env['TERM'] === 'dumb';
/** Of a terminal that does not say how wide it is. */
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
