// The body of an example request: the first example of the document that satisfies the variant.
import type { Operation, Variant } from '../../contract/model/contract.ts';
import { isList, isObject, own } from '../../contract/document/document.ts';
import type { JsonObject } from '../../contract/document/document.ts';
import type { BodyExpression, Expression } from '../../contract/expression/expression.ts';
import { isJson } from '../../contract/model/media.ts';
import { expressionsOf } from '../../contract/expression/template.ts';
import { examplesBeside, sampleOf, sampleUrl } from './sample.ts';
import type { Direction } from './sample.ts';
import { factsOf } from './schema.ts';
import type { View } from './view.ts';
import { entriesOf, objectAt } from './written.ts';

/** Undefined if the request has no body. */
export function exampleBody(
  view: View,
  operation: Operation,
  variant: Variant | undefined,
): { mediaType: string; value: unknown } | undefined {
  const written = view.written(operation);
  const content = objectAt(view.root, written?.operation['requestBody'], 'content');
  const [mediaType, media] = jsonFirst(content) ?? ['application/json', {}];
  const pointers = bodyPointers(variant);
  const mustFit = variant !== undefined && variant.needs.length + variant.needsAny.length > 0;
  if (operation.body === undefined || (mustFit && pointers.all.length === 0)) return undefined;
  const candidates = mediaSamples(view.root, objectAt(view.root, media), 'request');
  const fitting = candidates.find((value) => fits(value, pointers));
  const value = fitting ?? fromPointers(pointers.all);
  return { mediaType, value: mustFit ? value : withTargets(value, variant) };
}

/** The examples of a media type, then generated values for its schema and each branch. */
export function mediaSamples(
  root: JsonObject,
  media: JsonObject,
  direction: Direction,
): readonly unknown[] {
  const { schema } = media;
  const branches = factsOf(root, schema).branches.flatMap(({ schemas }) => schemas);
  return [
    ...examplesBeside(root, media),
    ...[schema, ...branches].map((one) => sampleOf(root, one, direction)),
  ].filter((value) => value !== undefined);
}

export function jsonFirst(content: JsonObject): [string, unknown] | undefined {
  const types = entriesOf(content);
  const [first] = types;
  const found = types.find(([mediaType]) => isJson(mediaType)) ?? first;
  return found?.[0].includes('*') ? ['application/json', found[1]] : found;
}

interface Pointers {
  needs: readonly (readonly string[])[];
  needsAny: readonly (readonly string[])[];
  all: readonly (readonly string[])[];
}

function bodyPointers(variant: Variant | undefined): Pointers {
  const needs = (variant?.needs ?? []).filter(isBody).map(({ pointer }) => pointer);
  const needsAny = (variant?.needsAny ?? []).filter(isBody).map(({ pointer }) => pointer);
  return { needs, needsAny, all: [...needs, ...needsAny] };
}

function isBody(expression: Expression): expression is BodyExpression {
  return expression.kind === 'body';
}

function fits(value: unknown, { needs, needsAny }: Pointers): boolean {
  const isThere = (pointer: readonly string[]): boolean => reach(value, pointer) !== undefined;
  return needs.every(isThere) && (needsAny.length === 0 || needsAny.some(isThere));
}

function reach(value: unknown, pointer: readonly string[]): unknown {
  let found = value;
  for (const token of pointer) {
    if (isList(found)) found = found[Number(token)];
    else found = isObject(found) ? own(found, token) : undefined;
  }
  return found;
}

/** Without variants no field is required, but a callback without its URL is inactive. */
function withTargets(value: unknown, variant: Variant | undefined): unknown {
  if (!isObject(value) || variant === undefined) return value;
  const read = variant.callbacks.flatMap(({ target }) => expressionsOf(target ?? []));
  const missing = read
    .filter(isBody)
    .filter(({ from, pointer }) => from === 'request' && reach(value, pointer) === undefined)
    .flatMap(({ pointer }) => (pointer.length === 1 ? [pointer] : []));
  return { ...value, ...fromPointers(missing) };
}

/** If no example of the document satisfies the variant: an object with a URL at each pointer. */
function fromPointers(pointers: readonly (readonly string[])[]): JsonObject {
  const root = new Map<string, unknown>();
  for (const [first, ...rest] of pointers) {
    if (first === undefined) continue;
    const value = rest.reduceRight<unknown>((inner, token) => ({ [token]: inner }), sampleUrl);
    root.set(first, value);
  }
  return Object.fromEntries(root);
}
