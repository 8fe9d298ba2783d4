// A command as a value: its help, its docs page, the parsing of its arguments and its errors are
// all derived from it. Declarations must stay light: heavy code is imported when the command runs.
import type { Environment, settings } from '../../config/settings.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface Command {
  /** 'deliveries' */
  name: string;
  group: Group;
  /** One line, in `ringback --help`. */
  summary: string;
  /** 'ringback deliveries [ID] [--state STATE]' */
  usage: readonly string[];
  /** The description in --help, in lines of at most 80 characters. */
  about?: string;
  /** Positional arguments, by their name in usage: { ID: 'a delivery: dlv_…' } */
  positionals?: Readonly<Record<string, string>>;
  flags: Readonly<Record<string, Flag>>;
  /** Every setting is also a flag. */
  takesSettings: boolean;
  /** The settings that --help explains; undefined: all of them. */
  settingsShown?: readonly (keyof typeof settings)[];
  /** What --json prints: 'a list with one entry per file'. */
  json: string;
  examples: readonly Example[];
  /** Exit codes that mean more than the usual 0, 1 and 2. */
  exitCodes?: Readonly<Record<number, string>>;
  run: (call: Invocation, terminal: Terminal) => Promise<void>;
}

export const groups = {
  run: 'Run',
  events: 'Subscribe and publish',
  inspect: 'Inspect',
  operate: 'Operate',
} as const;
export type Group = keyof typeof groups;

export type Flag =
  | { kind: 'switch'; says: string }
  | { kind: 'text'; says: string; placeholder: string; isRepeatable?: true }
  /** A whole number from `min` (0) to `max`. */
  | { kind: 'count'; says: string; placeholder: string; min?: number; max?: number }
  /** One of these words. */
  | { kind: 'choice'; says: string; placeholder: string; choices: readonly string[] };

export interface Example {
  /** As typed, starting with `ringback`. */
  line: string;
  says: string;
}

/** A parsed command line: every argument is known, and every value has the right type. */
export interface Invocation {
  positionals: readonly string[];
  /** The value of a text or choice; of a repeated flag the last one. */
  text: (flag: string) => string | undefined;
  /** All values of a repeatable text, in order. */
  texts: (flag: string) => readonly string[];
  count: (flag: string) => number | undefined;
  isOn: (flag: string) => boolean;
  isJson: boolean;
  /** The environment, overlaid with settings given as flags. */
  env: Environment;
  /** Settings that were given as flags: RINGBACK_PORT → port. */
  givenAs: ReadonlyMap<string, string>;
}
