// A value together with its place in a document, so that every warning can name it. References are
// followed lazily, when a member behind them is read. They may be circular, and must never cause
// network access.
import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { printPointer } from '../../core/base/pointer.ts';
import { bounds } from './bounds.ts';
import {
  type Budget,
  ContractError,
  type Document,
  type Warning,
  fullBudget,
  isList,
  isObject,
  own,
  readDocument,
} from './document.ts';

export interface RefNode {
  source: Source;
  document: Document;
  /** Where in the document, as pointer tokens. */
  tokens: readonly string[];
  value: unknown;
}

/** The files of one contract, opened as references need them, and the warnings so far. */
export interface Source {
  root: Document;
  /** Folders that references may lead to. */
  folders: readonly string[];
  /**
   * A loaded contract must not fail later: from then on, references outside are dropped instead.
   */
  isLoaded: boolean;
  /** By path; a string is the reason why the file cannot be read. */
  documents: Map<string, Document | string>;
  /** How much further files may cost. */
  budget: Budget;
  warnings: Warning[];
  /** Warnings recorded so far, to avoid duplicates. */
  warned: Set<string>;
  /** Targets of references that were followed, by the object that contains the reference. */
  targets: Map<unknown, RefNode | undefined>;
  /** References that are being followed: meeting one again means a circle. */
  following: Set<unknown>;
  /** Steps taken so far, in total. */
  steps: number;
}

export type SourceFiles = Pick<Source, 'documents' | 'folders'>;

export interface SourceOptions {
  budget?: Budget;
  /** A folder that references may lead to, in addition to that of the first document. */
  contractRoot?: string | undefined;
  /** Of a contract that was compiled before. */
  files?: SourceFiles;
}

export function openSource(
  root: Document,
  { budget = fullBudget(), contractRoot, files }: SourceOptions = {},
): RefNode {
  const source: Source = {
    root,
    folders: files?.folders ?? readableFolders(root, contractRoot),
    isLoaded: false,
    documents: new Map([...(files?.documents ?? []), [resolve(root.path), root]]),
    budget,
    warnings: [],
    warned: new Set(),
    targets: new Map(),
    following: new Set(),
    steps: 0,
  };
  return { source, document: root, tokens: [], value: root.root };
}

/** The root of the first file. */
export function rootOf({ source }: RefNode): RefNode {
  return { source, document: source.root, tokens: [], value: source.root.root };
}

/**
 * The value under the key, here or behind the reference that is here. Siblings of the reference
 * take precedence.
 */
export function child(place: RefNode, key: string): RefNode | undefined {
  for (const link of chain(place)) {
    const found = step(link, key);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function at(place: RefNode, ...keys: string[]): RefNode | undefined {
  let found: RefNode | undefined = place;
  for (const key of keys) found = found && child(found, key);
  return found;
}

/** All properties, in the order of the document, including those behind a reference. */
export function entries(place: RefNode | undefined): [string, RefNode][] {
  const found = new Map<string, RefNode>();
  for (const link of place === undefined ? [] : chain(place)) {
    for (const key of isObject(link.value) ? Object.keys(link.value) : []) {
      const value = key === '$ref' || found.has(key) ? undefined : step(link, key);
      if (value !== undefined) found.set(key, value);
    }
  }
  return [...found];
}

/** The elements of a list; a warning if the value is not a list. */
export function items(place: RefNode | undefined): RefNode[] {
  if (place === undefined) return [];
  if (isList(place.value)) {
    return place.value.map((value, index) => below(place, { key: String(index), value }));
  }
  warn(place, `is ${describe(place.value)}, expected a list; it is ignored`);
  return [];
}

export function text(place: RefNode | undefined, key: string): string | undefined {
  const value = place && child(place, key)?.value;
  return typeof value === 'string' ? value : undefined;
}

/** The target of the reference that is here; undefined, with a warning, when it leads nowhere. */
export function target(place: RefNode): RefNode | undefined {
  const ref = refOf(place);
  if (ref === undefined) return undefined;
  const { targets, following } = place.source;
  if (targets.has(place.value)) return targets.get(place.value);
  if (following.has(place.value)) return noTarget(place, 'it refers back to itself');
  following.add(place.value);
  const found = lookUp(place, ref);
  following.delete(place.value);
  const referred =
    typeof found === 'string'
      ? noTarget(place, found)
      : (found ?? noTarget(place, 'nothing exists at that location'));
  targets.set(place.value, referred);
  return referred;
}

/** The place itself, or the final target of its references. Equal refs lead to equal places. */
export function follow(place: RefNode): RefNode | undefined {
  const last = chain(place).at(-1);
  return last === undefined || refOf(last) !== undefined ? undefined : last;
}

export function refOf({ value }: RefNode): string | undefined {
  const ref = isObject(value) ? own(value, '$ref') : undefined;
  return typeof ref === 'string' ? ref : undefined;
}

export function warn(place: RefNode, message: string): void {
  const pointer = nameOf(place);
  const { warnings, warned } = place.source;
  const key = `${pointer} ${message}`;
  if (warned.has(key) || warned.size > bounds.warningsMax) return;
  warned.add(key);
  const isLast = warned.size > bounds.warningsMax;
  warnings.push(isLast ? { pointer: '#', message: 'the rest is omitted' } : { pointer, message });
}

/** Counts steps: references let a small document cause unlimited work. */
export function spend({ source }: RefNode, steps: number): void {
  source.steps += steps;
  if (source.steps <= bounds.stepsMax) return;
  const { path } = source.root;
  const reason = `with its references followed, it takes more than ${bounds.stepsMax} steps to read`;
  throw new ContractError(`Cannot load contract "${path}": ${reason}`, { file: path });
}

/**
 * For constructs that must not be executed. `action` and `reason` as in `Cannot <action>:
 * <reason>`.
 */
export function errorAt(place: RefNode, action: string, reason: string): ContractError {
  const pointer = nameOf(place);
  return new ContractError(`Cannot ${action} at ${pointer}: ${reason}`, {
    file: place.document.path,
    pointer,
  });
}

/** `#/paths/~1subscribe`, with the name of the file unless it is the first one. */
export function nameOf({ source, document, tokens }: RefNode): string {
  const folder = dirname(source.root.path);
  const file = document === source.root ? '' : relative(folder, document.path);
  return `${file}#${printPointer(tokens)}`;
}

export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'missing';
  if (isList(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The place, then the target of its reference, and so on through further references. */
function chain(place: RefNode): RefNode[] {
  const links = [place];
  let last = place;
  while (refOf(last) !== undefined) {
    spend(place, 1);
    const next = target(last);
    if (next === undefined) break;
    if (links.some(({ value }) => value === next.value)) {
      noTarget(place, 'it refers back to itself');
      break;
    }
    if (links.length > bounds.refHopsMax) {
      noTarget(place, `it follows a chain of more than ${bounds.refHopsMax} references`);
      break;
    }
    links.push(next);
    last = next;
  }
  return links;
}

function noTarget(place: RefNode, reason: string): undefined {
  warn(place, `Cannot follow $ref ${JSON.stringify(refOf(place))}: ${reason}`);
}

function step(place: RefNode, key: string): RefNode | undefined {
  const { value } = place;
  if (isObject(value)) {
    const found = own(value, key);
    return found === undefined ? undefined : below(place, { key, value: found });
  }
  if (!isList(value) || !/^(?:0|[1-9][0-9]*)$/u.test(key)) return undefined;
  const found = value[Number(key)];
  return found === undefined ? undefined : below(place, { key, value: found });
}

function below(place: RefNode, { key, value }: { key: string; value: unknown }): RefNode {
  spend(place, 1);
  const { source, document, tokens } = place;
  return { source, document, tokens: [...tokens, key], value };
}

/** A string says why the reference cannot be followed. */
function lookUp(place: RefNode, ref: string): RefNode | string | undefined {
  const hash = ref.indexOf('#');
  const file = decode(hash < 0 ? ref : ref.slice(0, hash));
  const fragment = decode(hash < 0 ? '' : ref.slice(hash + 1));
  const document = file === '' ? place.document : open(place, file);
  if (typeof document === 'string') return document;
  if (fragment !== '' && !fragment.startsWith('/')) {
    return `its fragment is "${fragment}", expected a JSON pointer such as "#/a/b"`;
  }
  let found: RefNode | undefined = { ...place, document, tokens: [], value: document.root };
  for (const token of fragment.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    found = found && child(found, key);
  }
  return found;
}

/** Each file is tried once: an unreadable one is not tried again for every reference. */
function open(place: RefNode, file: string): Document | string {
  const { source, document } = place;
  const { documents, folders, budget } = source;
  const referred = referredPath({ file, from: document, folders });
  if (referred.kind === 'outside' && !source.isLoaded) {
    throw errorAt(place, `follow $ref ${JSON.stringify(refOf(place))}`, referred.reason);
  }
  if (referred.kind !== 'path') return referred.reason;
  const { path } = referred;
  const known = documents.get(path);
  if (known !== undefined) return known;
  if (documents.size >= bounds.documentsMax) {
    return `it is file ${bounds.documentsMax + 1}, expected at most ${bounds.documentsMax}`;
  }
  const opened = readOr(path, () => readReferred(referred, budget));
  documents.set(path, opened);
  return opened;
}

function readOr(path: string, read: () => Document): Document | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof ContractError) return error.message;
    return `Cannot open ${JSON.stringify(path)}: ${error instanceof Error ? error.message : ''}`;
  }
}

/** Fragments and paths in a reference are URIs; a stray "%" is kept. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// Decides which files a reference may open. Documents may come from untrusted sources, so a
// reference must not be able to explore the machine: it may only open documents in the folder of
// the first one, after symbolic links are resolved.

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
  const near = [dirname(realPath(path)), realPath(dirname(path))];
  return contractRoot === undefined ? near : [...near, realPath(resolve(contractRoot))];
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
    .find((name) => name.startsWith('.'));
  if (hidden !== undefined)
    return refused(`the path contains the hidden file or folder "${hidden}"`);
  return { kind: 'path', path, real };
}

/** Reads the file under its real path, so that the file that was checked is the one that is read. */
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
