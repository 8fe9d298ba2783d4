// argv → command → exit code. Failures are sentences on stderr, or JSON with --json; only bugs of
// ours keep their stack.
import { version } from '../../core/base/package.ts';
import { nearest } from '../../core/errors/did-you-mean.ts';
import type { Command } from '../declare/command.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import { filled, harmless, harmlessLines, logPainter } from '../terminal/text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { help, overview } from './help.ts';
import { readCall } from './read-call.ts';

/** 0: success. 1: failure. 2: called incorrectly. */
export async function runCommandLine(
  args: readonly string[],
  bareTerminal: Terminal,
  commands: readonly Command[],
): Promise<number> {
  const [name = '--help', ...words] = args;
  const isJson = args.includes('--json');
  const terminal = guarded(bareTerminal, { isJson });
  try {
    if (versionWords.has(name)) terminal.out(`${version}\n`);
    else if (helpWords.has(name)) showHelp(words[0], terminal, commands);
    else await run(findCommand(name, commands), words, terminal);
    return 0;
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    const known = commands.find((one) => one.name === name);
    terminal.err(failureText(error, { terminal, isJson, known }));
    return error.exitCode;
  }
}

const versionWords = new Set(['--version', '-v', '-V', 'version']);
const helpWords = new Set(['--help', '-h', 'help']);

function showHelp(
  name: string | undefined,
  terminal: Terminal,
  commands: readonly Command[],
): void {
  const text =
    name === undefined || name.startsWith('-')
      ? overview(commands, terminal)
      : help(findCommand(name, commands), terminal);
  terminal.out(text);
}

async function run(command: Command, words: readonly string[], terminal: Terminal): Promise<void> {
  const call = readCall(command, words, terminal.env);
  if (call.wantsHelp) return terminal.out(help(command, terminal));
  return command.run(call, terminal);
}

function findCommand(name: string, commands: readonly Command[]): Command {
  const command = commands.find((one) => one.name === name);
  if (command !== undefined) return command;
  if (name.startsWith('-')) {
    throw calledWrongly(`Cannot run "${name}": expected a command first, as in ringback serve`);
  }
  const meant = nearest(
    name,
    commands.map((one) => one.name),
  );
  const hint = meant === undefined ? 'unknown command' : `did you mean "${meant}"?`;
  throw calledWrongly(`Cannot run "${name}": ${hint}`);
}

interface Context {
  terminal: Pick<Terminal, 'log' | 'width'>;
  isJson: boolean;
  /** The command that was called, if it exists. */
  known: Command | undefined;
}

function failureText(failure: CliFailure, { terminal, isJson, known }: Context): string {
  const { message, exitCode, code, status } = failure;
  if (isJson) return `${JSON.stringify({ error: { message, code, status } })}\n`;
  const paint = logPainter(terminal);
  const lines = filled(harmlessLines(message), terminal.width())
    .split('\n')
    .map((line) => paint('red', line));
  const where = known === undefined ? 'ringback --help' : `ringback ${known.name} --help`;
  return [...lines, ...(exitCode === 2 ? [`Run "${where}" for usage`] : []), ''].join('\n');
}

// The terminal that commands get: it passes our own colours and the progress bar, and escapes every
// other control character. All output goes through it, so that no command has to think of it.

function guarded(terminal: Terminal, { isJson }: { isJson: boolean }): Terminal {
  const { out, err, isTerminal, isScreen, log, input, env, world } = terminal;
  // JSON escapes keep the value; into a pipe it goes unchanged.
  const asJson = isTerminal ? harmlessJson : (text: string) => text;
  return {
    out: (text) => out(isJson ? asJson(text) : harmlessBut(ours, text)),
    err: (text) => err(harmlessBut(oursAndBar, text)),
    isTerminal,
    isScreen,
    log,
    width: () => terminal.width(),
    input,
    env,
    world,
    /** Signal handlers are installed on first use. */
    get stopped() {
      return terminal.stopped;
    },
  };
}

/** Line breaks, tabs, and the colours of text.ts. */
// oxlint-disable-next-line no-control-regex -- that is what it looks for
const ours = /(\n|\t|\u001b\[(?:1|2|22|31|32|33|36|39)m)/;
/** Also how the progress bar is redrawn: from the start of the line, erasing the rest. */
// oxlint-disable-next-line no-control-regex -- that is what it looks for
const oursAndBar = /(\n|\t|\u001b\[(?:1|2|22|31|32|33|36|39)m|^\r|\u001b\[K$)/;

/** `split` with a group puts matches at odd indexes; they stay. */
function harmlessBut(kept: RegExp, text: string): string {
  return text
    .split(kept)
    .map((part, place) => (place % 2 === 1 ? part : harmless(part)))
    .join('');
}

/** The same JSON value: control characters occur only in strings, where they can be escaped. */
function harmlessJson(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the colours of a help text, which is no JSON
  return text.replaceAll(/(?![\n\u001b])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (char) =>
    Array.from({ length: char.length }, (_, unit) => {
      const number = char.charCodeAt(unit).toString(16);
      return `\\u${number.padStart(4, '0')}`;
    }).join(''),
  );
}
