// Generates docs/cli.md from the commands in src/cli/commands.
import { groups, type Command } from '../src/cli/declare/command.ts';
import { commands } from '../src/cli/program/commands.ts';
import { flagRows, shownSettings } from '../src/cli/program/help.ts';

export function cliPage(): string {
  const overview = Object.entries(groups).flatMap(([group, title]) =>
    commands
      .filter((one) => one.group === group)
      .map(({ name, summary }, index) => {
        return `| ${index === 0 ? title : ''} | [\`ringback ${name}\`](#ringback-${name}) | ${summary} |`;
      }),
  );
  return `# The command line

\`ringback COMMAND --help\` prints the same information. All commands accept \`--json\`, which writes one JSON value to
standard output, or one line per item for commands that stream. A failure is written to standard error as
\`{"error": {"message", "code", "status"}}\`. Tables, colors and progress are shown only on a terminal; set \`NO_COLOR\`
to turn colors off.

The exit code is 0 on success, 1 on failure, and 2 if the command line is invalid. For a misspelled command, option or
value, the message suggests the closest match.

| | command | |
|---|---|---|
${overview.join('\n')}

${commands.map(section).join('\n')}
This page is generated from \`src/cli/commands\` by \`npm run docs\`.
`;
}

function section(command: Command): string {
  const { name, summary, about, usage, examples, exitCodes, positionals = {} } = command;
  const words = Object.entries(positionals).map(([word, says]) => row(word, says));
  const flags = flagRows(command).map(([term, says]) => row(term, says));
  const parts = [
    `## ringback ${name}`,
    `${summary}.${about === undefined ? '' : ` ${about}`}`,
    fenced(usage),
    ['| | |', '|---|---|', ...words, ...flags].join('\n'),
    settingsLine(command),
    fenced(examples.flatMap(({ line, says }) => [`# ${says}`, line])),
    ...(exitCodes === undefined ? [] : [exitLine(exitCodes)]),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function fenced(lines: readonly string[]): string {
  return ['```text', ...lines, '```'].join('\n');
}

function row(term: string, says: string): string {
  return `| \`${term}\` | ${says.replaceAll('|', '\\|')} |`;
}

function settingsLine(command: Command): string {
  if (!command.takesSettings) return '';
  const { settingsShown } = command;
  const all = 'Every [setting](settings.md) is also an option';
  if (settingsShown === undefined) return `${all}.`;
  const shown = shownSettings(command).map(({ flag }) => `\`--${flag}\``);
  return `${all}, including ${shown.join(', ')}.`;
}

function exitLine(exitCodes: Readonly<Record<number, string>>): string {
  const lines = Object.entries(exitCodes).map(([code, says]) => `- ${code}: ${says}`);
  return ['Exit codes:', ...lines].join('\n');
}
