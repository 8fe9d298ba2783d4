// Compiles an OpenAPI document into a contract: what each operation does, and how.
import { basename } from 'node:path';
import { bounds } from '../document/bounds.ts';
import { ContractError, isObject, type Document, type JsonObject } from '../document/document.ts';
import {
  at,
  child,
  describe,
  entries,
  errorAt,
  openSource,
  rootOf,
  text,
  warn,
  type RefNode,
  type SourceOptions,
} from '../document/ref-node.ts';
import type { Contract, Operation, Role, AnswerShape, Link, Location } from '../model/contract.ts';
import {
  declaredOperations,
  indexOf,
  lastParameter,
  successes,
  type DeclaredOperation,
} from '../model/declared-operations.ts';
import { jsonContent } from '../model/media.ts';
import { compileScope, compileSecurity, declaredSchemes } from '../model/security.ts';
import type { Validator } from '../schema/schema.ts';
import { propertiesOf } from '../schema/shape.ts';
import { compileWriteOnly } from '../schema/write-only.ts';
import { compileCallbacks } from './callbacks.ts';
import { compileLinks, idOf } from './links.ts';
import { findUnsubscribes, type Unsubscribe } from './unsubscribe.ts';
import { compileVariants } from './variant-definitions.ts';

/** The member of a subscribe body with the subscription's own settings. */
export const controlsProperty = 'x-ringback';

export function compileContract(document: Document, options?: SourceOptions): Contract {
  const value = checkVersion(document);
  const root = openSource(document, options);
  checkKind(root);
  const drafts = declaredOperations(root);
  const subscribes = drafts.filter(isSubscribe);
  const unsubscribes = findUnsubscribes(subscribes, drafts);
  const unsubscribeIds = new Set(unsubscribes.keys());
  const schemes = declaredSchemes(root);
  const compiling = { drafts, unsubscribes, unsubscribeIds, schemes, callbacks: 0 };
  const operations = drafts.map((draft) => compileOperation(draft, compiling));
  for (const operation of operations) prepare(operation);
  const title = text(child(root, 'info'), 'title') ?? '';
  if (title === '') warn(root, 'info.title is missing; the file name is used instead');
  root.source.isLoaded = true;
  return {
    title: title === '' ? basename(document.path) : title,
    document: value,
    operations,
    warnings: root.source.warnings,
    files: {
      root: document,
      documents: root.source.documents,
      folders: root.source.folders,
      isManagedOnly: false,
    },
  };
}

interface Compiling {
  drafts: readonly DeclaredOperation[];
  unsubscribes: ReadonlyMap<string, Unsubscribe>;
  unsubscribeIds: ReadonlySet<string>;
  schemes: Operation['schemes'];
  /** Number of callbacks so far. */
  callbacks: number;
}

function checkVersion({ path, root }: Document): JsonObject {
  const fail = (reason: string): ContractError =>
    new ContractError(`Cannot load contract "${path}": ${reason}`, { file: path });
  if (!isObject(root)) throw fail('expected an OpenAPI document, which is a JSON object');
  const version = root['openapi'] ?? root['swagger'];
  for (const [field, what] of Object.entries(otherFormats)) {
    if (version === undefined && Object.hasOwn(root, field)) throw fail(what);
  }
  if (version === undefined && isPart(root)) return root;
  if (version === undefined) throw fail('field "openapi" is missing, expected 3.0, 3.1 or 3.2');
  // Unquoted, 3.0 is the number 3.
  const written = JSON.stringify(version);
  if (/^"?3(?:\.[0-2](?:[.-][^"]*)?)?"?$/u.test(written)) return root;
  throw fail(`OpenAPI version is ${written}, expected 3.0, 3.1 or 3.2`);
}

/** Formats that look like parts of an OpenAPI document, by the field that identifies them. */
const otherFormats: Readonly<Record<string, string>> = {
  asyncapi: 'it is an AsyncAPI document (field "asyncapi"), expected an OpenAPI document',
  arazzo: 'it is an Arazzo document (field "arazzo"), expected an OpenAPI document',
  overlay:
    'it is an Overlay (field "overlay"), expected an OpenAPI document. Apply it to a document ' +
    'with --overlay',
};

/** Many documents are split over files that mostly contain only parts for other files. */
function isPart(root: JsonObject): boolean {
  return !Object.hasOwn(root, 'paths') && Object.values(root).some(isObject);
}

/** Warns about parts that are never executed, so that users do not wait for them. */
function checkKind(root: RefNode): void {
  if ((child(root, 'openapi') ?? child(root, 'swagger')) === undefined) {
    warn(root, 'has no field "openapi": it is part of other documents, and declares no operations');
  }
  const webhooks = child(root, 'webhooks');
  if (entries(webhooks).length > 0 && webhooks !== undefined) {
    const why = 'webhooks have no operation that registers a callback URL';
    warn(webhooks, `webhooks are not executed: ${why}. Declare callbacks on an operation instead`);
  }
}

function isSubscribe({ place }: DeclaredOperation): boolean {
  return entries(child(place, 'callbacks')).some(([label]) => !label.startsWith('x-'));
}

function compileOperation(draft: DeclaredOperation, compiling: Compiling): Operation {
  const { operationId, method, path, parameters, body, place } = draft;
  const role = compileRole(draft, compiling);
  const id = role.kind === 'unsubscribe' ? role.id : undefined;
  return {
    operationId,
    method,
    path: draft.serverPath + path,
    parameters: parameters.map((one) => (id?.name === one.name && id.in === one.in ? id : one)),
    body,
    security: compileSecurity(place),
    schemes: compiling.schemes,
    hasStrictQuery: compileStrictQuery(place),
    scope: compileScope(place),
    role,
  };
}

/** `x-ringback-strict-query` of the operation, else of the document. */
function compileStrictQuery(operation: RefNode): boolean {
  const name = 'x-ringback-strict-query';
  const place = child(operation, name) ?? child(rootOf(operation), name);
  if (place === undefined || typeof place.value === 'boolean') return place?.value === true;
  throw errorAt(place, `read ${name}`, `expected true or false, found ${describe(place.value)}`);
}

function compileRole(draft: DeclaredOperation, compiling: Compiling): Role {
  const { drafts, unsubscribes, unsubscribeIds } = compiling;
  if (isSubscribe(draft)) {
    const callbacks = compileCallbacks(draft);
    compiling.callbacks += callbacks.length;
    if (compiling.callbacks > bounds.callbacksMax) {
      const reason = `the contract has more than ${bounds.callbacksMax}`;
      throw errorAt(draft.place, 'add the callbacks', reason);
    }
    if (callbacks.length === 0) warn(draft.place, 'has no callback that can be executed');
    const variants = compileVariants(draft, callbacks, (status) =>
      compileAnswer(draft, { drafts, unsubscribeIds, status }),
    );
    return { kind: 'subscribe', variants, takesControls: takesControls(draft) };
  }
  const unsubscribe = unsubscribes.get(draft.operationId);
  return unsubscribe === undefined ? { kind: 'managed' } : { kind: 'unsubscribe', ...unsubscribe };
}

/**
 * The operation takes controls only if the schema declares the property; else it is an ordinary
 * part of the body.
 */
function takesControls({ place }: DeclaredOperation): boolean {
  const body = child(place, 'requestBody');
  const media = entries(body && child(body, 'content'));
  return media.some(([, one]) => propertiesOf(child(one, 'schema')).has(controlsProperty));
}

/** Compiles the schemas that will be executed, so that their faults are reported at load. */
function prepare({ role, parameters, body }: Operation): void {
  if (role.kind === 'managed') return;
  const payloads =
    role.kind === 'subscribe'
      ? role.variants.flatMap(({ callbacks }) => callbacks.map(({ payload }) => payload))
      : [];
  const validators: (Validator | undefined)[] = [
    ...parameters.map(({ schema }) => schema),
    ...(body?.content.values() ?? []),
    ...payloads,
  ];
  for (const validator of validators) validator?.prepare();
}

// The shape of a subscribe response: status, echoed fields, and where the id goes.

interface AnswerOptions {
  /** The operations of the document. */
  drafts: readonly DeclaredOperation[];
  /** Ids of the operations that take a subscriber id. */
  unsubscribeIds: ReadonlySet<string>;
  /** The status of the variant; by default the lowest declared 2xx. */
  status: number | undefined;
}

function compileAnswer(draft: DeclaredOperation, options: AnswerOptions): AnswerShape {
  const declared = successes(draft.place);
  const status = options.status ?? declared[0]?.status ?? 201;
  const response = declared.find((one) => one.status === status);
  if (response === undefined && declared.length > 0) {
    warn(draft.place, `answers ${status}, which its responses do not declare`);
  }
  const linksOf = (place: RefNode): Link[] => compileLinks(place, draft, options.drafts);
  const links = response === undefined ? [] : linksOf(response.place);
  const content = response && child(response.place, 'content');
  const schema = jsonContent(content)?.schema;
  const properties = propertiesOf(schema);
  const requested = jsonContent(at(draft.place, 'requestBody', 'content'))?.schema;
  const others = declared.flatMap(({ place }) => linksOf(place));
  const idLink = preferUnsubscribe([...links, ...others], options.unsubscribeIds);
  const location = locate(draft, { ...options, links: [...links, ...others] });
  return {
    status,
    echoes: [...properties].filter(([, place]) => isEchoed(place)).map(([name]) => name),
    writeOnly: compileWriteOnly([schema, requested]),
    idPointers: idPointers({ idLink, location, properties }),
    secretPointer: findSecret(properties, 0),
    location,
    links,
  };
}

function isEchoed(property: RefNode): boolean {
  return child(property, 'writeOnly')?.value !== true;
}

function preferUnsubscribe(links: readonly Link[], ids: ReadonlySet<string>): Link | undefined {
  const taking = links.filter((link) => idOf(link) !== undefined);
  return taking.find(({ operationId }) => ids.has(operationId)) ?? taking[0];
}

/**
 * If a link names no place, the id goes into `subscriberId`. If the schema has a property that is
 * plainly the id of the created resource, it goes there too, because clients of the document will
 * look there.
 */
function idPointers({ idLink, location, properties }: IdHints): readonly (readonly string[])[] {
  const named = idLink && idOf(idLink);
  if (named !== undefined) return [named.pointer];
  const names = new Set([location?.id.toLowerCase(), 'subscriberid', 'subscriptionid', 'id']);
  const declared = [...names].flatMap((name) =>
    [...properties.keys()].filter((key) => key.replaceAll(/[_-]/gu, '').toLowerCase() === name),
  );
  const [first = 'subscriberId'] = declared;
  return first === 'subscriberId' ? [[first]] : [['subscriberId'], [first]];
}

interface IdHints {
  idLink: Link | undefined;
  location: Location | undefined;
  properties: ReadonlyMap<string, RefNode>;
}

const secretDepthMax = 4;

function findSecret(properties: ReadonlyMap<string, RefNode>, depth: number): string[] | undefined {
  for (const [name, place] of properties) {
    if (child(place, 'x-ringback')?.value === 'secret') return [name];
  }
  if (depth === secretDepthMax) return undefined;
  for (const [name, place] of properties) {
    const inside = findSecret(propertiesOf(place), depth + 1);
    if (inside !== undefined) return [name, ...inside];
  }
  return undefined;
}

/** The path below the subscribe path, or one that a link passes the id to. */
function locate(
  { path }: DeclaredOperation,
  { drafts, links }: AnswerOptions & { links: readonly Link[] },
): Location | undefined {
  const folder = path.replace(/\/$/u, '');
  const below = indexOf(drafts).byFolder.get(folder);
  if (below !== undefined)
    return { path: below.draft.serverPath + below.draft.path, id: below.parameter };
  for (const link of links) {
    const linked = indexOf(drafts).byId.get(link.operationId);
    const id = linked && lastParameter(linked.path);
    if (linked !== undefined && id !== undefined && id === idOf(link)?.parameter) {
      return { path: linked.serverPath + linked.path, id };
    }
  }
  return undefined;
}
