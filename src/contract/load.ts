// From a file to a contract.
import { compileContract } from './compile.ts';
import type { Contract } from './contract.ts';
import { ContractError, fullBudget, isObject, readDocument } from './document.ts';
import type { Budget, Document } from './document.ts';
import { requireAppId } from './require-app-id.ts';

export interface LoadOptions {
  /** Every requirement also asks for the id of the app; the served document shows it. */
  requireAppId?: boolean;
}

/** Rejects with a ContractError when the document cannot be executed. */
export async function loadContract(path: string, options: LoadOptions = {}): Promise<Contract> {
  const budget = fullBudget();
  const document = readDocument(path, budget);
  if (options.requireAppId !== true || !isObject(document.root)) return compile(document, budget);
  return compile({ ...document, root: requireAppId(document.root) }, budget);
}

/** The net under all bounds: a document that is deep in a way nobody thought of ends here. */
function compile(document: Document, budget: Budget): Contract {
  try {
    return compileContract(document, budget);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const { path } = document;
    throw new ContractError(`Cannot load contract "${path}": ${cause.message}`, {
      file: path,
      cause,
    });
  }
}
