// Composes an error response in the shape that the operation declares for its status.
import { STATUS_CODES } from 'node:http';
import { printPointer, valueAt } from '../../core/base/pointer.ts';
import type { Fault } from '../../core/errors/problem.ts';
import { bounds } from '../document/bounds.ts';
import type { JsonObject } from '../document/document.ts';
import { responseKeys, type ErrorShape, type Operation } from '../model/contract.ts';
import type { Shape } from '../schema/shape.ts';
import { OutOfWork } from '../schema/step-budget.ts';
import { withValue } from './answer.ts';

export interface ErrorFacts extends JsonObject {
  title: string;
  status: number;
  code: string;
  detail: string;
  requestId: string;
}

/** An error response as declared, or why its schema cannot be filled. */
export type ComposedError =
  | { kind: 'declared'; mediaType: string; body: JsonObject }
  | { kind: 'misfit'; place: string; faults: readonly Fault[] };

/** Undefined: a problem document is sent. */
export function errorBody(
  operation: Pick<Operation, 'errors'>,
  problem: ErrorFacts,
): { mediaType: string; body: JsonObject } | undefined {
  const made = composeError(operation, problem);
  return made?.kind === 'declared' ? made : undefined;
}

/** Undefined: a problem document fits, or the operation declares no other body. */
export function composeError(
  { errors }: Pick<Operation, 'errors'>,
  problem: ErrorFacts,
): ComposedError | undefined {
  const { status } = problem;
  const shape = responseKeys(status)
    .map((key) => errors.get(key))
    .find(Boolean);
  if (shape?.mediaType === undefined) return undefined;
  const { mediaType, schema } = shape;
  const work = { left: bounds.requestStepsMax };
  const declared = (body: JsonObject): ComposedError => ({ kind: 'declared', mediaType, body });
  try {
    if (mediaType === problemType && schema?.check(problem, work).length === 0) return undefined;
    if (schema === undefined) return mediaType === problemType ? undefined : declared(problem);
    const facts = factsFor(shape, problem);
    const full = fillError(shape, facts);
    const faults = schema.check(full, work);
    // What the schema does not allow is left out, if it does not require it.
    const body = faults.reduce((less, { field }) => without(less, field), full);
    const isSaid = facts.some(({ pointer }) => valueAt(body, pointer) !== undefined);
    const fits = faults.length === 0 || schema.check(body, work).length === 0;
    if (isSaid && fits) return declared(body);
    if (schema.check(problem, work).length === 0) return declared(problem);
    const { place } = schema;
    return { kind: 'misfit', place, faults: faults.length > 0 ? faults : unknownOf(shape) };
  } catch (error) {
    if (error instanceof OutOfWork) return undefined;
    throw error;
  }
}

const problemType = 'application/problem+json';

/** The properties of a body that could say why the request failed, and do not. */
function unknownOf({ pointers }: ErrorShape): Fault[] {
  const message = 'cannot hold the reason';
  return pointers.map((pointer) => ({ field: printPointer(pointer), message }));
}

interface PlacedFact {
  pointer: readonly string[];
  value: unknown;
}

function factsFor({ schema, pointers }: ErrorShape, problem: ErrorFacts): PlacedFact[] {
  return pointers.flatMap((pointer) => {
    const shape = pointer.reduce((outer, name) => outer?.property(name), schema?.shape());
    const value = factFor(pointer.at(-1) ?? '', problem, shape);
    return value === undefined ? [] : [{ pointer, value }];
  });
}

function fillError({ fills }: ErrorShape, facts: readonly PlacedFact[]): JsonObject {
  let body: JsonObject = {};
  for (const { pointer, value } of facts) body = withValue(body, pointer, value);
  for (const { pointer, source } of fills) {
    if (source.kind === 'field') continue;
    if (source.kind === 'default' && valueAt(body, pointer) !== undefined) continue;
    body = withValue(body, pointer, source.value);
  }
  return body;
}

/** What a property of this name means, as one of its types. */
function factFor(name: string, problem: ErrorFacts, shape: Shape | undefined): unknown {
  const types = shape?.types ?? new Set();
  const fact = Object.entries(meanings).find(([, pattern]) => pattern.test(name))?.[0];
  const isNumber = types.has('integer') || types.has('number');
  const isText = types.size === 0 || types.has('string');
  if (fact === 'status' || (fact === 'code' && isNumber && !isText)) {
    return isNumber || types.size === 0
      ? problem.status
      : isText
        ? String(problem.status)
        : undefined;
  }
  if (fact === 'code' && isText) return codeIn(shape?.values() ?? [], problem);
  return fact === undefined || !isText ? undefined : problem[fact];
}

/**
 * The member of an enum that means the problem: its code in another spelling, otherwise the only one that names its
 * status. Without one, the code itself, which the schema then refuses.
 */
function codeIn(values: readonly unknown[], { code, status }: ErrorFacts): string {
  const texts = values.filter((value) => typeof value === 'string');
  const named = (names: readonly string[]): string[] => {
    const plain = new Set(names.map(plainName));
    return texts.filter((text) => plain.has(plainName(text)));
  };
  const same = named([code]);
  const found = same.length > 0 ? same : named(namesOf(status));
  return new Set(found).size === 1 ? (found[0] ?? code) : code;
}

function namesOf(status: number): string[] {
  return [String(status), STATUS_CODES[status] ?? [], rpcCodes[status] ?? []].flat();
}

/** `Not-Found`, `notFound` and `NOT_FOUND` are one name. */
function plainName(name: string): string {
  return name.replaceAll(/[\s._-]/gu, '').toLowerCase();
}

/** The codes of gRPC, which many HTTP APIs use, for statuses that have one code and another name. */
const rpcCodes: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

const meanings: Readonly<Record<string, RegExp>> = {
  status: /^(?:http)?[_-]?status(?:[_-]?code)?$/iu,
  code: /^(?:error[_-]?)?(?:code|error)$/iu,
  detail: /^(?:error[_-]?)?(?:message|msg|details?|description|reason)$/iu,
  title: /^(?:title|summary)$/iu,
  requestId: /^(?:request|trace|correlation)[_-]?id$/iu,
};

function without(body: JsonObject, field: string): JsonObject {
  const [name = ''] = field.slice(1).split('/');
  return Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));
}
