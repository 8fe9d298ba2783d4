// From a file to a contract.
import { compileContract } from './compile.ts';
import type { Contract } from './contract.ts';
import { fullBudget, isObject, readDocument } from './document.ts';
import { requireAppId } from './require-app-id.ts';

export interface LoadOptions {
  /** Every requirement also asks for the id of the app; the served document shows it. */
  requireAppId?: boolean;
}

/** Rejects with a ContractError when the document cannot be executed. */
export async function loadContract(path: string, options: LoadOptions = {}): Promise<Contract> {
  const budget = fullBudget();
  const document = readDocument(path, budget);
  if (options.requireAppId !== true || !isObject(document.root)) {
    return compileContract(document, budget);
  }
  return compileContract({ ...document, root: requireAppId(document.root) }, budget);
}
