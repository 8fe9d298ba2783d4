// Which file a reference may open. Documents come from anywhere, so one must not be able to look around
// on the machine: only documents, in the folder of the first one, judged by where links lead in the end.
import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { readDocument } from './document.ts';
import type { Budget, Document } from './document.ts';

export interface Reference {
  /** As it is written, decoded: `common/types.yaml`. */
  file: string;
  /** The document that it stands in. */
  from: Document;
  /** The folders that references may lead to, by their real names; the first is that of the first document. */
  folders: readonly string[];
}

/** Where the reference leads, or why it is not opened. `outside`: the operator may allow it. */
export type Referred =
  | { kind: 'path'; path: string; real: string }
  | { kind: 'refused'; reason: string }
  | { kind: 'outside'; reason: string };

/** `contractRoot`: RINGBACK_CONTRACT_ROOT. */
export function readableFolders(root: Document, contractRoot: string | undefined): string[] {
  const path = resolve(root.path);
  const own = [dirname(realPath(path)), realPath(dirname(path))];
  return contractRoot === undefined ? own : [...own, realPath(resolve(contractRoot))];
}

export function referredPath({ file, from, folders }: Reference): Referred {
  if (/^[a-z][a-z0-9+.-]+:|^\/\//iu.test(file)) {
    return refused('it is a network URL, and only local files are read');
  }
  const path = resolve(dirname(from.path), file);
  const real = realPath(path);
  const folder = folders.find((one) => isBelow(real, one));
  if (folder === undefined) {
    const named = [...new Set(folders)].map((one) => `"${one}"`).join(' and ');
    const reason =
      `it resolves to "${real}", outside the folder ${named}. To allow it, set ` +
      'RINGBACK_CONTRACT_ROOT (--contract-root) to a folder that contains both';
    return { kind: 'outside', reason };
  }
  if (![path, real].every((one) => /\.(?:ya?ml|json)$/iu.test(one))) {
    const link = path === real ? 'its name ' : 'it is a symbolic link whose target ';
    return refused(`${link}does not end in .yaml, .yml or .json`);
  }
  const hidden = relative(folder, real)
    .split(sep)
    .find((step) => step.startsWith('.'));
  if (hidden !== undefined)
    return refused(`the path contains the hidden file or folder "${hidden}"`);
  return { kind: 'path', path, real };
}

/** Reads it under its real name, so that what was judged is what is read. */
export function readReferred(
  { path, real }: { path: string; real: string },
  budget: Budget,
): Document {
  return { ...readDocument(real, budget), path };
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function refused(reason: string): Referred {
  return { kind: 'refused', reason };
}

/** Of a file that does not exist: the real name of the folders above it that do. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : resolve(realPath(folder), relative(folder, path));
  }
}
