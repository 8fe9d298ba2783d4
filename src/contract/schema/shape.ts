// What a schema says about the type of a value: enough to convert text to it. It never validates.
// If a schema allows several types including string, the text stays text.
import { lazy, remembered } from '../../core/base/lazy.ts';
import { isList, isObject, own, type JsonObject } from '../document/document.ts';
import { child, entries, items, type RefNode } from '../document/ref-node.ts';
import type { Bundle } from './bundle.ts';
import { typeOf } from './explain.ts';

export interface Shape {
  /** JSON types; empty if the schema names none. */
  types: ReadonlySet<string>;
  default: unknown;
  /** Names of declared properties. */
  properties: readonly string[];
  /** Members of `enum`; empty if there is none. */
  values(): readonly unknown[];
  items(): Shape;
  property(name: string): Shape;
}

export function shapeOf(bundle: Bundle): Shape {
  return shape(bundle, [{ $ref: bundle.$ref }]);
}

function shape(bundle: Bundle, schemas: readonly unknown[]): Shape {
  const parts = gather(schemas, bundle);
  const all = (keyword: string): unknown[] =>
    [...parts].map((part) => own(part, keyword)).filter((value) => value !== undefined);
  const maps = all('properties').filter(isObject);
  const declared = new Set(maps.flatMap((map) => Object.keys(map)));
  // Requests ask for the same ones again and again, and each may be put together from thousands of schemas.
  const others = lazy(() => shape(bundle, all('additionalProperties')));
  const property = remembered((name) => {
    const schemasOf = maps.filter((map) => Object.hasOwn(map, name)).map((map) => map[name]);
    return shape(bundle, schemasOf);
  });
  return {
    types: new Set([...parts].flatMap(typesOf)),
    default: all('default')[0],
    properties: [...declared],
    values: lazy(() => all('enum').filter(isList).flat()),
    items: lazy(() => shape(bundle, all('items'))),
    property: (name) => (declared.has(name) ? property(name) : others()),
  };
}

/** All schemas that apply to the same value. Not recursive: there may be thousands in a chain. */
function gather(schemas: readonly unknown[], { $defs }: Bundle): Set<JsonObject> {
  const parts = new Set<JsonObject>();
  const waiting = schemas.toReversed();
  while (waiting.length > 0) {
    const schema = waiting.pop();
    if (!isObject(schema) || parts.has(schema)) continue;
    parts.add(schema);
    for (const keyword of ['oneOf', 'anyOf', 'allOf']) {
      const list = own(schema, keyword);
      if (isList(list)) waiting.push(...list.toReversed());
    }
    const ref = own(schema, '$ref');
    if (typeof ref === 'string') waiting.push($defs[ref.slice(ref.lastIndexOf('/') + 1)]);
  }
  return parts;
}

function typesOf(schema: JsonObject): string[] {
  const declared = [own(schema, 'type') ?? []].flat().map(String);
  if (declared.length > 0) return declared;
  const values = own(schema, 'enum') ?? (Object.hasOwn(schema, 'const') ? [schema['const']] : []);
  return isList(values) ? values.map(typeOf) : [];
}

// The properties that a schema declares for an object, through references and combinations.

/** By name; if a name is declared several times, the first place counts. */
export function propertiesOf(schema: RefNode | undefined): ReadonlyMap<string, RefNode> {
  const found = new Map<string, RefNode>();
  const seen = new Set<unknown>();
  // Not recursive: there may be thousands in a chain.
  const waiting = schema === undefined ? [] : [schema];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (seen.has(part.value)) continue;
    seen.add(part.value);
    for (const [name, place] of entries(child(part, 'properties'))) {
      if (!found.has(name)) found.set(name, place);
    }
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      waiting.push(...items(child(part, keyword)).toReversed());
    }
  }
  return found;
}
