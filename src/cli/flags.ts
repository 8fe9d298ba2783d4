// Settings as flags: RINGBACK_ALLOW_TARGETS is also --allow-targets. A flag wins over the variable.
import { parseArgs } from 'node:util';
import { readConfig, settings, type Config, type Environment } from '../config.ts';
import { readSwitch } from '../config/readers.ts';
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
  const options = Object.fromEntries(names.map((name) => [name, stringOption]));
  const { values, positionals } = parse(withValues(args), options);
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
  options: Record<string, typeof stringOption>,
): { values: Record<string, string | undefined>; positionals: readonly string[] } {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    const values = Object.entries(parsed.values).map(
      ([name, all]) => [name, joined(name, all ?? [])] as const,
    );
    return { values: Object.fromEntries(values), positionals: parsed.positionals };
  } catch (error) {
    if (error instanceof TypeError) throw new CliFailure(error.message, { cause: error });
    throw error;
  }
}

const stringOption = { type: 'string', multiple: true } as const;

/** Of a flag that is given twice the last one counts; files are gathered. */
function joined(name: string, all: readonly string[]): string | undefined {
  return name === flagOf(settings.contract.env) ? all.join('\n') : all.at(-1);
}

/** A switch may stand without a value: `--lenient` is `--lenient on`. */
function withValues(args: readonly string[]): string[] {
  const switches = new Set(
    Object.values(settings)
      .filter(({ read }) => read === readSwitch)
      .map(({ env }) => `--${flagOf(env)}`),
  );
  return args.flatMap((arg, index) => {
    const next = args[index + 1];
    const isBare = switches.has(arg) && (next === undefined || next.startsWith('-'));
    return isBare ? [arg, 'on'] : [arg];
  });
}
