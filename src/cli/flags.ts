// Settings as flags: RINGBACK_ALLOW_TARGETS is also --allow-targets. A flag wins over the variable.
import { parseArgs } from 'node:util';
import { readConfig, settings, type Config, type Environment } from '../config.ts';
import { CliFailure } from './failure.ts';

export interface Flags {
  /** The environment with the settings' flags laid over it. */
  env: Environment;
  /** Flags of the command itself. */
  own: Readonly<Record<string, string | undefined>>;
  /** Those of the command's switches that were given. */
  on: ReadonlySet<string>;
  positionals: readonly string[];
}

export function readFlags(
  args: readonly string[],
  env: Environment,
  own: readonly string[],
  switches: readonly string[] = [],
): Flags {
  const ours = Object.values(settings).map((row) => [flagOf(row.env), row.env] as const);
  const texts = [...ours.map(([flag]) => flag), ...own];
  const options = Object.fromEntries([
    ...texts.map((name) => [name, { type: 'string' }] as const),
    ...switches.map((name) => [name, { type: 'boolean' }] as const),
  ]);
  const { values, on, positionals } = parse(args, options);
  const given = Object.fromEntries(
    ours.flatMap(([flag, name]) => (values[flag] === undefined ? [] : [[name, values[flag]]])),
  );
  return { env: { ...env, ...given }, own: values, on, positionals };
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

interface Parsed {
  values: Readonly<Record<string, string | undefined>>;
  on: ReadonlySet<string>;
  positionals: readonly string[];
}

function parse(
  args: readonly string[],
  options: Readonly<Record<string, { type: 'string' | 'boolean' }>>,
): Parsed {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    const entries = Object.entries(parsed.values);
    return {
      values: Object.fromEntries(
        entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
      ),
      on: new Set(entries.flatMap(([name, value]) => (value === true ? [name] : []))),
      positionals: parsed.positionals,
    };
  } catch (error) {
    if (error instanceof TypeError) throw new CliFailure(error.message, { cause: error });
    throw error;
  }
}
