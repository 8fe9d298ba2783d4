// What the request of an operation declares: the places that expressions may read, and whether the
// operation is of use without a callback URL.
import { child, entries, type RefNode } from '../document/ref-node.ts';
import type { Expression } from '../expression/expression.ts';
import type { Declared } from '../expression/repair.ts';
import { expressionsOf } from '../expression/template.ts';
import type { CallbackDefinition } from '../model/contract.ts';
import type { DeclaredOperation } from '../model/declared-operations.ts';
import { schemaOf } from '../model/media.ts';
import { propertiesOf } from '../schema/shape.ts';

/** What a callback key of the operation can mean. */
export function declaredBy({ place, parameters }: DeclaredOperation): Declared {
  const schemas = bodySchemas(place);
  return {
    parameters: parameters.flatMap(({ in: kind, name }) =>
      kind === 'cookie' ? [] : [{ kind, name }],
    ),
    hasProperty: (pointer) => schemas.some((schema) => declares(schema, pointer)),
  };
}

/**
 * Whether the URL of a callback may be absent: the request declares it as optional, and it is not
 * all that the operation reads. The request is checked first, so nothing required is absent.
 */
export function optionalIn(
  draft: DeclaredOperation,
  callbacks: readonly CallbackDefinition[],
): (callback: CallbackDefinition) => boolean {
  if (!hasOtherInput(draft, callbacks)) return () => false;
  const { hasProperty, parameters } = declaredBy(draft);
  const isDeclared = (one: Expression): boolean => {
    if (one.kind === 'body') return one.from === 'request' && hasProperty(one.pointer);
    if (!('name' in one) || one.from === 'response') return false;
    return parameters.some(({ kind, name }) => kind === one.kind && sameName(one, name));
  };
  return ({ target = [] }) => expressionsOf(target).some(isDeclared);
}

function sameName({ kind, name }: { kind: string; name: string }, declared: string): boolean {
  return name === (kind === 'header' ? declared.toLowerCase() : declared);
}

/** Whether the query or the body has a member that no callback reads. */
function hasOtherInput(
  { parameters, place, body }: DeclaredOperation,
  callbacks: readonly CallbackDefinition[],
): boolean {
  const read = callbacks.flatMap(({ target = [], event }) =>
    [target, event].flatMap(expressionsOf),
  );
  const queries = new Set(read.flatMap((one) => (one.kind === 'query' ? [one.name] : [])));
  if (parameters.some((one) => one.in === 'query' && !queries.has(one.name))) return true;
  const pointers = read.flatMap((one) =>
    one.kind === 'body' && one.from === 'request' ? [one.pointer] : [],
  );
  if (body === undefined || pointers.length === 0) return body !== undefined;
  if (pointers.some((pointer) => pointer.length === 0)) return false;
  const members = new Set(['x-ringback', ...pointers.map(([first]) => first)]);
  const properties = bodySchemas(place).flatMap((schema) => [...propertiesOf(schema).keys()]);
  return properties.some((name) => !members.has(name));
}

function bodySchemas(place: RefNode): RefNode[] {
  const body = child(place, 'requestBody');
  return entries(body && child(body, 'content')).flatMap(([mediaType, media]) => {
    const schema = schemaOf(mediaType, media);
    return schema === undefined ? [] : [schema];
  });
}

function declares(schema: RefNode, pointer: readonly string[]): boolean {
  let place: RefNode | undefined = schema;
  for (const token of pointer) {
    const inside: RefNode | undefined = place && propertiesOf(place).get(token);
    place = inside ?? (/^\d+$/u.test(token) ? place && child(place, 'items') : undefined);
  }
  return place !== undefined;
}
