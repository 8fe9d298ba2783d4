// From a file to a contract.
import { compileContract } from './compile.ts';
import type { Contract } from './contract.ts';
import { ContractError, fullBudget, isObject, readDocument } from './document.ts';
import type { Document } from './document.ts';
import { openOperations } from './open-operations.ts';
import type { SourceOptions } from './place.ts';
import { requireAppId } from './require-app-id.ts';

export interface LoadOptions {
  /** Every requirement also asks for the id of the app; the served document shows it. */
  requireAppId?: boolean;
  /** Operations, by their ids, that need no key. */
  open?: readonly string[];
  /** A folder that references may lead to, besides that of the document. */
  contractRoot?: string | undefined;
}

/** Rejects with a ContractError when the document cannot be executed. */
export async function loadContract(path: string, options: LoadOptions = {}): Promise<Contract> {
  const budget = fullBudget();
  const { contractRoot } = options;
  const document = readDocument(path, budget);
  if (!isObject(document.root)) return compile(document, { budget });
  const opened = openOperations(document.root, options.open ?? []);
  const root = options.requireAppId === true ? requireAppId(opened) : opened;
  return compile({ ...document, root }, { budget, contractRoot });
}

/** The net under all bounds: a document that is deep in a way nobody thought of ends here. */
function compile(document: Document, options: SourceOptions): Contract {
  try {
    return compileContract(document, options);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const { path } = document;
    throw new ContractError(`Cannot load contract "${path}": ${cause.message}`, {
      file: path,
      cause,
    });
  }
}
