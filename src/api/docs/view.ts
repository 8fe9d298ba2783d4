// What all parts of the page share: their context, the document as written, and the limits of the page.
import { pointerTokens, valueAt } from '../../core/base/pointer.ts';
import { type JsonObject, isList, isObject, own } from '../../contract/document/document.ts';
import { type RefNode, at, openSource } from '../../contract/document/ref-node.ts';
import type { Contract, Operation, Webhook } from '../../contract/model/contract.ts';
import { isJson } from '../../contract/model/media.ts';
import type { WorkBudget } from '../../contract/schema/step-budget.ts';

export interface View {
  /** The root of `#/…` references. */
  root: JsonObject;
  /** Remaining schema rows for this page. */
  meter: { rowsLeft: number };
  /** What examples may cost on this page. */
  work: { requests: WorkBudget; responses: WorkBudget };
  anchors: ReadonlyMap<string, string>;
  /** By event. */
  webhookAnchors: ReadonlyMap<string, string>;
  /** The operation as written in the document; undefined if it is in another file. */
  written(operation: Operation): Written | undefined;
  /** The schema shown in the errors section; other places only link to it. */
  problemRef: string | undefined;
}

/** Cannot collide with the code of a problem, which is also an anchor: codes contain no "-". */
export function operationAnchors(operations: readonly Operation[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  return new Map(
    operations.map(({ operationId }) => [
      operationId,
      freeAnchor(`op-${slug(operationId)}`, taken),
    ]),
  );
}

export function webhookAnchors(webhooks: readonly Webhook[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  return new Map(webhooks.map(({ event }) => [event, freeAnchor(`webhook-${slug(event)}`, taken)]));
}

/** Operations of Ringback's own contract that concern the events of all contracts. */
export interface OwnOperations {
  title: string;
  /** Whether this is the page of that contract. */
  isHere: boolean;
  subscribe: OwnOperation;
  /** Lists event types. */
  list: OwnOperation;
}

export interface OwnOperation {
  /** `POST /subscribe`. */
  route: string;
  anchor: string;
}

/** Undefined where subscribers cannot use them. */
export function ownOperations(
  builtIn: Contract | undefined,
): Omit<OwnOperations, 'isHere'> | undefined {
  if (builtIn === undefined) return undefined;
  const { title, operations } = builtIn;
  const anchors = operationAnchors(operations);
  const linked = ({ operationId, method, path }: Operation): OwnOperation => ({
    route: `${method} ${path}`,
    anchor: anchors.get(operationId) ?? '',
  });
  const [subscribe] = operations.filter(({ role }) => role.kind === 'subscribe').map(linked);
  const [list] = operations
    .filter(({ operationId }) => operationId === 'listEventTypes')
    .map(linked);
  return subscribe && list && { title, subscribe, list };
}

export function freeAnchor(wanted: string, taken: Set<string>): string {
  let anchor = wanted;
  for (let number = 2; taken.has(anchor); number += 1) anchor = `${wanted}-${number}`;
  taken.add(anchor);
  return anchor;
}

export function slug(text: string): string {
  const plain = text.replaceAll(/[^A-Za-z0-9_]+/gu, '-').replaceAll(/^-|-$/gu, '');
  return plain === '' ? 'x' : plain;
}

/** The JSON type, otherwise the first; a range is shown as JSON. */
export function jsonFirst(mediaTypes: readonly string[]): string | undefined {
  return mediaTypes.find(isJson) ?? mediaTypes[0];
}

// Reads the document as written: descriptions and examples are not part of a compiled contract.
// Only references inside the document are followed; nothing is opened, and nothing is trusted.

export type Found =
  /** `refs`: the references that were followed. */
  | { kind: 'found'; object: JsonObject; refs: readonly string[] }
  /** In another file, or unresolvable. */
  | { kind: 'elsewhere'; ref: string }
  /** Not an object. */
  | { kind: 'nothing' };

/** The value, with references resolved. Siblings of a reference take precedence. */
export function follow(root: JsonObject, value: unknown): Found {
  let object = value;
  let siblings: JsonObject = {};
  const refs: string[] = [];
  while (isObject(object)) {
    const ref = own(object, '$ref');
    if (typeof ref !== 'string') return { kind: 'found', object: { ...object, ...siblings }, refs };
    if (refs.includes(ref) || refs.length >= bounds.refHopsMax) return { kind: 'elsewhere', ref };
    refs.push(ref);
    const { $ref: _ref, ...others } = object;
    siblings = { ...others, ...siblings };
    object = ref.startsWith('#') ? valueAt(root, tokensOf(ref)) : undefined;
    if (object === undefined) return { kind: 'elsewhere', ref };
  }
  return { kind: 'nothing' };
}

/** The object with references resolved; empty if there is none. */
export function objectAt(root: JsonObject, value: unknown, ...keys: string[]): JsonObject {
  let found = follow(root, value);
  for (const key of keys) {
    found = found.kind === 'found' ? follow(root, own(found.object, key)) : found;
  }
  return found.kind === 'found' ? found.object : {};
}

/** Own entries, without extensions. */
export function entriesOf(object: JsonObject): [string, unknown][] {
  return Object.entries(object).filter(([key]) => !key.startsWith('x-'));
}

export function textIn(object: JsonObject, key: string): string | undefined {
  const value = own(object, key);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

export function listIn(object: JsonObject, key: string): readonly unknown[] {
  const value = own(object, key);
  return isList(value) ? value : [];
}

/** `#/components/schemas/Message` → `Message`. */
export function nameOfRef(ref: string): string {
  return tokensOf(ref).at(-1) ?? ref;
}

/** An operation of the document and its path item. */
export interface Written {
  operation: JsonObject;
  /** The same, to follow references into other files that the contract has read. */
  place: RefNode | undefined;
  item: JsonObject;
}

/** By the name in the contract (declared-operations.ts: the operationId, otherwise method and path). */
export function writtenOperations({ document, files }: Contract): ReadonlyMap<string, Written> {
  const found = new Map<string, Written>();
  // Warnings about it are not those of the contract, and without a budget no further file is read.
  const root = openSource(
    { ...files.root, root: document },
    { files, budget: { bytes: 0, nodes: 0 } },
  );
  root.source.isLoaded = true;
  for (const [path, value] of entriesOf(objectAt(document, document['paths']))) {
    const item = objectAt(document, value);
    for (const [key, method] of Object.entries(item)) {
      const operation = objectAt(document, method);
      const name = textIn(operation, 'operationId') ?? `${key.toUpperCase()} ${path}`;
      if (methods.has(key))
        found.set(name, { operation, item, place: at(root, 'paths', path, key) });
    }
  }
  return found;
}

/** The operation of a callback by the ID of its definition: label, key and method. */
export function writtenCallback(root: JsonObject, operation: JsonObject, id: string): JsonObject {
  const labels = entriesOf(objectAt(root, operation['callbacks']));
  for (const [label, callback] of labels.filter(([one]) => id.startsWith(`${one} `))) {
    for (const [key, item] of entriesOf(objectAt(root, callback))) {
      const method = [...methods].find((one) => id === `${label} ${key} ${one.toUpperCase()}`);
      if (method !== undefined) return objectAt(root, item, method);
    }
  }
  return {};
}

/**
 * Parameters as written, by location and name; those of the operation override those of the path.
 */
export function writtenParameters(
  root: JsonObject,
  { item, operation }: Written,
): ReadonlyMap<string, JsonObject> {
  const all = [...listIn(item, 'parameters'), ...listIn(operation, 'parameters')];
  const objects = all.map((one) => objectAt(root, one));
  return new Map(objects.map((one) => [parameterKey({ in: one['in'], name: one['name'] }), one]));
}

export function parameterKey(parameter: { in: unknown; name: unknown }): string {
  const name = String(parameter.name);
  const place = String(parameter.in);
  return `${place} ${place === 'header' ? name.toLowerCase() : name}`;
}

export function summaryOf(operation: Operation, written: Written | undefined): string {
  const summary = written && textIn(written.operation, 'summary');
  const { operationId, method } = operation;
  // Without an operationId the method is shown separately anyway.
  return summary ?? operationId.replace(`${method} /`, '/');
}

const methods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'query']);

/** A stray "%" is kept, as where documents are compiled. */
function tokensOf(ref: string): readonly string[] {
  const fragment = ref.slice(ref.indexOf('#') + 1);
  try {
    return pointerTokens(decodeURIComponent(fragment)) ?? [fragment];
  } catch {
    return pointerTokens(fragment) ?? [fragment];
  }
}

// Limits of the reference page for any document, however large or malformed.

export const bounds = {
  /** Chained references, and parts that one schema may be composed of. */
  refHopsMax: 16,
  partsMax: 64,
  /** Displayed nesting of a schema; deeper levels are only mentioned. */
  schemaDepthMax: 6,
  /** Rows of one schema, properties considered, and rows of all schemas of the page. */
  schemaRowsMax: 250,
  propertiesMax: 500,
  pageRowsMax: 20_000,
  /** Nesting and number of values of an example. */
  sampleDepthMax: 8,
  sampleValuesMax: 200,
  /** Characters of one value and of one description. */
  valueCharsMax: 600,
  descriptionCharsMax: 20_000,
  /** Enum values listed, notes on the document, and notes shown without being expanded. */
  valuesShownMax: 24,
  notesMax: 200,
  notesOpenMax: 3,
} as const;
