// A value with the place where it stands, so that every warning can name it, and references that are
// followed only when something behind them is asked for. Refs may be circular; the network is taboo.
import { basename, dirname, relative, resolve } from 'node:path';
import { bounds } from './bounds.ts';
import type { Warning } from './warning.ts';
import { ContractError, isList, isObject, own, readDocument } from './document.ts';
import type { Document } from './document.ts';
import { printPointer } from './expression.ts';

export interface Place {
  source: Source;
  document: Document;
  /** Where in the document, as pointer tokens. */
  tokens: readonly string[];
  value: unknown;
}

/** The files of one contract, opened as references need them, and what was noticed on the way. */
export interface Source {
  root: Document;
  documents: Map<string, Document>;
  warnings: Warning[];
  /** References that are being followed right now: meeting one again means going in circles. */
  following: Set<unknown>;
}

export function openSource(root: Document): Place {
  const documents = new Map([[resolve(root.path), root]]);
  const source: Source = { root, documents, warnings: [], following: new Set() };
  return { source, document: root, tokens: [], value: root.root };
}

/** The start of the first file. */
export function rootOf({ source }: Place): Place {
  return { source, document: source.root, tokens: [], value: source.root.root };
}

/** What stands under the key, here or behind the reference that stands here. Siblings of it win. */
export function child(place: Place, key: string): Place | undefined {
  for (const link of chain(place)) {
    const found = step(link, key);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function at(place: Place, ...keys: string[]): Place | undefined {
  let found: Place | undefined = place;
  for (const key of keys) found = found && child(found, key);
  return found;
}

/** All properties, in the order of the document, those behind a reference included. */
export function entries(place: Place | undefined): [string, Place][] {
  const found = new Map<string, Place>();
  for (const link of place === undefined ? [] : chain(place)) {
    for (const key of isObject(link.value) ? Object.keys(link.value) : []) {
      const value = key === '$ref' || found.has(key) ? undefined : step(link, key);
      if (value !== undefined) found.set(key, value);
    }
  }
  return [...found];
}

/** The elements of a list; a warning where something else stands. */
export function items(place: Place | undefined): Place[] {
  if (place === undefined) return [];
  if (isList(place.value)) {
    return place.value.map((value, index) => below(place, { key: String(index), value }));
  }
  warn(place, `is ${describe(place.value)}, expected a list; it is ignored`);
  return [];
}

export function text(place: Place | undefined, key: string): string | undefined {
  const value = place && child(place, key)?.value;
  return typeof value === 'string' ? value : undefined;
}

/** What the reference that stands here names; undefined, with a warning, when there is nothing. */
export function target(place: Place): Place | undefined {
  const ref = refOf(place);
  if (ref === undefined) return undefined;
  const { following } = place.source;
  try {
    if (following.has(place.value)) throw refusal(place, 'it leads back to itself');
    following.add(place.value);
    const found = lookUp(place, ref);
    if (found !== undefined) return found;
    warn(place, `Cannot follow $ref ${JSON.stringify(ref)}: there is nothing at that place`);
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    warn(place, `Cannot follow $ref ${JSON.stringify(ref)}: ${error.message}`);
  } finally {
    following.delete(place.value);
  }
  return undefined;
}

/** The place itself, or what its reference leads to in the end. Equal refs lead to equal places. */
export function follow(place: Place): Place | undefined {
  const last = chain(place).at(-1);
  return last === undefined || refOf(last) !== undefined ? undefined : last;
}

export function refOf({ value }: Place): string | undefined {
  const ref = isObject(value) ? own(value, '$ref') : undefined;
  return typeof ref === 'string' ? ref : undefined;
}

export function warn(place: Place, message: string): void {
  const pointer = nameOf(place);
  const { warnings } = place.source;
  if (warnings.some((known) => known.pointer === pointer && known.message === message)) return;
  warnings.push({ pointer, message });
}

/** For what must not be executed. `action` and `reason` as in `Cannot <action>: <reason>`. */
export function errorAt(place: Place, action: string, reason: string): ContractError {
  const pointer = nameOf(place);
  return new ContractError(`Cannot ${action} at ${pointer}: ${reason}`, {
    file: place.document.path,
    pointer,
  });
}

/** `#/paths/~1subscribe`, with the name of the file where it is not the first one. */
export function nameOf({ source, document, tokens }: Place): string {
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

/** The place, then what its reference names, and so on while there are references. */
function chain(place: Place): Place[] {
  const links = [place];
  let last = place;
  while (refOf(last) !== undefined) {
    const next = target(last);
    if (next === undefined) break;
    if (links.length > bounds.refHopsMax || links.some(({ value }) => value === next.value)) {
      warn(place, `Cannot follow $ref ${JSON.stringify(refOf(place))}: it leads back to itself`);
      break;
    }
    links.push(next);
    last = next;
  }
  return links;
}

function step(place: Place, key: string): Place | undefined {
  const { value } = place;
  if (isObject(value)) {
    const found = own(value, key);
    return found === undefined ? undefined : below(place, { key, value: found });
  }
  if (!isList(value) || !/^(?:0|[1-9][0-9]*)$/u.test(key)) return undefined;
  const found = value[Number(key)];
  return found === undefined ? undefined : below(place, { key, value: found });
}

function below(place: Place, { key, value }: { key: string; value: unknown }): Place {
  return { ...place, tokens: [...place.tokens, key], value };
}

function lookUp(place: Place, ref: string): Place | undefined {
  const hash = ref.indexOf('#');
  const file = decode(hash < 0 ? ref : ref.slice(0, hash));
  const fragment = decode(hash < 0 ? '' : ref.slice(hash + 1));
  if (/^(?:[a-z][a-z0-9+.-]+:|\/\/)/iu.test(file)) {
    throw refusal(place, 'it leads to the network, and only local files are read');
  }
  if (fragment !== '' && !fragment.startsWith('/')) {
    throw refusal(place, `its fragment is "${fragment}", expected a JSON pointer such as "#/a/b"`);
  }
  const document = file === '' ? place.document : open(place, file);
  let found: Place | undefined = { ...place, document, tokens: [], value: document.root };
  for (const token of fragment.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    found = found && child(found, key);
  }
  return found;
}

function open(place: Place, file: string): Document {
  const path = resolve(dirname(place.document.path), file);
  const { documents } = place.source;
  const known = documents.get(path);
  if (known !== undefined) return known;
  if (documents.size >= bounds.documentsMax) {
    throw refusal(place, `it is file ${bounds.documentsMax + 1}, expected no more than that`);
  }
  const document = readDocument(path);
  documents.set(path, document);
  return document;
}

function refusal(place: Place, message: string): ContractError {
  return new ContractError(message, { file: basename(place.document.path) });
}

/** Fragments and paths in a reference are URIs; a stray "%" is taken as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
