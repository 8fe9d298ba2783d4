// Loads a contract from a file.
import {
  ContractError,
  fullBudget,
  isObject,
  readDocument,
  isList,
  type Document,
  type JsonObject,
} from '../document/document.ts';
import { applyOverlays } from '../document/overlay.ts';
import type { Contract, Owner } from '../model/contract.ts';
import { isAppIdScheme, isSessionScheme } from '../model/security.ts';
import { compileContract, type CompileOptions } from './compile.ts';

export interface LoadOptions {
  /** Every requirement also needs the app id; the served document shows it. */
  requireAppId?: boolean;
  /** In front of all paths, instead of the path of the document's server: `/manage`. */
  prefix?: string | undefined;
  /** Overlay files, applied in this order. */
  overlays?: readonly string[];
  /** Operations, by id, that need no key. */
  open?: readonly string[];
  /** A folder that references may lead to, in addition to that of the document. */
  contractRoot?: string | undefined;
  /** Who answers the operations; by default `ringback`. */
  owner?: Owner | undefined;
}

/** Rejects with a ContractError when the document cannot be executed. */
export async function loadContract(path: string, options: LoadOptions = {}): Promise<Contract> {
  const budget = fullBudget();
  const { contractRoot, owner } = options;
  const read = readDocument(path, budget);
  const { document, warnings } = applyOverlays(read, options.overlays ?? [], budget);
  if (!isObject(document.root)) return compile(document, { budget, owner });
  const { prefix = '' } = options;
  const placed = prefix === '' ? document.root : { ...document.root, servers: [{ url: prefix }] };
  const opened = openOperations(placed, options.open ?? []);
  const root = options.requireAppId === true ? requireAppId(opened) : opened;
  const contract = compile({ ...document, root }, { budget, contractRoot, owner });
  const unused = warnings.map((message) => ({ pointer: '#', message }));
  return { ...contract, warnings: [...contract.warnings, ...unused] };
}

/** The last safeguard behind all limits: reports a stack overflow as an error of the document. */
function compile(document: Document, options: CompileOptions): Contract {
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

// Copies a document so that some operations need no key. The given document is never changed. The
// copy is also the one that is served, so that readers see it.

function openOperations(document: JsonObject, ids: readonly string[]): JsonObject {
  const { paths } = document;
  if (!isObject(paths)) return document;
  const opened = Object.entries(paths).map(([path, item]) => [
    path,
    isObject(item) ? opensIn(item, ids) : item,
  ]);
  return { ...document, paths: Object.fromEntries(opened) };
}

function opensIn(item: JsonObject, ids: readonly string[]): JsonObject {
  const entries = Object.entries(item).map(([key, operation]) => {
    const id = isObject(operation) ? operation['operationId'] : undefined;
    if (!isObject(operation) || typeof id !== 'string' || !ids.includes(id))
      return [key, operation];
    const { 'x-ringback-scope': _scope, ...rest } = operation;
    return [key, { ...rest, security: [] }];
  });
  return Object.fromEntries(entries);
}

// RINGBACK_REQUIRE_APP_ID: copies a document so that every requirement also needs the app id.
// Public operations stay public, and a console session already belongs to one app. The given
// document is never changed.

export function requireAppId(document: JsonObject): JsonObject {
  const components = objectIn(document, 'components');
  const declared = objectIn(components, 'securitySchemes');
  const name = appIdName(declared);
  const scheme = declared[name] ?? { type: 'apiKey', in: 'header', name: 'X-APP-ID' };
  const securitySchemes = { ...declared, [name]: scheme };
  const sessions = new Set(
    Object.keys(declared).filter((key) => isSessionScheme(objectIn(declared, key))),
  );
  const withAppId = (holder: JsonObject): JsonObject => rewritten(holder, { name, sessions });
  return {
    ...withAppId(document),
    components: { ...components, securitySchemes },
    ...(isObject(document['paths']) && {
      paths: mapValues(document['paths'], (item) =>
        mapValues(item, (operation, key) =>
          methods.has(key) && isObject(operation) ? withAppId(operation) : operation,
        ),
      ),
    }),
  };
}

const methods = new Set(
  ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'].concat('query'),
);

/** The document itself, or one operation: both have `security`. */
function rewritten(
  holder: JsonObject,
  { name, sessions }: { name: string; sessions: ReadonlySet<string> },
): JsonObject {
  const list = holder['security'];
  if (!isList(list)) return holder;
  const security = list.map((requirement) => {
    if (!isObject(requirement)) return requirement;
    const names = Object.keys(requirement);
    const isBound = names.some((one) => sessions.has(one));
    if (names.length === 0 || isBound) return requirement;
    return { ...requirement, [name]: requirement[name] ?? [] };
  });
  return { ...holder, security };
}

function appIdName(schemes: JsonObject): string {
  const [known] =
    Object.entries(schemes).find(([, one]) => isObject(one) && isAppIdScheme(one)) ?? [];
  if (known !== undefined) return known;
  let name = 'AppId';
  while (Object.hasOwn(schemes, name)) name += '_';
  return name;
}

function objectIn(holder: JsonObject, key: string): JsonObject {
  const value = holder[key];
  return isObject(value) ? value : {};
}

function mapValues(object: unknown, change: (value: unknown, key: string) => unknown): unknown {
  if (!isObject(object)) return object;
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, change(value, key)]),
  );
}
