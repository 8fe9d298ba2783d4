// Which file a reference may open. Documents come from anywhere, so one must not be able to look around
// on the machine: only documents, near the first one, and never by way of a link that leads elsewhere.
import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { bounds } from './bounds.ts';
import { readDocument } from './document.ts';
import type { Budget, Document } from './document.ts';

export interface Reference {
  /** As it is written, decoded: `../common/types.yaml`. */
  file: string;
  /** The document that it stands in. */
  from: Document;
  /** The first document of the contract. */
  root: Document;
}

/** The path that the reference means, or why it is not opened. */
export type Referred = { kind: 'path'; path: string } | { kind: 'refused'; reason: string };

export function referredPath({ file, from, root }: Reference): Referred {
  if (/^[a-z][a-z0-9+.-]+:|^\/\//iu.test(file)) {
    return refused('it leads to the network, and only local files are read');
  }
  if (isAbsolute(file)) return refused('it is absolute, expected a path relative to the document');
  const path = resolve(dirname(from.path), file);
  const flaw = pathFlaw(path, dirname(resolve(root.path)));
  return flaw === undefined ? { kind: 'path', path } : refused(flaw);
}

/** Reads it under its real name, so that what was judged is what is read. */
export function readReferred(
  path: string,
  { root, budget }: { root: Document; budget: Budget },
): Document {
  const real = realPath(path);
  const flaw = real === path ? undefined : pathFlaw(real, dirname(realPath(root.path)));
  if (flaw !== undefined) throw new Error(`it is a link, and where it leads ${flaw}`);
  return { ...readDocument(real, budget), path };
}

function pathFlaw(path: string, folder: string): string | undefined {
  if (!/\.(?:ya?ml|json)$/iu.test(path)) {
    return 'its name ends neither in .yaml, .yml nor .json';
  }
  const way = relative(folder, path).split(sep);
  const up = way.filter((step) => step === '..').length;
  if (isAbsolute(relative(folder, path)) || up > bounds.foldersUpMax) {
    return `it is more than ${bounds.foldersUpMax} folders above the first document`;
  }
  const shared = resolve(folder, ...way.filter((step) => step === '..'));
  if (up > 0 && shared === dirname(shared)) {
    return 'only the root of the file system holds both it and the first document';
  }
  const hidden = way.find((step) => step.startsWith('.') && step !== '..');
  return hidden === undefined ? undefined : `"${hidden}" on its way is hidden`;
}

function refused(reason: string): Referred {
  return { kind: 'refused', reason };
}

/** A file that does not exist is reported by whoever opens it. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
