// A process that loads one contract per message, checks the given payloads, and reports the result and its CPU
// time, because elapsed time is meaningless on a busy machine.
import { readFileSync } from 'node:fs';
import { ContractError } from '../../src/contract/document/document.ts';
import { loadContract } from '../../src/contract/compile/load.ts';
import { checkPayload } from '../../src/contract/request/payload.ts';

export interface Question {
  path: string;
  /** Files with payloads of the event `e`. */
  payloads: readonly string[];
  contractRoot?: string | undefined;
}

export interface Report {
  kind: 'loaded' | 'refused';
  message: string;
  operations: number;
  warnings: string[];
  cpuMs: number;
  checks: { faults: { field: string; message: string }[]; cpuMs: number }[];
}

process.on('message', (question: Question) => {
  void load(question).then((report) => process.send?.(report));
});

async function load({ path, payloads, contractRoot }: Question): Promise<Partial<Report>> {
  const before = cpuMs();
  try {
    const contract = await loadContract(path, { contractRoot });
    JSON.stringify(contract.document);
    const loadMs = cpuMs() - before;
    const checks = payloads.map((file) => {
      const payload: unknown = JSON.parse(readFileSync(file, 'utf8'));
      const start = cpuMs();
      const { faults } = checkPayload(contract, 'e', payload);
      return { faults: faults.slice(0, 10), cpuMs: cpuMs() - start };
    });
    const { operations, warnings } = contract;
    const told = warnings.map(({ pointer, message }) => `${pointer} ${message}`);
    return { kind: 'loaded', operations: operations.length, warnings: told, cpuMs: loadMs, checks };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return { kind: 'refused', message: error.message, cpuMs: cpuMs() - before };
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
