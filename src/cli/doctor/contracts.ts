// Checks the contracts: whether the service would start with them, and whether all of them can run.
import { loadContracts } from '../../contract/compile/contracts.ts';
import { ContractError } from '../../contract/document/document.ts';
import { explainError } from '../../contract/document/locate.ts';
import { makeReport } from '../../contract/report/report.ts';
import type { Config } from '../../config.ts';
import { ownContract } from '../../service.ts';
import { failed, ok, warning, type Finding } from './finding.ts';

export async function checkContracts(
  config: Pick<Config, 'contract' | 'contractRoot' | 'requireAppId'>,
): Promise<Finding[]> {
  const { contract: foreign, contractRoot, requireAppId } = config;
  try {
    const { executed } = await loadContracts({
      own: ownContract,
      foreign,
      contractRoot,
      requireAppId,
    });
    return executed.map((contract, index): Finding => {
      const { cannotRun, warnings } = makeReport(contract, '');
      const file = foreign[index] ?? 'openapi.yaml';
      const name = `"${contract.title}" (${file})`;
      const remedy = `Run: ringback check ${file}`;
      if (cannotRun.length > 0) {
        const message = `${cannotRun.length} operations of ${name} cannot be executed`;
        return failed('contracts', { message, remedy });
      }
      if (warnings.length === 0) return ok('contracts', `${name} can be executed`);
      const message = `${name} can be executed, with ${warnings.length} warnings`;
      return warning('contracts', { message, remedy });
    });
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const remedy = 'Fix the document; ringback check FILE lists every problem in it';
    return [failed('contracts', { message: explainError(error), remedy })];
  }
}
