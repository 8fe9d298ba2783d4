// The verdict on the contracts of a service, by which `ringback check` exits and `ringback serve`
// starts: both call checkContracts(), so they cannot disagree.
import { loadContracts, type ContractFiles, type Contracts } from '../compile/contracts.ts';
import type { ContractError } from '../document/document.ts';
import type { Contract, Operation } from '../model/contract.ts';
import { neverRegistered } from './never-resolves.ts';
import { isShutDown } from './descriptions.ts';

export interface CheckedContracts extends Contracts {
  /** One for each foreign file, in their order. */
  verdicts: readonly ContractCheck[];
}

/** `refused`: a service with this file does not start. */
export type ContractCheck =
  | { kind: 'refused'; file: string; error: ContractError }
  | {
      kind: 'loaded';
      file: string;
      contract: Contract;
      /** One sentence for each operation that can never do its work. The others run. */
      cannotRun: readonly string[];
    };

/** Files that are refused do not keep the others from being checked. */
export async function checkContracts(files: ContractFiles): Promise<CheckedContracts> {
  const { loaded, ...contracts } = await loadContracts(files);
  const verdicts = loaded.map(({ file, result }): ContractCheck =>
    result.kind === 'refused'
      ? { kind: 'refused', file, error: result.error }
      : { kind: 'loaded', file, contract: result.contract, cannotRun: cannotRun(result.contract) },
  );
  return { ...contracts, verdicts };
}

/** Throws the reason when a file is refused: for a start, which needs all of them. */
export function acceptedContracts(checked: CheckedContracts): CheckedContracts {
  const refused = checked.verdicts.find((one) => one.kind === 'refused');
  if (refused !== undefined) throw refused.error;
  return checked;
}

export function cannotRun({ operations, owner }: Pick<Contract, 'operations' | 'owner'>): string[] {
  return operations.flatMap((operation) => [
    // An API decides by itself who may call it.
    ...(owner === 'api' ? [] : neverCallable(operation)),
    ...neverRegisters(operation),
  ]);
}

function neverCallable({ method, path, role, security }: Operation): string[] {
  if (role.kind === 'managed' || !isShutDown(security)) return [];
  return [`${method} ${path} cannot be called: none of its security alternatives is supported`];
}

function neverRegisters(operation: Operation): string[] {
  const { method, path, role } = operation;
  if (role.kind !== 'subscribe') return [];
  return role.variants.flatMap((variant) => {
    const reasons = variant.callbacks.map((one) => neverRegistered(one, { operation, variant }));
    if (reasons.includes(undefined)) return [];
    const name = variant.name === '' ? '' : ` (variant ${variant.name})`;
    const why =
      reasons.length === 0
        ? 'it declares no callback that can be executed'
        : [...new Set(reasons)].join('; ');
    return [`${method} ${path}${name} registers no callback: ${why}`];
  });
}
