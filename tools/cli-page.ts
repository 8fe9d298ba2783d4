// Generates docs/cli.md from the commands in src/cli/commands.
import { groups, type Command } from '../src/cli/command.ts';
import { commands } from '../src/cli/commands.ts';
import { flagRows, shownSettings } from '../src/cli/help.ts';

export function cliPage(): string {
  const overview = Object.entries(groups).flatMap(([group, title]) =>
    commands
      .filter((one) => one.group === group)
      .map(({ name, summary }, index) => {
        return `| ${index === 0 ? title : ''} | [\`ringback ${name}\`](#ringback-${name}) | ${summary} |`;
      }),
  );
  return `# The command line

\`ringback COMMAND --help\` says the same as this page. Every command knows \`--json\`: one JSON value on standard
output (one line per item where it goes on) and nothing else there; a failure is
\`{"error": {"message", "code", "status"}}\` on standard error. Tables, colours and progress are for terminals;
\`NO_COLOR\` turns the colours off.

The exit code is 0 when it worked, 1 when it did not, and 2 when the command was called wrongly: then the nearest
right word is in the message.

| | command | |
|---|---|---|
${overview.join('\n')}

${commands.map(section).join('\n')}
This page is made by \`npm run docs\` from \`src/cli/commands\`.
`;
}

function section(command: Command): string {
  const { name, summary, about, usage, examples, exitCodes, positionals = {} } = command;
  const words = Object.entries(positionals).map(([word, says]) => row(word, says));
  const flags = flagRows(command).map(([term, says]) => row(term, says));
  const parts = [
    `## ringback ${name}`,
    `${sentence(summary)}${about === undefined ? '' : ` ${about}`}`,
    fenced(usage),
    ['| | |', '|---|---|', ...words, ...flags].join('\n'),
    settingsLine(command),
    fenced(examples.flatMap(({ line, says }) => [`# ${says}`, line])),
    ...(exitCodes === undefined ? [] : [exitLine(exitCodes)]),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
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
  const all = 'Every [setting](settings.md) is a flag of it, too';
  if (settingsShown === undefined) return `${all}.`;
  const shown = shownSettings(command).map(({ flag }) => `\`--${flag}\``);
  return `${all}, such as ${shown.join(', ')}.`;
}

function exitLine(exitCodes: Readonly<Record<number, string>>): string {
  const lines = Object.entries(exitCodes).map(([code, says]) => `- ${code}: ${says}`);
  return ['Exit code:', ...lines].join('\n');
}
