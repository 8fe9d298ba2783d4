// Composes the response to a subscribe or an unsubscribe request from its shape. That of a subscribe
// request is composed before the targets are evaluated, since expressions may read it. Pointers create objects only, never lists or
// prototypes.
import { withoutPrefix, writeId } from '../../core/base/id.ts';
import { pointerTokens, valueAt, withoutAt } from '../../core/base/pointer.ts';
import type { Fault } from '../../core/errors/problem.ts';
import { bounds } from '../document/bounds.ts';
import { isObject, type JsonObject } from '../document/document.ts';
import type { Message } from '../expression/evaluate.ts';
import type { AnswerChoice, AnswerShape, Location, Variant } from '../model/contract.ts';
import { OutOfWork } from '../schema/step-budget.ts';
import { withoutWriteOnly } from '../schema/write-only.ts';

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** JSON; undefined if the status allows no body. */
  body: JsonObject | undefined;
  mediaType: string;
}

interface Composing {
  request: Message;
  /** As the service writes it: `sub_…`. */
  id: string;
  secret: string;
  /** Absolute, of the request. */
  url: string;
}

export function composeAnswer(shape: AnswerShape, composing: Composing): Answer {
  const { request, url } = composing;
  const bare = withoutPrefix('sub', composing.id);
  const id = bare === undefined ? composing.id : writeId(shape.idForm, 'sub', bare);
  const path = shape.location && fill(shape.location, { id, values: request.path });
  const isAbsolute = shape.location?.isAbsolute === true;
  const location = path !== undefined && isAbsolute ? new URL(path, url).href : path;
  const echoed = shape.headers.flatMap((name) => {
    const value = request.header.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const headers = { ...Object.fromEntries(echoed), ...(location !== undefined && { location }) };
  const { status, mediaType } = shape;
  const hasBody = status !== 204 && status !== 205;
  const body = hasBody ? bestBody(shape, { ...composing, id }) : undefined;
  return { status, headers, body, mediaType };
}

/**
 * Credentials of the subscriber's receiver are not sent back, even if the document declares it. Their
 * `credentialType` is: CAMARA requires it, and it is no secret.
 */
export function withoutSecrets(
  request: Message,
  { callbacks }: Pick<Variant, 'callbacks'>,
): Message {
  const pointers = callbacks.flatMap((one) => one.additions.flatMap(({ secrets }) => secrets));
  return pointers.reduce((seen, pointer) => {
    const body = withoutAt(seen.body, pointer);
    const place = [...pointer, 'credentialType'];
    const type = valueAt(seen.body, place);
    const isKept = typeof type === 'string' && isObject(body);
    return { ...seen, body: isKept ? withValue(body, place, type) : body };
  }, request);
}

/** Of a request that makes no subscription: without the id and what belongs to it. */
export function withoutId(shape: AnswerShape): AnswerShape {
  return { ...shape, idPointers: [], secretPointer: undefined, location: undefined };
}

/**
 * Tries the choices, each with and without the `subscriberId` that the schema does not declare, and
 * takes the first body with the fewest faults.
 */
function bestBody(shape: AnswerShape, composing: Composing): JsonObject {
  const { schema, choices, idPointers } = shape;
  const [first, ...others] = idPointers;
  const isExtra = first?.length === 1 && !shape.echoes.includes(first[0] ?? '');
  const pointerLists = isExtra ? [idPointers, others] : [idPointers];
  const bodies = choices.flatMap((choice) =>
    pointerLists.map((pointers) => () => fillBody(shape, { ...composing, choice, pointers })),
  );
  let best = bodies[0]?.() ?? {};
  if (schema === undefined) return best;
  let fewest: readonly Fault[] | undefined;
  const work = { left: bounds.requestStepsMax };
  try {
    for (const make of bodies) {
      const body = make();
      const faults = schema.check(body, work);
      if (fewest === undefined || faults.length < fewest.length) [best, fewest] = [body, faults];
      if (faults.length === 0) return body;
    }
    const less = withoutMisfits(best, shape, fewest ?? []);
    if (schema.check(less, work).length < (fewest?.length ?? 0)) return less;
  } catch (error) {
    if (!(error instanceof OutOfWork)) throw error;
  }
  return best;
}

/** The request may have a field of the same name and another type. */
function withoutMisfits(
  body: JsonObject,
  { echoes, idPointers }: AnswerShape,
  faults: readonly Fault[],
): JsonObject {
  const kept = new Set(idPointers.map(([name]) => name));
  const names = faults.map(({ field }) => pointerTokens(field)?.[0] ?? '');
  const wrong = new Set(names.filter((name) => echoes.includes(name) && !kept.has(name)));
  return Object.fromEntries(Object.entries(body).filter(([name]) => !wrong.has(name)));
}

interface FillingBody extends Composing {
  choice: AnswerChoice;
  pointers: AnswerShape['idPointers'];
}

function fillBody(shape: AnswerShape, filling: FillingBody): JsonObject {
  const { request, id, secret, choice, pointers } = filling;
  const { writeOnly } = shape;
  const given = writeOnly === undefined ? request.body : withoutWriteOnly(request.body, writeOnly);
  const fields = isObject(given) ? given : {};
  const names = shape.echoes.filter((name) => !choice.omits.includes(name));
  const echoed = Object.entries(fields).filter(([name]) => names.includes(name));
  let body: JsonObject = Object.fromEntries(echoed);
  for (const { pointer, source } of choice.fills) {
    if (source.kind !== 'only' && valueAt(body, pointer) !== undefined) continue;
    if (source.kind !== 'field') body = withValue(body, pointer, source.value);
    else if (Object.hasOwn(fields, source.name)) {
      body = withValue(body, pointer, fields[source.name]);
    }
  }
  for (const pointer of pointers) {
    body = withValue(body, pointer, shape.idNumbers.includes(pointer) ? Number(id) : id);
  }
  if (shape.secretPointer !== undefined) body = withValue(body, shape.secretPointer, secret);
  return body;
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
export function withValue(
  object: JsonObject,
  pointer: readonly string[],
  value: unknown,
): JsonObject {
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
