#!/usr/bin/env node
// argv → command. Mistakes are sentences on stderr; the exit code says whether it worked.
import { backup, backupUsage } from './cli/backup.ts';
import { check, checkHelp, checkUsage } from './cli/check.ts';
import { doctor, doctorHelp, doctorUsage } from './cli/doctor.ts';
import { CliFailure } from './cli/failure.ts';
import { key, keyUsage } from './cli/key.ts';
import { listen, listenUsage } from './cli/listen.ts';
import { migrate, migrateUsage } from './cli/migrate.ts';
import type { Terminal } from './cli/terminal.ts';
import { version } from './core/version.ts';
import { realWorld } from './core/world.ts';

const commands = { serve, listen, key, check, migrate, backup, doctor };

/** Loaded only when it is asked for: the others are there in half the time without the whole service. */
async function serve(args: readonly string[], terminal: Terminal): Promise<void> {
  const command = await import('./cli/serve.ts');
  return command.serve(args, terminal);
}

/** Commands that have more to say about themselves than one line. */
const help: Readonly<Record<string, string>> = { check: checkHelp, doctor: doctorHelp };

const usage = `Ringback ${version}: a subscription and callback service.

Usage:
  ringback serve [--port 8080] [--data ./data] …     every setting is a flag: docs/settings.md
${listenUsage}${keyUsage.replace('Usage:\n', '')}${checkUsage}${migrateUsage}${backupUsage}${doctorUsage}  ringback --version
`;

async function main([name, ...args]: readonly string[], terminal: Terminal): Promise<void> {
  if (name === '--version') return terminal.out(`${version}\n`);
  if (name === undefined || name === '--help' || name === 'help') return terminal.out(usage);
  const command = Object.entries(commands).find(([known]) => known === name)?.[1];
  if (command === undefined) {
    const known = Object.keys(commands).join(' or ');
    throw new CliFailure(`Cannot run "${name}": expected ${known}\n\n${usage}`);
  }
  if (args.includes('--help')) return terminal.out(help[name] ?? usage);
  return command(args, terminal);
}

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

const isColourless = (process.env['NO_COLOR'] ?? '') !== '';
let stopped: Promise<void> | undefined;
const terminal: Terminal = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  isTerminal: process.stdout.isTTY,
  isScreen: process.stdout.isTTY && !isColourless,
  log: { isTerminal: process.stderr.isTTY, isColoured: process.stderr.isTTY && !isColourless },
  env: process.env,
  world: realWorld(),
  get stopped() {
    return (stopped ??= untilSignal());
  },
};

try {
  await main(process.argv.slice(2), terminal);
  process.exitCode ??= 0;
} catch (error) {
  if (!(error instanceof CliFailure)) throw error;
  terminal.err(`${error.message}\n`);
  process.exitCode = error.exitCode;
}
