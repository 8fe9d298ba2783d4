// `ringback check`: reports what OpenAPI documents would do as contracts, without starting
// anything.
import { settings } from '../../config/settings.ts';
import { ContractError } from '../../contract/document/document.ts';
import { loadContract } from '../../contract/compile/load.ts';
import {
  explainError,
  locateAll,
  locateError,
  type Position,
} from '../../contract/document/locate.ts';
import { makeReport, type Report, type WarningReport } from '../../contract/report/report.ts';
import { showChecked } from './check-view.ts';
import type { Invocation } from '../declare/command.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The result for one file. */
export type Checked =
  | (Omit<Report, 'warnings'> & { warnings: readonly (WarningReport & Partial<Position>)[] })
  | { file: string; error: { message: string; pointer: string } & Partial<Position> };

export async function check(call: Invocation, terminal: Terminal): Promise<void> {
  const { positionals: files, isJson } = call;
  if (files.length === 0)
    throw calledWrongly('Cannot check: no FILE given, expected at least one OpenAPI document');
  const contractRoot =
    call.text('contract-root') ?? (call.env[settings.contractRoot.env] || undefined);
  const all: Checked[] = [];
  for (const file of files) {
    const checked = await checkFile(file, contractRoot);
    all.push(checked);
    if (!isJson) terminal.out(showChecked(checked, terminal));
  }
  if (isJson) terminal.out(`${JSON.stringify(all, absentAsNull, 2)}\n`);
  const failed = all.filter((one) => 'error' in one || one.cannotRun.length > 0);
  if (failed.length === 0) return;
  const names = failed.map(({ file }) => `  ${file}`).join('\n');
  const many =
    `Found callbacks that cannot be executed in ${failed.length} of ${all.length} ` +
    `files:\n${names}`;
  throw new CliFailure(
    all.length === 1 ? 'Some callbacks in this document cannot be executed.' : many,
  );
}

/** Members are always present, for programs that read the output. */
function absentAsNull(_name: string, value: unknown): unknown {
  return value === undefined ? null : value;
}

async function checkFile(file: string, contractRoot: string | undefined): Promise<Checked> {
  try {
    return withPositions(makeReport(await loadContract(file, { contractRoot }), file));
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const { pointer } = error;
    return { file, error: { message: explainError(error), pointer, ...locateError(error) } };
  }
}

/** Reads each file again, but only those with warnings. */
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
