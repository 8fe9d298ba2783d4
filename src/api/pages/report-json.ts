// The report of a contract, as the API returns it.
import type { Contract } from '../../contract/model/contract.ts';
import { makeReport } from '../../contract/report/report.ts';

export function reportJson(contract: Contract): string {
  // The location of the document on this machine is not published; names of files relative to it are.
  const { file: _file, warnings, ...report } = makeReport(contract, '');
  const placed = warnings.map(({ file, ...warning }) =>
    file === '' ? warning : { ...warning, file },
  );
  return JSON.stringify({ ...report, warnings: placed });
}
