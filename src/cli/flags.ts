// Settings as flags: RINGBACK_ALLOW_TARGETS is also --allow-targets. A flag wins over the variable.
import { parseArgs } from 'node:util';
import { readConfig, type Config, type Environment } from '../config.ts';
import { settings } from '../config/settings.ts';
import { readSwitch } from '../config/readers.ts';
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
    ...texts.map((name) => [name, { type: 'string', multiple: true }] as const),
    ...switches.map((name) => [name, { type: 'boolean', multiple: true }] as const),
  ]);
  const { values, on, positionals } = parse(withValues(args), options);
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

/** A setting that is a switch may stand without a value: `--lenient` is `--lenient on`. */
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

interface Parsed {
  values: Readonly<Record<string, string | undefined>>;
  on: ReadonlySet<string>;
  positionals: readonly string[];
}

type Options = Readonly<Record<string, { type: 'string' | 'boolean'; multiple: true }>>;

function parse(args: readonly string[], options: Options): Parsed {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    const entries = Object.entries(parsed.values).map(
      ([name, all]) => [name, (all ?? []).filter((one) => typeof one === 'string')] as const,
    );
    const on = Object.entries(parsed.values).filter(([, all]) => all?.includes(true) === true);
    return {
      values: Object.fromEntries(entries.map(([name, all]) => [name, joined(name, all)])),
      on: new Set(on.map(([name]) => name)),
      positionals: parsed.positionals,
    };
  } catch (error) {
    if (error instanceof TypeError) throw new CliFailure(error.message, { cause: error });
    throw error;
  }
}

/** Of a flag that is given twice the last one counts; files are gathered. */
function joined(name: string, all: readonly string[]): string | undefined {
  return name === flagOf(settings.contract.env) ? all.join('\n') || undefined : all.at(-1);
}
