// Settings as flags: RINGBACK_ALLOW_TARGETS is also --allow-targets. A flag wins over the variable.
import { readConfig, type Config } from '../../config.ts';
import { readSwitch } from '../../config/readers.ts';
import { settings } from '../../config/settings.ts';
import { CliFailure, calledWrongly } from '../terminal/failure.ts';
import type { Invocation } from './command.ts';

export interface SettingFlag {
  /** Without the dashes. */
  flag: string;
  setting: keyof typeof settings;
  env: string;
  /** May be given without a value: `--lenient` means `--lenient on`. */
  isSwitch: boolean;
  /** If given several times, all values count. */
  isGathered: boolean;
  meaning: string;
  fallback: string | undefined;
}

export const settingFlags: readonly SettingFlag[] = Object.entries(settings).map(([name, row]) => {
  const { env, meaning, read, fallback } = row;
  const text = 'fallbackText' in row ? row.fallbackText : undefined;
  const setting = settingName(name);
  return {
    flag: env
      .replace(/^RINGBACK_/, '')
      .toLowerCase()
      .replaceAll('_', '-'),
    setting,
    env,
    isSwitch: read === readSwitch,
    isGathered: setting === 'contract' || setting === 'overlay',
    meaning,
    fallback: fallback ?? text,
  };
});

function settingName(name: string): keyof typeof settings {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a name of the table itself
  return name as keyof typeof settings;
}

/** The config; throws with all its errors at once. Warnings go to the terminal. */
export function configOf(
  { env, givenAs }: Pick<Invocation, 'env' | 'givenAs'>,
  warn: (text: string) => void,
): Config {
  const reading = readConfig(env);
  if (reading.kind === 'mistakes') {
    const found = reading.mistakes.join('\n');
    const message = asGiven(found, givenAs);
    throw new CliFailure(message, { exitCode: message === found ? 1 : 2 });
  }
  for (const warning of reading.warnings) warn(`Warning: ${warning}\n`);
  return reading.config;
}

/** Uses the names that were typed: a user of --port did not set RINGBACK_PORT. */
function asGiven(text: string, givenAs: Invocation['givenAs']): string {
  return text.replaceAll(/\b[A-Z][A-Z_]+\b/g, (name) => {
    const flag = givenAs.get(name);
    return flag === undefined ? name : `--${flag}`;
  });
}

// Refuses flags that have no meaning beside another argument. Ignoring one could be dangerous: a
// replay of everything would look as if it were filtered.

/** `what`: the argument they stand beside, `--watch` or an id. */
export function refuseBeside(call: Invocation, what: string, flags: readonly string[]): void {
  const given = flags.find((flag) => call.isOn(flag));
  if (given === undefined) return;
  throw calledWrongly(`Cannot combine --${given} with ${what}: remove one of them`);
}
