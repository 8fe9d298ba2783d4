// A command as a value: its help, its page in the docs, how its words are read and what is a mistake are
// all made from this. A declaration must stay light: what is heavy is imported when it runs.
import type { Environment } from '../config/setting.ts';
import type { settings } from '../config/settings.ts';
import type { Terminal } from './terminal.ts';

export interface Command {
  /** 'deliveries' */
  name: string;
  group: Group;
  /** One line, in `ringback --help`. */
  summary: string;
  /** 'ringback deliveries [ID] [--state STATE]' */
  usage: readonly string[];
  /** What else --help says, in lines of at most 80 characters. */
  about?: string;
  /** Words that are no flags, by what usage calls them: { ID: 'a delivery: dlv_…' } */
  positionals?: Readonly<Record<string, string>>;
  flags: Readonly<Record<string, Flag>>;
  /** Every setting is a flag too. */
  takesSettings: boolean;
  /** Those of them that --help explains; all of them if it says nothing. */
  settingsShown?: readonly (keyof typeof settings)[];
  /** What --json gives: 'a list with one entry per file'. */
  json: string;
  examples: readonly Example[];
  /** What the exit code says, where it is more than 0, 1 and 2 say by themselves. */
  exitCodes?: Readonly<Record<number, string>>;
  run: (call: Invocation, terminal: Terminal) => Promise<void>;
}

export const groups = {
  run: 'Run',
  use: 'Subscribe and publish',
  look: 'Inspect',
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
  /** As it is typed, starting with `ringback`. */
  line: string;
  says: string;
}

/** How a command was called: every word of it is known, and every value is of its kind. */
export interface Invocation {
  positionals: readonly string[];
  /** The value of a text or choice; of a flag that was given twice the last one. */
  text: (flag: string) => string | undefined;
  /** All values of a repeatable text, in their order. */
  texts: (flag: string) => readonly string[];
  count: (flag: string) => number | undefined;
  isOn: (flag: string) => boolean;
  isJson: boolean;
  /** The environment, with the settings' flags laid over it. */
  env: Environment;
  /** Which of its settings are not from the environment but from a flag: RINGBACK_PORT → port. */
  givenAs: ReadonlyMap<string, string>;
}
