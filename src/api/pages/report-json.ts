// The report of a contract as the API gives it.
import type { Contract } from '../../contract/model/contract.ts';
import { makeReport } from '../../contract/report/report.ts';

export function reportJson(contract: Contract): string {
  // Where the file lies on this machine is nobody's business; the names of files beside it are.
  const { file: _file, warnings, ...report } = makeReport(contract, '');
  const placed = warnings.map(({ file, ...warning }) =>
    file === '' ? warning : { ...warning, file },
  );
  return JSON.stringify({ ...report, warnings: placed });
}
