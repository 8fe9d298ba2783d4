// Parses the command line into an invocation, or throws a sentence about the first error. No
// argument is ever ignored.
import { parseArgs } from 'node:util';
import type { Environment } from '../../config/settings.ts';
import type { Command, Flag, Invocation } from '../declare/command.ts';
import { calledWrongly } from '../terminal/failure.ts';
import { settingFlags } from '../declare/flags.ts';
import { guess, nearest } from '../../core/errors/did-you-mean.ts';

/** Flags of every command, handled by run.ts. */
export const commonFlags = {
  json: { kind: 'switch', says: 'Print JSON' },
  help: { kind: 'switch', says: 'Show this help' },
} as const satisfies Record<string, Flag>;

export function readCall(
  command: Command,
  args: readonly string[],
  env: Environment,
): Invocation & { wantsHelp: boolean } {
  const known = knownFlags(command);
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  for (const word of wordsOf(args, known)) {
    if (word.kind === 'positional') positionals.push(word.value);
    else values.set(word.name, [...(values.get(word.name) ?? []), word.value]);
  }
  const wantsHelp = values.has('help');
  const isWordless = command.positionals === undefined && positionals.length > 0;
  if (isWordless && !wantsHelp) {
    const found = positionals.join(' ');
    throw calledWrongly(`Cannot ${command.name} "${found}": the command takes options only`);
  }
  const last = (flag: string): string | undefined => values.get(flag)?.at(-1);
  return {
    positionals,
    text: last,
    texts: (flag) => values.get(flag) ?? [],
    count: (flag) => (last(flag) === undefined ? undefined : Number(last(flag))),
    isOn: (flag) => values.has(flag),
    isJson: values.has('json'),
    env: command.takesSettings ? { ...env, ...settingsIn(values) } : env,
    givenAs: new Map(
      settingFlags
        .filter(({ flag }) => values.has(flag))
        .map(({ env: name, flag }) => [name, flag]),
    ),
    wantsHelp,
  };
}

/** If a setting is given twice, the last one counts; contract files accumulate. */
function settingsIn(values: ReadonlyMap<string, readonly string[]>): Environment {
  const given = settingFlags.flatMap(({ flag, env, isGathered }) => {
    const all = values.get(flag) ?? [];
    const value = isGathered ? all.join('\n') || undefined : all.at(-1);
    return value === undefined ? [] : [[env, value] as const];
  });
  return Object.fromEntries(given);
}

type KnownFlag = Flag | { kind: 'setting'; isSwitch: boolean };

function knownFlags({ flags, takesSettings }: Command): ReadonlyMap<string, KnownFlag> {
  const ofSettings = settingFlags.map(
    ({ flag, isSwitch }) => [flag, { kind: 'setting', isSwitch }] as const,
  );
  return new Map<string, KnownFlag>([
    ...(takesSettings ? ofSettings : []),
    ...Object.entries(flags),
    ...Object.entries(commonFlags),
  ]);
}

type Word = { kind: 'positional'; value: string } | { kind: 'flag'; name: string; value: string };

/** Validates every argument, so that values can be trusted afterwards. */
function wordsOf(args: readonly string[], known: ReadonlyMap<string, KnownFlag>): Word[] {
  const options = Object.fromEntries(
    [...known].map(([name, { kind }]) => [name, { type: typeOf(kind), multiple: true } as const]),
  );
  const { tokens } = parseArgs({
    args: withValues(args, known),
    options: { ...options, help: { type: 'boolean', short: 'h', multiple: true } },
    strict: false,
    tokens: true,
  });
  return tokens.flatMap((token): Word[] => {
    if (token.kind === 'option-terminator') return [];
    if (token.kind === 'positional') return [{ kind: 'positional', value: token.value }];
    const { name, rawName, value } = token;
    const flag = known.get(name);
    if (flag === undefined) throw unknownFlag(rawName, [...known.keys()]);
    if (flag.kind === 'switch') {
      if (value === undefined) return [{ kind: 'flag', name, value: 'on' }];
      throw calledWrongly(`Cannot set ${rawName} to "${value}": the option takes no value`);
    }
    if (value === undefined || (!token.inlineValue && /^-./.test(value))) {
      throw calledWrongly(`Cannot read ${rawName}: the value is missing`);
    }
    refuseValue({ rawName, value, flag });
    return [{ kind: 'flag', name, value }];
  });
}

function typeOf(kind: KnownFlag['kind']): 'boolean' | 'string' {
  return kind === 'switch' ? 'boolean' : 'string';
}

function withValues(args: readonly string[], known: ReadonlyMap<string, KnownFlag>): string[] {
  return args.flatMap((arg, index) => {
    const next = args[index + 1];
    const flag = known.get(arg.replace(/^--/, ''));
    const isBare = flag?.kind === 'setting' && flag.isSwitch && arg.startsWith('--');
    return isBare && (next === undefined || next.startsWith('-')) ? [`${arg}=on`] : [arg];
  });
}

function unknownFlag(rawName: string, known: readonly string[]): Error {
  const meant = nearest(rawName.replace(/^-+/, ''), known);
  const hint = meant === undefined ? 'unknown option' : `did you mean "--${meant}"?`;
  return calledWrongly(`Cannot read "${rawName}": ${hint}`);
}

function refuseValue(given: { rawName: string; value: string; flag: KnownFlag }): void {
  const { rawName, value, flag } = given;
  if (flag.kind === 'choice' && !flag.choices.includes(value)) {
    throw calledWrongly(`Cannot read ${rawName} "${value}": ${guess(value, flag.choices)}`);
  }
  if (flag.kind !== 'count') return;
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = flag;
  const isFit = /^\d{1,16}$/.test(value) && Number(value) >= min && Number(value) <= max;
  if (isFit) return;
  const expected =
    flag.max === undefined ? `a number of at least ${min}` : `a number from ${min} to ${max}`;
  throw calledWrongly(`Cannot read ${rawName} "${value}": expected ${expected}`);
}
