// The help of the program: an overview that fits on a screen, and the help of each command.
import { version } from '../../core/base/package.ts';
import { groups, type Command, type Flag } from '../declare/command.ts';
import { settingFlags, type SettingFlag } from '../declare/flags.ts';
import { type Paint, painter, wrap } from '../terminal/text.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Screen = Pick<Terminal, 'isScreen' | 'width'>;

export function overview(commands: readonly Command[], screen: Screen): string {
  const paint = painter(screen);
  const width = widthOf(screen);
  const column = Math.max(...commands.map(({ name }) => name.length)) + 4;
  const grouped = Object.entries(groups).flatMap(([group, title]) => {
    const inside = commands.filter((one) => one.group === group);
    if (inside.length === 0) return [];
    const lines = inside.flatMap(({ name, summary }) => {
      const [first = '', ...others] = wrap(summary, width - column);
      const head = `  ${paint('cyan', name)}${' '.repeat(column - 2 - name.length)}`;
      return [head + first, ...others.map((line) => ' '.repeat(column) + line)];
    });
    return ['', paint('bold', title), ...lines];
  });
  return [
    ...wrap(`Ringback ${version}: a subscription and callback service.`, width).map((line) =>
      line.replace(`Ringback ${version}`, (name) => paint('bold', name)),
    ),
    '',
    'Usage: ringback COMMAND [OPTIONS]',
    ...grouped,
    '',
    ...wrap('Run "ringback COMMAND --help" for details. All commands accept --json.', width),
    '',
  ].join('\n');
}

export function help(command: Command, screen: Screen): string {
  const paint = painter(screen);
  const width = widthOf(screen);
  const { usage, about, examples, exitCodes = {}, summary } = command;
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', paint('bold', `${title}:`), ...lines];
  const codes = Object.entries({
    0: 'Success',
    1: 'Failure',
    ...exitCodes,
    2: 'Invalid command line',
  });
  return [
    ...wrap(`${summary}.`, width),
    ...(about === undefined ? [] : ['', ...paragraphs(about, width)]),
    ...section(
      'Usage',
      usage.flatMap((line) => usageLines(line, width)),
    ),
    ...section('Arguments', rows(Object.entries(command.positionals ?? {}), { width, paint })),
    ...section('Options', rows(flagRows(command), { width, paint })),
    ...section(settingsTitle(command), rows(settingRows(command), { width, paint })),
    ...section(
      'Examples',
      examples.flatMap(({ line, says }) => [
        ...wrap(`# ${says}`, width - 2).map((one) => `  ${paint('dim', one)}`),
        `  ${line}`,
      ]),
    ),
    ...section(
      'Exit codes',
      Object.keys(exitCodes).length === 0 ? [] : rows(codes, { width, paint }),
    ),
    '',
  ].join('\n');
}

function widthOf(screen: Screen): number {
  return Math.max(lineCharsMin, Math.min(lineCharsMax, screen.width()));
}

const lineCharsMax = 100;
const lineCharsMin = 40;

type Row = readonly [term: string, says: string];

/** As in usage and docs: `--state STATE`. */
export function flagTerm(name: string, flag: Flag): string {
  return flag.kind === 'switch' ? `--${name}` : `--${name} ${flag.placeholder}`;
}

export function flagRows({ flags, json }: Command): Row[] {
  const own = Object.entries(flags).map(([name, flag]): Row => {
    const choices = flag.kind === 'choice' ? `: ${flag.choices.join(', ')}` : '';
    const again = flag.kind === 'text' && flag.isRepeatable === true ? '; can be repeated' : '';
    return [flagTerm(name, flag), flag.says + choices + again];
  });
  return [...own, ['--json', `Print JSON: ${json}`], ['--help', 'Show this help']];
}

export function shownSettings({ takesSettings, settingsShown }: Command): readonly SettingFlag[] {
  if (!takesSettings) return [];
  return settingFlags.filter(({ setting }) => settingsShown?.includes(setting) ?? true);
}

function settingsTitle({ settingsShown }: Command): string {
  return settingsShown === undefined
    ? 'Settings (--port or RINGBACK_PORT)'
    : 'Settings (as for ringback serve)';
}

function settingRows(command: Command): Row[] {
  return shownSettings(command).map(({ flag, meaning, fallback, isSwitch }): Row => {
    const standard = fallback === undefined || isSwitch ? '' : ` (${fallback})`;
    return [`--${flag}`, (capitalized(meaning) + standard).replaceAll('`', '')];
  });
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function rows(list: readonly Row[], { width, paint }: { width: number; paint: Paint }): string[] {
  const longest = Math.max(0, ...list.map(([term]) => term.length));
  const column = Math.min(longest, termCharsMax, Math.floor(width * termShare)) + 4;
  return list.flatMap(([term, says]) => {
    const lines = wrap(says, width - column);
    const head = `  ${paint('cyan', term)}`;
    const isLong = term.length > column - 4;
    const gap = ' '.repeat(Math.max(0, column - 2 - term.length));
    const [first = '', ...others] = lines;
    const rest = others.map((line) => ' '.repeat(column) + line);
    return isLong ? [head, ' '.repeat(column) + first, ...rest] : [head + gap + first, ...rest];
  });
}

const termCharsMax = 26;
const termShare = 0.3;

function usageLines(line: string, width: number): string[] {
  const [first = '', ...others] = wrap(line, width - 6);
  return [`  ${first}`, ...others.map((one) => `      ${one}`)];
}

/** Wraps paragraphs again; indented ones stay as they are. */
function paragraphs(text: string, width: number): string[] {
  return text.split('\n\n').flatMap((part, index) => {
    const lines = part.startsWith(' ') ? part.split('\n') : wrap(part.replaceAll('\n', ' '), width);
    return index === 0 ? lines : ['', ...lines];
  });
}
