// Converts an OpenAPI schema, 3.0 to 3.2, to one self-contained JSON Schema 2020-12. Everything
// reachable becomes an entry of `$defs`, including each branch of a oneOf or anyOf, so that it can
// be checked on its own. Unreadable parts are dropped with a warning; a conversion must never make
// a schema stricter.
import { bounds } from '../document/bounds.ts';
import { isList, isObject, own } from '../document/document.ts';
import type { JsonObject } from '../document/document.ts';
import { prepareEnum } from './assertions.ts';
import { keywords } from './keywords.ts';
import { cutLoops, TooManyHops } from './cut-self-references.ts';
import {
  child,
  describe,
  errorAt,
  items,
  nameOf,
  refOf,
  spend,
  target,
  warn,
} from '../document/ref-node.ts';
import type { RefNode } from '../document/ref-node.ts';
import { readRegex } from './regex.ts';

export type Schema = Record<string, unknown> | boolean;

export interface Bundle {
  $ref: string;
  $defs: Record<string, Schema>;
}

/** A bundle that keeps some keywords that do not affect validity, and the place of each part. */
export interface DescribedSchema {
  bundle: Bundle;
  /** Name under `$defs` → place in the document. */
  places: ReadonlyMap<string, string>;
  /** How much code it becomes, about: `bounds.schemaWeightMax`. */
  weight: number;
}

/** `kept`: keywords that are carried over as they are. */
export function describeSchema(
  place: RefNode,
  kept: ReadonlySet<string> = new Set(),
): DescribedSchema {
  const defs = new Map<string, Schema>();
  const shelf: Shelf = { defs, names: new Map(), waiting: [], weight: 0, kept };
  const root = define(place, shelf);
  // The loop also visits entries that are added on the way.
  for (const next of shelf.waiting) {
    defs.set(next.name, convert(next.place, { shelf, depth: 0 }));
  }
  if (cut(defs, place)) {
    warn(place, 'refers to itself with no property in between; that part is not validated');
  }
  const places = new Map([...shelf.names].map(([key, name]) => [name, key]));
  const bundle = { $ref: refTo(root), $defs: Object.fromEntries(defs) };
  return { bundle, places, weight: shelf.weight };
}

function cut(defs: ReadonlyMap<string, Schema>, place: RefNode): boolean {
  try {
    return cutLoops(defs);
  } catch (error) {
    if (error instanceof TooManyHops) throw errorAt(place, 'use the schema', error.message);
    throw error;
  }
}

export function refTo(name: string): string {
  return `#/$defs/${name}`;
}

/** Schemas that have a name, by place, and those of them that are not converted yet. */
interface Shelf {
  defs: Map<string, Schema>;
  names: Map<string, string>;
  waiting: { name: string; place: RefNode }[];
  /** Keywords that are copied unchanged. */
  kept: ReadonlySet<string>;
  /** Approximate size of its code. */
  weight: number;
}

interface Position {
  shelf: Shelf;
  depth: number;
}

function define(place: RefNode, shelf: Shelf): string {
  const key = nameOf(place);
  const known = shelf.names.get(key);
  if (known !== undefined) return known;
  const name = `s${shelf.names.size}`;
  shelf.names.set(key, name);
  shelf.waiting.push({ name, place });
  return name;
}

function convert(place: RefNode, position: Position): Schema {
  const { value } = place;
  if (typeof value === 'boolean') return value;
  if (!isObject(value)) {
    warn(place, `is ${describe(value)}, expected a schema; any value is accepted there`);
    return true;
  }
  if (position.depth > bounds.schemaDepthMax) {
    throw errorAt(place, 'use the schema', `it is nested deeper than ${bounds.schemaDepthMax}`);
  }
  const ref = target(place);
  const referred = ref && { $ref: refTo(define(ref, position.shelf)) };
  // In 3.0, siblings of a reference are ignored; from 3.1 on they apply, and are rarely an
  // accident.
  const siblings =
    refOf(place) !== undefined && !isModern(place) ? {} : convertOwn(place, position);
  const schema = { ...referred, ...siblings };
  return own(value, 'nullable') === true ? withNull(schema, position.shelf) : schema;
}

function convertOwn(place: RefNode, position: Position): Record<string, unknown> {
  const converted: [string, unknown][] = [];
  addWeight(place, position.shelf);
  const open = openEnded(place);
  for (const [key, value] of Object.entries(withNumericBounds(place.value))) {
    const keyword = keywords.get(key);
    if (keyword === undefined) {
      if (position.shelf.kept.has(key)) converted.push([key, value]);
      continue;
    }
    if (open && closing.has(key)) continue;
    const there = { ...place, tokens: [...place.tokens, key], value };
    if (!keyword.accepts(value)) {
      warn(there, `${complaint(key, value) ?? describeAs(value, keyword.expected)}; it is ignored`);
      continue;
    }
    const deeper = { ...position, depth: position.depth + 1 };
    if (keyword.kind === 'value') converted.push([key, convertValue(place, { key, value })]);
    if (keyword.kind === 'schema') converted.push([key, convert(there, deeper)]);
    if (keyword.kind === 'schemas') {
      converted.push([key, items(there).map((item) => convert(item, deeper))]);
    }
    if (keyword.kind === 'branches') {
      converted.push([key, items(there).map((item) => branch(item, position.shelf))]);
    }
    if (keyword.kind === 'schema map') {
      const members = ownEntries(there).map(([name, member]) => [name, convert(member, deeper)]);
      converted.push([key, Object.fromEntries(members)]);
    }
  }
  return Object.fromEntries(converted);
}

/** One point for the schema, and one for each of its keywords. */
function addWeight(place: RefNode, shelf: Shelf): void {
  const { value } = place;
  const entries = Object.entries(isObject(value) ? value : {});
  for (const [key, limit] of entries) {
    const count = hasSchemas.has(keywords.get(key)?.kind) ? Object.keys(Object(limit)).length : 0;
    if (count <= bounds.schemaMembersMax) continue;
    const reason = `its ${key} has ${count} members, expected at most ${bounds.schemaMembersMax}`;
    throw errorAt(place, 'use the schema', reason);
  }
  const weight = 1 + entries.length;
  shelf.weight += weight;
  if (shelf.weight > bounds.schemaWeightMax) {
    const reason = 'together with everything it refers to, it is too large to validate';
    throw errorAt(place, 'use the schema', reason);
  }
  spend(place, weight);
}

const hasSchemas: ReadonlySet<string | undefined> = new Set(['schemas', 'branches', 'schema map']);

/** A dropped regular expression may have allowed members that nothing else allows. */
function openEnded(place: RefNode): boolean {
  const patterns = child(place, 'patternProperties');
  return (
    patterns !== undefined && keywords.get('patternProperties')?.accepts(patterns.value) !== true
  );
}

const closing = new Set(['additionalProperties', 'unevaluatedProperties']);

function complaint(key: string, value: unknown): string | undefined {
  const patterns = key === 'pattern' ? [value] : Object.keys(isObject(value) ? value : {});
  if (key !== 'pattern' && key !== 'patternProperties') return undefined;
  for (const pattern of patterns) {
    const reading = typeof pattern === 'string' ? readRegex(pattern) : undefined;
    if (reading?.kind === 'refused') return `the expression ${quoted(pattern)} ${reading.reason}`;
  }
  return undefined;
}

/** As JSON, shortened to a readable length. */
function quoted(pattern: unknown): string {
  const text = JSON.stringify(pattern) ?? '';
  const max = bounds.quotedCharsMax;
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}

function describeAs(value: unknown, expected: string): string {
  return `is ${describe(value)}, expected ${expected}`;
}

/**
 * A property may be called `$ref`; only a string under that key is a reference, and never inside a
 * map.
 */
function ownEntries(place: RefNode): [string, RefNode][] {
  return Object.entries(isObject(place.value) ? place.value : {}).map(([key, value]) => [
    key,
    { ...place, tokens: [...place.tokens, key], value },
  ]);
}

function branch(place: RefNode, shelf: Shelf): Record<string, unknown> {
  const ref = isObject(place.value) && Object.keys(place.value).length === 1 && target(place);
  return { $ref: refTo(define(ref || place, shelf)) };
}

/** Requests, to us and to receivers, need not contain read-only properties. */
function convertValue(place: RefNode, { key, value }: { key: string; value: unknown }): unknown {
  if (key === 'enum' && isList(value)) prepareEnum(value);
  if (key !== 'required' || !isList(value)) return value;
  const properties = child(place, 'properties');
  return value.filter((name) => {
    const property = properties && child(properties, String(name));
    return (property && child(property, 'readOnly')?.value) !== true;
  });
}

/** `minimum: 1, exclusiveMinimum: true` of 3.0 becomes `exclusiveMinimum: 1`. */
function withNumericBounds(schema: unknown): JsonObject {
  if (!isObject(schema)) return {};
  const numeric: Record<string, unknown> = { ...schema };
  for (const [flag, limit] of exclusive) {
    if (typeof numeric[flag] !== 'boolean') continue;
    if (numeric[flag] && typeof numeric[limit] === 'number') {
      numeric[flag] = numeric[limit];
      delete numeric[limit];
    } else {
      delete numeric[flag];
    }
  }
  return numeric;
}

const exclusive = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

/** Applies `nullable` even beside a reference, where 3.0 ignores it: authors always mean it. */
function withNull(schema: Record<string, unknown>, shelf: Shelf): Schema {
  if (Object.keys(schema).length === 0) return schema;
  const { type } = schema;
  if (type === undefined) return { anyOf: [put({ type: 'null' }, shelf), put(schema, shelf)] };
  const values = schema['enum'];
  return {
    ...schema,
    type: [...new Set([type, 'null'].flat())],
    ...(isList(values) && { enum: withNullValue(values) }),
  };
}

/** One list for each list of the document, however often it is converted. */
function withNullValue(values: readonly unknown[]): readonly unknown[] {
  const known = nullable.get(values) ?? [...new Set([...values, null])];
  nullable.set(values, known);
  prepareEnum(known);
  return known;
}

const nullable = new WeakMap<readonly unknown[], readonly unknown[]>();

/** Names a schema that is not in the document. */
function put(schema: Record<string, unknown>, { defs, names }: Shelf): Record<string, unknown> {
  const name = `s${names.size}`;
  names.set(`made ${name}`, name);
  defs.set(name, schema);
  return { $ref: refTo(name) };
}

export function isModern({ source }: RefNode): boolean {
  const version = isObject(source.root.root) ? String(source.root.root['openapi']) : '';
  return !/^3(?:\.0|$)/u.test(version);
}
