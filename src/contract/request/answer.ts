// Composes the response to a subscribe request from its shape. It is composed before the targets
// are evaluated, since expressions may read it. Pointers create objects only, never lists or
// prototypes.
import { isObject, type JsonObject } from '../document/document.ts';
import type { Message } from '../expression/evaluate.ts';
import type { AnswerShape, Location } from '../model/contract.ts';
import { withoutWriteOnly } from '../schema/write-only.ts';

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** JSON; undefined if the status allows no body. */
  body: JsonObject | undefined;
}

export function composeAnswer(
  shape: AnswerShape,
  { request, id, secret }: { request: Message; id: string; secret: string },
): Answer {
  const location = shape.location && fill(shape.location, { id, values: request.path });
  const headers = location === undefined ? {} : { location };
  if (shape.status === 204 || shape.status === 205) {
    return { status: shape.status, headers, body: undefined };
  }
  const { writeOnly } = shape;
  const given = writeOnly === undefined ? request.body : withoutWriteOnly(request.body, writeOnly);
  const echoed = Object.entries(isObject(given) ? given : {});
  let body: JsonObject = Object.fromEntries(echoed.filter(([name]) => shape.echoes.includes(name)));
  for (const pointer of shape.idPointers) body = withValue(body, pointer, id);
  if (shape.secretPointer !== undefined) body = withValue(body, shape.secretPointer, secret);
  return { status: shape.status, headers, body };
}

/**
 * The response as expressions see it. `Location` is sent as a path, which is valid behind any
 * proxy. Expressions see the absolute URL that a client resolves it to, as in the examples of
 * OpenAPI.
 */
export function messageOf({ headers, body }: Answer, url: string): Message {
  const header = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    name === 'location' ? new URL(value, url).href : value,
  ]);
  return { header: new Map(header), query: new Map(), path: new Map(), body };
}

/** Copies the object with the value at the pointer. `fromEntries` never calls a setter. */
function withValue(object: JsonObject, pointer: readonly string[], value: unknown): JsonObject {
  const [token, ...rest] = pointer;
  if (token === undefined) return object;
  const before = Object.hasOwn(object, token) ? object[token] : undefined;
  const inside = rest.length === 0 ? value : withValue(isObject(before) ? before : {}, rest, value);
  const others = Object.entries(object).filter(([name]) => name !== token);
  return Object.fromEntries([...others, [token, inside]]);
}

/** Undefined when a path parameter is neither the id nor in the request. */
function fill(
  location: Location,
  { id, values }: { id: string; values: ReadonlyMap<string, unknown> },
): string | undefined {
  let isFilled = true;
  const path = location.path.replaceAll(/\{([^{}]+)\}/gu, (_whole, name: string) => {
    const value = name === location.id ? id : values.get(name);
    if (typeof value === 'string' || typeof value === 'number') {
      return encodeURIComponent(String(value).toWellFormed());
    }
    isFilled = false;
    return '';
  });
  return isFilled ? path : undefined;
}
