// From a file to a contract.
import { compileContract } from './compile.ts';
import type { Contract } from './contract.ts';
import { isObject, readDocument } from './document.ts';
import { requireAppId } from './require-app-id.ts';

export interface LoadOptions {
  /** Every requirement also asks for the id of the app; the served document shows it. */
  requireAppId?: boolean;
}

/** Rejects with a ContractError when the document cannot be executed. */
export async function loadContract(path: string, options: LoadOptions = {}): Promise<Contract> {
  const document = readDocument(path);
  if (options.requireAppId !== true || !isObject(document.root)) return compileContract(document);
  return compileContract({ ...document, root: requireAppId(document.root) });
}
