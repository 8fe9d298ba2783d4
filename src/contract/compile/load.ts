// Loads a contract from a file.
import { compileContract } from './compile.ts';
import type { Contract } from '../model/contract.ts';
import { ContractError, fullBudget, isObject, readDocument } from '../document/document.ts';
import type { Document } from '../document/document.ts';
import { openOperations } from './open-operations.ts';
import type { SourceOptions } from '../document/ref-node.ts';
import { requireAppId } from './require-app-id.ts';

export interface LoadOptions {
  /** Every requirement also needs the app id; the served document shows it. */
  requireAppId?: boolean;
  /** Operations, by id, that need no key. */
  open?: readonly string[];
  /** A folder that references may lead to, in addition to that of the document. */
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

/** The last safeguard behind all limits: reports a stack overflow as an error of the document. */
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
