// argv → command → exit code. Failures are sentences on stderr, or JSON with --json; only bugs of
// ours keep their stack.
import { version } from '../../core/base/version.ts';
import type { Command } from '../declare/command.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import { guarded } from '../terminal/guarded.ts';
import { harmlessLines } from '../terminal/harmless.ts';
import { help, overview } from './help.ts';
import { nearest } from '../../core/errors/nearest.ts';
import { logPainter } from '../terminal/paint.ts';
import { readCall } from './read-call.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { filled } from '../terminal/wrap.ts';

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
