// Settings as flags: RINGBACK_ALLOW_TARGETS is also --allow-targets. A flag wins over the variable.
import { readConfig, type Config, type Environment } from '../config.ts';
import { readSwitch } from '../config/readers.ts';
import { settings } from '../config/settings.ts';
import { CliFailure } from './failure.ts';

export interface SettingFlag {
  /** Without its dashes. */
  flag: string;
  setting: keyof typeof settings;
  env: string;
  /** It may stand without a value: `--lenient` is `--lenient on`. */
  isSwitch: boolean;
  /** Given several times, all of them count. */
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
    isGathered: setting === 'contract',
    meaning,
    fallback: fallback ?? text,
  };
});

function settingName(name: string): keyof typeof settings {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a name of the table itself
  return name as keyof typeof settings;
}

/** The config, or all that is wrong with it at once. Warnings go to the terminal. */
export function configOf(env: Environment, warn: (text: string) => void): Config {
  const reading = readConfig(env);
  if (reading.kind === 'mistakes') throw new CliFailure(reading.mistakes.join('\n'));
  for (const warning of reading.warnings) warn(`Warning: ${warning}\n`);
  return reading.config;
}
