// `ringback check`: says what OpenAPI documents would do as contracts, without starting anything.
import { parseArgs } from 'node:util';
import { ContractError } from '../contract/document.ts';
import { loadContract } from '../contract/load.ts';
import { explainError, locateAll, locateError, type Position } from '../contract/locate.ts';
import { makeReport, type Report, type WarningReport } from '../contract/report.ts';
import { showChecked } from './check-view.ts';
import { CliFailure } from './failure.ts';
import type { Terminal } from './terminal.ts';

export const checkUsage = `  ringback check FILE… [--json]                      what these contracts would do, and what not
`;

export const checkHelp = `Says what OpenAPI documents would do as contracts, without starting anything: which operations
register callbacks and what they need, which events can be published, what was repaired on the way,
and what cannot run and why.

Usage:
  ringback check FILE… [--json]

  FILE      an OpenAPI document, 3.0 to 3.2, in YAML or JSON; its references to other files are followed
  --json    the same for programs: a list with one entry per file

Examples:
  ringback check my-api.yaml
  ringback check contracts/*.yaml
  ringback check my-api.yaml --json | jq '.[].warnings'

Exit code:
  0   everything that the documents promise can run; there may be warnings
  1   something cannot: a document that does not load, an operation whose callbacks never resolve,
      or one that nobody can call
  2   the command was called wrongly
`;

/** What became of one file. */
export type Checked =
  | (Omit<Report, 'warnings'> & { warnings: readonly (WarningReport & Partial<Position>)[] })
  | { file: string; error: { message: string; pointer: string } & Partial<Position> };

export async function check(args: readonly string[], terminal: Terminal): Promise<void> {
  const { files, isJson } = readArgs(args);
  const all: Checked[] = [];
  for (const file of files) {
    const checked = await checkFile(file);
    all.push(checked);
    if (!isJson) terminal.out(showChecked(checked, { isScreen: terminal.isScreen }));
  }
  if (isJson) terminal.out(`${JSON.stringify(all, absentAsNull, 2)}\n`);
  const failed = all.filter((one) => 'error' in one || one.cannotRun.length > 0);
  if (failed.length === 0) return;
  const names = failed.map(({ file }) => `  ${file}`).join('\n');
  const many = `Not everything can run in ${failed.length} of ${all.length} files:\n${names}`;
  throw new CliFailure(all.length === 1 ? 'Not everything in it can run.' : many);
}

/** Programs look for members that are always there. */
function absentAsNull(_name: string, value: unknown): unknown {
  return value === undefined ? null : value;
}

function readArgs(args: readonly string[]): { files: readonly string[]; isJson: boolean } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { json: { type: 'boolean' } },
      allowPositionals: true,
    });
    if (positionals.length > 0) return { files: positionals, isJson: values.json === true };
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new CliFailure(`${cause.message}\n\n${checkHelp}`, { cause, exitCode: 2 });
  }
  throw new CliFailure(`Cannot check nothing: expected a file\n\n${checkHelp}`, { exitCode: 2 });
}

async function checkFile(file: string): Promise<Checked> {
  try {
    return withPositions(makeReport(await loadContract(file), file));
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const { pointer } = error;
    return { file, error: { message: explainError(error), pointer, ...locateError(error) } };
  }
}

/** Each file is read once more, and only where there is something to look for. */
function withPositions(report: Report): Checked {
  const byFile = Map.groupBy(report.warnings, ({ file }) => file);
  const positions = new Map(
    [...byFile].map(([file, warnings]) => [
      file,
      locateAll(
        file,
        warnings.map(({ pointer }) => pointer),
      ),
    ]),
  );
  const warnings = report.warnings.map((warning) => ({
    ...warning,
    ...positions.get(warning.file)?.get(warning.pointer),
  }));
  return { ...report, warnings };
}
