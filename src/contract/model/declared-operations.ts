// The operations of a document as written, before their roles are determined.
import { bounds } from '../document/bounds.ts';
import {
  type RefNode,
  at,
  child,
  describe,
  entries,
  errorAt,
  items,
  nameOf,
  rootOf,
  text,
  warn,
} from '../document/ref-node.ts';
import { makeValidator } from '../schema/schema.ts';
import { type Encoding, type Operation, type Parameter, type Style, styles } from './contract.ts';
import { compileContent, essenceOf, isJson } from './media.ts';
import { credentialTest } from './security.ts';

export interface DeclaredOperation extends Pick<
  Operation,
  'operationId' | 'method' | 'parameters' | 'body'
> {
  /** As in the document, without the path of the server. */
  path: string;
  /** In front of the path: see serverPath(). */
  serverPath: string;
  place: RefNode;
}

/** As OpenAPI names them. TRACE is missing: it cannot have a body, and proxies block it. */
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'query'] as const;

export function declaredOperations(root: RefNode): DeclaredOperation[] {
  const drafts: DeclaredOperation[] = [];
  for (const [path, item] of entries(child(root, 'paths'))) {
    if (!path.startsWith('/')) {
      if (!path.startsWith('x-'))
        warn(item, 'is not a path: expected "/" at its start; it is ignored');
      continue;
    }
    for (const { method, place } of methodsOf(item)) {
      drafts.push(draft({ path, method, item, place }));
      if (drafts.length > bounds.operationsMax) {
        const reason = `the contract has more than ${bounds.operationsMax} operations`;
        throw errorAt(place, 'add the operation', reason);
      }
    }
  }
  nameApart(drafts);
  return drafts;
}

/**
 * Drafts by everything that can refer to them. Built once, because real documents have thousands.
 */
export interface OperationIndex {
  byId: ReadonlyMap<string, DeclaredOperation>;
  /** By the name of its place. */
  byLocation: ReadonlyMap<string, DeclaredOperation>;
  /** The first draft of each path that ends in a parameter, by the path before the parameter. */
  byFolder: ReadonlyMap<string, { draft: DeclaredOperation; parameter: string }>;
  /** By the path as it is served, with that of the server. */
  byServedPath: ReadonlyMap<string, readonly DeclaredOperation[]>;
}

const indexes = new WeakMap<readonly DeclaredOperation[], OperationIndex>();

export function indexOf(drafts: readonly DeclaredOperation[]): OperationIndex {
  const known = indexes.get(drafts);
  if (known !== undefined) return known;
  const first = drafts.toReversed();
  const index: OperationIndex = {
    byId: new Map(first.map((one) => [one.operationId, one])),
    byLocation: new Map(first.map((one) => [nameOf(one.place), one])),
    byFolder: new Map(
      first.flatMap((one) => {
        const parameter = lastParameter(one.path);
        if (parameter === undefined) return [];
        return [[one.path.slice(0, -parameter.length - 3), { draft: one, parameter }] as const];
      }),
    ),
    byServedPath: Map.groupBy(drafts, (one) => one.serverPath + one.path),
  };
  indexes.set(drafts, index);
  return index;
}

/** `/hooks/{id}` → `id`. */
export function lastParameter(path: string): string | undefined {
  return /\/\{([^{}/]+)\}$/u.exec(path)?.[1];
}

/**
 * A duplicate operationId stays with the first operation; the second is named by method and path.
 */
function nameApart(drafts: readonly DeclaredOperation[]): void {
  const taken = new Map<string, DeclaredOperation>();
  for (const one of drafts) {
    const first = taken.get(one.operationId);
    if (first !== undefined) {
      const name = `${one.method} ${one.path}`;
      const has = `${nameOf(first.place)} already has the operationId "${one.operationId}"`;
      if (taken.has(name)) throw errorAt(one.place, `name the operation "${name}"`, has);
      warn(one.place, `${has}; this operation is named "${name}" instead`);
      one.operationId = name;
    }
    taken.set(one.operationId, one);
  }
}

/** The operations under a path or under the key of a callback. Methods are in upper case. */
export function methodsOf(item: RefNode): { method: string; place: RefNode }[] {
  for (const key of ['trace', 'additionalOperations']) {
    const unused = child(item, key);
    if (unused !== undefined) warn(unused, 'cannot be executed: the method is not supported');
  }
  return methods.flatMap((method) => {
    const place = child(item, method);
    if (place === undefined) return [];
    const { value } = place;
    if (typeof value === 'object' && value !== null)
      return [{ method: method.toUpperCase(), place }];
    warn(place, `is ${describe(value)}, expected an operation; it is ignored`);
    return [];
  });
}

function draft({ path, method, item, place }: Written): DeclaredOperation {
  const body = child(place, 'requestBody');
  return {
    operationId: text(place, 'operationId') ?? `${method} ${path}`,
    method,
    path,
    serverPath: serverPath(place, item),
    place,
    parameters: compileParameters({ item, operation: place }, path),
    body: body && {
      required: child(body, 'required')?.value === true,
      content: compileContent(child(body, 'content')),
      encodings: compileEncodings(child(body, 'content')),
      opaque: text(body, 'x-ringback-opaque'),
    },
  };
}

interface Written {
  path: string;
  method: string;
  item: RefNode;
  place: RefNode;
}

// Compiles `encoding` of a form or multipart body: how each property is encoded in its field or
// part.

/** By media type, lower case, and property. */
function compileEncodings(
  content: RefNode | undefined,
): Map<string, ReadonlyMap<string, Encoding>> {
  return new Map(
    entries(content).flatMap(([mediaType, place]) => {
      const encodings = entries(child(place, 'encoding'));
      if (encodings.length === 0) return [];
      return [
        [essenceOf(mediaType), new Map(encodings.map(([name, one]) => [name, compile(one)]))],
      ];
    }),
  );
}

const formStyles = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const;

function compile(place: RefNode): Encoding {
  const declared = text(place, 'style');
  const style = formStyles.find((known) => known === declared);
  if (declared !== undefined && style === undefined) {
    warn(place, `style "${declared}" is not a style for form fields; "form" is used`);
  }
  const explode = child(place, 'explode')?.value;
  return {
    contentType: text(place, 'contentType'),
    style,
    explode: typeof explode === 'boolean' ? explode : undefined,
  };
}

// The success responses that an operation declares.

interface Response {
  /** `2XX` counts as 200. */
  status: number;
  place: RefNode;
}

/** Lowest status first. If there is none, `default` describes the response with the status `usual`. */
export function successes(operation: RefNode, usual: number): Response[] {
  const responses = child(operation, 'responses');
  const found = entries(responses)
    .filter(([key]) => /^2(?:\d\d|xx)$/iu.test(key))
    .map(([key, place]) => ({ status: statusOf(key), key, place }))
    .toSorted((a, b) => a.status - b.status || a.key.localeCompare(b.key))
    .map(({ status, place }) => ({ status, place }));
  const place = responses && child(responses, 'default');
  return found.length > 0 || place === undefined ? found : [{ status: usual, place }];
}

function statusOf(key: string): number {
  return /^\d+$/u.test(key) ? Number(key) : 200;
}

// Compiles the parameters of an operation. Unreadable ones are dropped with a warning. Credentials
// are left out, since the security schemes handle them.

/** Parameters of the path item first; the operation's own replace those of the same name. */
export function compileParameters(
  places: { item: RefNode; operation: RefNode },
  path: string,
): Parameter[] {
  const isCredential = credentialTest(places.operation);
  const parameters = new Map<string, Parameter>();
  for (const holder of [places.item, places.operation]) {
    for (const place of items(child(holder, 'parameters'))) {
      const parameter = compileParameter(place);
      if (parameter === undefined || !isUsable(parameter, { place, path })) continue;
      const { in: kind } = parameter;
      const name = kind === 'header' ? parameter.name.toLowerCase() : parameter.name;
      if (kind !== 'cookie' && isCredential({ kind, from: 'request', name })) {
        if (!ignored.has(name))
          warn(place, 'is a credential; it is handled by the security scheme');
        continue;
      }
      parameters.set(`${kind} ${name}`, parameter);
    }
  }
  return [...parameters.values()];
}

/** The specification says that declarations of these headers are ignored. */
const ignored = new Set(['accept', 'content-type', 'authorization']);

const kinds = ['path', 'query', 'header', 'cookie'] as const;

function compileParameter(place: RefNode): Parameter | undefined {
  const kind = kinds.find((known) => known === text(place, 'in'));
  const name = text(place, 'name');
  if (text(place, 'in') === 'querystring') {
    const what = 'the query is neither validated nor readable by expressions';
    warn(place, `"in: querystring" is not executed: ${what}`);
    return undefined;
  }
  if (kind === undefined || name === undefined || name === '') {
    const expected = `"name", and "in" as ${kinds.join(', ')}`;
    warn(place, `Cannot read the parameter: expected ${expected}; it is ignored`);
    return undefined;
  }
  const [content] = entries(child(place, 'content'));
  const style = content !== undefined && isJson(content[0]) ? 'json' : styleOf(place, kind);
  const holder = content === undefined ? place : content[1];
  const schema = child(holder, 'schema');
  return {
    name,
    in: kind,
    required: kind === 'path' || child(place, 'required')?.value === true,
    style,
    explode: explodes(child(place, 'explode')?.value, style),
    mayBeEmpty: child(place, 'allowEmptyValue')?.value === true,
    schema: schema && makeValidator(schema, holder),
  };
}

function isUsable(
  { in: kind, name }: Parameter,
  { place, path }: { place: RefNode; path: string },
): boolean {
  if (kind === 'header') return !ignored.has(name.toLowerCase());
  if (kind !== 'path' || path.includes(`{${name}}`)) return true;
  warn(place, `Cannot use path parameter "${name}": "${path}" does not contain it`);
  return false;
}

const allowedStyles: Readonly<Record<Parameter['in'], readonly Style[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
};

function styleOf(place: RefNode, kind: Parameter['in']): Style {
  const [usual = 'simple', ...others] = allowedStyles[kind];
  const declared = text(place, 'style');
  const style = [usual, ...others].find((known) => known === declared);
  if (declared !== undefined && style === undefined && declared !== 'cookie') {
    const known = styles.some((one) => one === declared) ? `not a style for a ${kind}` : 'unknown';
    warn(place, `style "${declared}" is ${known}; "${usual}" is used`);
  }
  return style ?? usual;
}

function explodes(declared: unknown, style: Style): boolean {
  return typeof declared === 'boolean' ? declared : style === 'form' || style === 'deepObject';
}

/**
 * The path that the servers of an operation put in front of it, else those of its path, else those of the document.
 * Without a trailing slash. Only the path counts: Ringback is reached at its own host.
 */
function serverPath(operation: RefNode, item: RefNode): string {
  for (const holder of [operation, item, rootOf(operation)]) {
    const list = child(holder, 'servers');
    const [server] = items(list);
    if (server !== undefined) return pathOf(server);
  }
  return '';
}

/** A relative URL is one on the host of Ringback, whose folder is the root. */
function pathOf(server: RefNode): string {
  const given = text(server, 'url') ?? '';
  const url = withVariables(server, given)
    .replace(`${empty}:`, 'http:')
    .replace(hostWithEmpty, '$1//localhost');
  const parsed = URL.parse(url, 'http://localhost/');
  if (parsed !== null && /^https?:$/u.test(parsed.protocol)) {
    return parsed.pathname.replaceAll(empty, '').replaceAll(/\/+/gu, '/').replace(/\/$/u, '');
  }
  const expected = 'expected an http or https URL, or a path';
  warn(server, `the URL is "${given}", ${expected}; the paths are served under "/"`);
  return '';
}

/**
 * Stands for an empty value while the URL is parsed, because the parser reads `//v1` as a host, and
 * the first segment behind `https:///` too.
 */
const empty = 'ringback--empty';
const hostWithEmpty = new RegExp(`^([^/?#:]*:)?//[^/?#]*${empty}[^/?#]*`, 'u');

function withVariables(server: RefNode, url: string): string {
  return url.replaceAll(/\{([^{}]+)\}/gu, (_whole, name: string) => {
    const value = at(server, 'variables', name, 'default')?.value;
    if (typeof value === 'string' || typeof value === 'number') return String(value) || empty;
    warn(
      server,
      `the variable "${name}" has no default, which OpenAPI requires; it counts as empty`,
    );
    return empty;
  });
}
