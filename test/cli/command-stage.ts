// A service for tests of commands that call it: commands run in this process, or on a pseudo-terminal.
import assert from 'node:assert/strict';
import { start, type Started, type StartOptions } from '../api/harness.ts';
import { runHere, type InProcess, type InProcessOptions } from './in-process.ts';
import {
  runOnTerminal,
  startOnTerminal,
  type Ended,
  type Shown,
  type TerminalOptions,
} from './pty.ts';

export interface Commanded extends AsyncDisposable {
  service: Started;
  /** The settings with its URL and key. */
  env: Readonly<Record<string, string>>;
  /** Runs with output to a pipe, or with `columns` to a screen. */
  run: (args: readonly string[], options?: InProcessOptions) => Promise<InProcess>;
  /** Runs with --json; returns the one JSON value of its output. */
  json: (args: readonly string[], options?: InProcessOptions) => Promise<Record<string, unknown>>;
  /** Runs on a pseudo-terminal until it exits. */
  onTerminal: (args: readonly string[], options?: TerminalOptions) => Promise<Ended>;
  startOnTerminal: (args: readonly string[], options?: TerminalOptions) => Shown;
}

export async function startCommanded(
  settings: Readonly<Record<string, string>> = {},
  more: Pick<StartOptions, 'openStore'> = {},
): Promise<Commanded> {
  const service = await start({ ...more, env: { RINGBACK_LOG: 'silent', ...settings } });
  const env = { RINGBACK_URL: service.url, RINGBACK_API_KEY: service.key };
  const run: Commanded['run'] = async (args, options = {}) =>
    runHere(args, { ...options, env: { ...env, ...options.env } });
  const withEnv = (options: TerminalOptions): TerminalOptions => ({
    ...options,
    env: { ...env, ...options.env },
  });
  return {
    service,
    env,
    run,
    json: async (args, options = {}) => {
      const { code, out, err } = await run([...args, '--json'], options);
      assert.deepEqual([code, err], [0, '']);
      assert.match(out, /^[^\n]*\n$/, 'one line');
      return JSON.parse(out) as Record<string, unknown>;
    },
    onTerminal: async (args, options = {}) => runOnTerminal(args, withEnv(options)),
    startOnTerminal: (args, options = {}) => startOnTerminal(args, withEnv(options)),
    [Symbol.asyncDispose]: async () => service[Symbol.asyncDispose](),
  };
}

/** The error that --json prints to standard error. */
export function errorOf({ err }: InProcess): Record<string, unknown> {
  const { error } = JSON.parse(err) as { error: Record<string, unknown> };
  return error;
}
