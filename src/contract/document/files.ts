// Decides which files a reference may open. Documents may come from untrusted sources, so a
// reference must not be able to explore the machine: it may only open documents in the folder of
// the first one, after symbolic links are resolved.
import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { readDocument } from './document.ts';
import type { Budget, Document } from './document.ts';

export interface Reference {
  /** As written, decoded: `common/types.yaml`. */
  file: string;
  /** The document that contains it. */
  from: Document;
  /**
   * The real paths of the folders that references may lead to; the first is that of the first
   * document.
   */
  folders: readonly string[];
}

/** The referenced file, or why it is not opened. `outside`: the operator could allow it. */
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

/** Reads the file under its real path, so that the file that was judged is the one that is read. */
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

/** For a file that does not exist: resolves the folders above it that do. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : resolve(realPath(folder), relative(folder, path));
  }
}
