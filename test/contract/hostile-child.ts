// Loads one contract in a process of its own, checks payloads if it is given some, and prints what
// happened and what it cost: CPU, because the wall clock of a busy machine says nothing.
import { readFileSync } from 'node:fs';
import { ContractError } from '../../src/contract/document.ts';
import { loadContract } from '../../src/contract/load.ts';
import { checkPayload } from '../../src/contract/payload.ts';

const [, , path = '', event = '', ...payloads] = process.argv;

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const before = cpuMs();
try {
  const contract = await loadContract(path);
  JSON.stringify(contract.document);
  const loadMs = cpuMs() - before;
  const checks = payloads.map((file) => {
    const payload: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const start = cpuMs();
    const faults = checkPayload(contract, event, payload);
    return { faults: faults.slice(0, 10), cpuMs: cpuMs() - start };
  });
  const { operations, warnings } = contract;
  const told = warnings.map(({ pointer, message }) => `${pointer} ${message}`);
  print({ kind: 'loaded', operations: operations.length, warnings: told, cpuMs: loadMs, checks });
} catch (error) {
  if (!(error instanceof ContractError)) throw error;
  print({ kind: 'refused', message: error.message, cpuMs: cpuMs() - before });
}

function print(report: unknown): void {
  console.log(JSON.stringify(report));
}
