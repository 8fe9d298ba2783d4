// Settings as flags: RINGBACK_ALLOW_TARGETS is also --allow-targets. A flag wins over the variable.
import { parseArgs } from 'node:util';
import { readConfig, settings, type Config, type Environment } from '../config.ts';
import { CliFailure } from './failure.ts';

export interface Flags {
  /** The environment with the settings' flags laid over it. */
  env: Environment;
  /** Flags of the command itself. */
  own: Readonly<Record<string, string | undefined>>;
  positionals: readonly string[];
}

export function readFlags(
  args: readonly string[],
  env: Environment,
  own: readonly string[],
): Flags {
  const ours = Object.values(settings).map((row) => [flagOf(row.env), row.env] as const);
  const names = [...ours.map(([flag]) => flag), ...own];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { values, positionals } = parse(args, options);
  const given = Object.fromEntries(
    ours.flatMap(([flag, name]) => (values[flag] === undefined ? [] : [[name, values[flag]]])),
  );
  return { env: { ...env, ...given }, own: values, positionals };
}

/** The config, or all that is wrong with it at once. Warnings go to the terminal. */
export function configOf(env: Environment, warn: (text: string) => void): Config {
  const reading = readConfig(env);
  if (reading.kind === 'mistakes') throw new CliFailure(reading.mistakes.join('\n'));
  for (const warning of reading.warnings) warn(`Warning: ${warning}\n`);
  return reading.config;
}

function flagOf(name: string): string {
  return name
    .replace(/^RINGBACK_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
}

function parse(
  args: readonly string[],
  options: Record<string, { type: 'string' }>,
): { values: Record<string, string | undefined>; positionals: readonly string[] } {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    if (error instanceof TypeError) throw new CliFailure(error.message, { cause: error });
    throw error;
  }
}
