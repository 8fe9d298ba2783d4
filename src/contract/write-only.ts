// Removes properties that a schema marks `writeOnly` from a value, at any depth: a response that
// echoes the request must not echo a password in it. The schemas are read once, when the contract
// is compiled.
import { isList, isObject } from './document.ts';
import { child, entries, items } from './place.ts';
import type { Place } from './place.ts';

/**
 * What a schema says about a value and the values inside it. Schemas may refer to themselves, so
 * these may be cyclic.
 */
export interface WriteOnly {
  isWriteOnly: boolean;
  /** Schemas that apply to the same value: `allOf` and the like. */
  parts: readonly WriteOnly[];
  properties: ReadonlyMap<string, WriteOnly>;
  /** Schemas of properties that are not declared by name. */
  otherProperties: readonly WriteOnly[];
  items: readonly WriteOnly[];
}

/** Undefined when nothing in the schemas is `writeOnly`. */
export function compileWriteOnly(schemas: readonly (Place | undefined)[]): WriteOnly | undefined {
  const given = schemas.filter((schema) => schema !== undefined);
  const [first] = given;
  if (first === undefined) return undefined;
  const found = foundIn.get(first.source) ?? { drafts: new Map(), hasAny: false };
  foundIn.set(first.source, found);
  const parts = given.map((schema) => draftOf(schema, found));
  if (!found.hasAny) return undefined;
  return { isWriteOnly: false, parts, properties: new Map(), otherProperties: [], items: [] };
}

interface Found {
  /** By schema: operations share schemas, and each is read once. */
  drafts: Map<unknown, Draft>;
  hasAny: boolean;
}

const foundIn = new WeakMap<Place['source'], Found>();

export function withoutWriteOnly(value: unknown, schema: WriteOnly): unknown {
  return visible(value, allParts([schema]));
}

interface Draft extends WriteOnly {
  parts: readonly Draft[];
  properties: ReadonlyMap<string, Draft>;
  otherProperties: readonly Draft[];
  items: readonly Draft[];
}

/** Not recursive: there may be thousands in a chain. */
function draftOf(schema: Place, found: Found): Draft {
  const waiting: { place: Place; draft: Draft }[] = [];
  const find = (place: Place): Draft => {
    const before = found.drafts.get(place.value);
    if (before !== undefined) return before;
    const draft: Draft = {
      isWriteOnly: child(place, 'writeOnly')?.value === true,
      parts: [],
      properties: new Map(),
      otherProperties: [],
      items: [],
    };
    found.drafts.set(place.value, draft);
    found.hasAny ||= draft.isWriteOnly;
    waiting.push({ place, draft });
    return draft;
  };
  const root = find(schema);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { place, draft } = next;
    draft.parts = schemasAt(place, sameValue).map(find);
    draft.properties = new Map(
      entries(child(place, 'properties')).map(([name, inside]) => [name, find(inside)]),
    );
    const patterns = entries(child(place, 'patternProperties')).map(([, inside]) => inside);
    draft.otherProperties = [...patterns, ...schemasAt(place, ['additionalProperties'])].map(find);
    draft.items = schemasAt(place, ['items', 'prefixItems', 'contains']).map(find);
  }
  return root;
}

const sameValue = ['allOf', 'anyOf', 'oneOf', 'then', 'else'] as const;

function schemasAt(place: Place, keywords: readonly string[]): Place[] {
  return keywords.flatMap((keyword) => {
    const found = child(place, keyword);
    if (found === undefined || typeof found.value === 'boolean') return [];
    return isList(found.value) ? items(found) : [found];
  });
}

/** Includes all schemas that apply to the same value. */
function allParts(schemas: readonly WriteOnly[]): ReadonlySet<WriteOnly> {
  const all = new Set(schemas);
  for (const one of all) for (const part of one.parts) all.add(part);
  return all;
}

function visible(value: unknown, schemas: ReadonlySet<WriteOnly>): unknown {
  if (schemas.size === 0) return value;
  if (isList(value)) {
    const inside = allParts([...schemas].flatMap((one) => one.items));
    return value.filter(() => !isHidden(inside)).map((item) => visible(item, inside));
  }
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, one]): [string, unknown][] => {
    const inside = allParts(
      [...schemas].flatMap(({ properties, otherProperties }) => {
        const declared = properties.get(name);
        return declared === undefined ? otherProperties : [declared];
      }),
    );
    return isHidden(inside) ? [] : [[name, visible(one, inside)]];
  });
  return Object.fromEntries(kept);
}

function isHidden(schemas: ReadonlySet<WriteOnly>): boolean {
  return [...schemas].some(({ isWriteOnly }) => isWriteOnly);
}
