// Compiles an OpenAPI document into a contract: what each operation does, and how.
import { basename } from 'node:path';
import { bounds } from '../document/bounds.ts';
import { ContractError, isObject, type Document, type JsonObject } from '../document/document.ts';
import {
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
import type { Contract, Operation, Owner, Role, Unsubscribe } from '../model/contract.ts';
import { declaredOperations, type DeclaredOperation } from '../model/declared-operations.ts';
import {
  compileBoundKeys,
  compileScope,
  compileSecurity,
  declaredSchemes,
} from '../model/security.ts';
import type { Validator } from '../schema/schema.ts';
import { propertiesOf } from '../schema/shape.ts';
import { compileAnswer } from './answer-shape.ts';
import { compileErrors } from './error-shapes.ts';
import { compileCallbacks } from './callbacks.ts';
import {
  acceptedStatuses,
  compileCustomer,
  compileExpires,
  compileSubject,
  createdId,
} from './subject.ts';
import { findUnsubscribes } from './unsubscribe.ts';
import { compileWebhooks } from './webhooks.ts';
import { compileVariants } from './variant-definitions.ts';

/** The member of a subscribe body with the subscription's own settings. */
export const controlsProperty = 'x-ringback';

export interface CompileOptions extends SourceOptions {
  /** By default `ringback`. */
  owner?: Owner | undefined;
}

export function compileContract(
  document: Document,
  { owner = 'ringback', ...options }: CompileOptions = {},
): Contract {
  const value = checkVersion(document);
  const root = openSource(document, options);
  checkKind(root);
  const drafts = declaredOperations(root);
  const subscribes = drafts.filter(isSubscribe);
  const unsubscribes = findUnsubscribes(subscribes, drafts, owner);
  const unsubscribeIds = new Set(unsubscribes.keys());
  const schemes = declaredSchemes(root);
  const compiling = { owner, drafts, unsubscribes, unsubscribeIds, schemes, callbacks: 0 };
  const operations = drafts.map((draft) => compileOperation(draft, compiling));
  for (const operation of operations) prepare(operation);
  const webhooks = compileWebhooks(root);
  for (const { payload } of webhooks) payload?.prepare();
  const title = text(child(root, 'info'), 'title') ?? '';
  if (title === '') warn(root, 'info.title is missing; the file name is used instead');
  root.source.isLoaded = true;
  return {
    owner,
    title: title === '' ? basename(document.path) : title,
    document: value,
    operations,
    webhooks,
    warnings: root.source.warnings,
    files: {
      root: document,
      documents: root.source.documents,
      folders: root.source.folders,
      owner,
      isManagedOnly: false,
      warningsBeside: [],
    },
  };
}

interface Compiling {
  owner: Owner;
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

/** Warns about a document that declares nothing, so that users do not wait for it. */
function checkKind(root: RefNode): void {
  if ((child(root, 'openapi') ?? child(root, 'swagger')) !== undefined) return;
  warn(root, 'has no field "openapi": it is part of other documents, and declares no operations');
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
    boundKeys: compileBoundKeys(place),
    errors: role.kind === 'managed' ? new Map() : compileErrors(draft),
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
  const { owner, drafts, unsubscribes, unsubscribeIds } = compiling;
  if (isSubscribe(draft)) {
    const callbacks = compileCallbacks(draft);
    compiling.callbacks += callbacks.length;
    if (compiling.callbacks > bounds.callbacksMax) {
      const reason = `the contract has more than ${bounds.callbacksMax}`;
      throw errorAt(draft.place, 'add the callbacks', reason);
    }
    if (callbacks.length === 0) warn(draft.place, 'has no callback that can be executed');
    const variants = compileVariants(draft, callbacks, (status, isReplaced) =>
      owner === 'api'
        ? undefined
        : compileAnswer(draft, { drafts, unsubscribeIds, status, isReplaced }),
    );
    return {
      kind: 'subscribe',
      variants,
      takesControls: takesControls(draft),
      subject: compileSubject(draft) ?? (owner === 'api' ? createdId(draft, drafts) : undefined),
      customer: compileCustomer(draft),
      expiresMs: compileExpires(draft),
      accepts: acceptedStatuses(draft),
    };
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
