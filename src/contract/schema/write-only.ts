// Removes properties that a schema marks `writeOnly` from a value, at any depth: a response that
// echoes the request must not echo a password in it. The schemas are read once, when the contract
// is compiled.
import { bounds } from '../document/bounds.ts';
import { isList, isObject } from '../document/document.ts';
import { child, entries, items } from '../document/ref-node.ts';
import type { RefNode } from '../document/ref-node.ts';

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
export function compileWriteOnly(schemas: readonly (RefNode | undefined)[]): WriteOnly | undefined {
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

const foundIn = new WeakMap<RefNode['source'], Found>();

export function withoutWriteOnly(value: unknown, schema: WriteOnly): unknown {
  const walk: Walk = { left: bounds.writeOnlyStepsMax, known: new Map() };
  return visible(value, allParts([schema], walk), walk);
}

interface Draft extends WriteOnly {
  parts: readonly Draft[];
  properties: ReadonlyMap<string, Draft>;
  otherProperties: readonly Draft[];
  items: readonly Draft[];
}

/** Not recursive: there may be thousands in a chain. */
function draftOf(schema: RefNode, found: Found): Draft {
  const waiting: { place: RefNode; draft: Draft }[] = [];
  const find = (place: RefNode): Draft => {
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

function schemasAt(place: RefNode, keywords: readonly string[]): RefNode[] {
  return keywords.flatMap((keyword) => {
    const found = child(place, keyword);
    if (found === undefined || typeof found.value === 'boolean') return [];
    return isList(found.value) ? items(found) : [found];
  });
}

/**
 * The state of one walk over a value. The walk is limited: beyond the limit everything is removed, so that a value with
 * many places and many schemas at each cannot occupy the event loop.
 */
interface Walk {
  left: number;
  /** By the schemas of a value: the schemas of its items, and of its members by name. */
  known: Map<Parts, Known>;
}

interface Known {
  hasWriteOnly: boolean;
  items?: Parts;
  members: Map<string, Parts>;
}

type Parts = ReadonlySet<WriteOnly>;

/** Includes all schemas that apply to the same value. */
function allParts(schemas: readonly WriteOnly[], walk: Walk): Parts {
  const all = new Set(schemas);
  for (const one of all) {
    walk.left -= 1 + one.parts.length;
    if (walk.left < 0) break;
    for (const part of one.parts) all.add(part);
  }
  return all;
}

function visible(value: unknown, schemas: Parts, walk: Walk): unknown {
  if (schemas.size === 0) return value;
  const known = knownOf(schemas, walk);
  if (isList(value)) {
    known.items ??= allParts(
      [...schemas].flatMap((one) => one.items),
      walk,
    );
    const inside = known.items;
    return value.flatMap((item) => (isHidden(inside, walk) ? [] : [visible(item, inside, walk)]));
  }
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, one]): [string, unknown][] => {
    const inside = known.members.get(name) ?? memberParts(name, schemas, walk);
    known.members.set(name, inside);
    return isHidden(inside, walk) ? [] : [[name, visible(one, inside, walk)]];
  });
  return Object.fromEntries(kept);
}

function memberParts(name: string, schemas: Parts, walk: Walk): Parts {
  walk.left -= schemas.size;
  if (walk.left < 0) return schemas;
  const inner = [...schemas].flatMap(({ properties, otherProperties }) => {
    const declared = properties.get(name);
    return declared === undefined ? otherProperties : [declared];
  });
  return allParts(inner, walk);
}

function knownOf(schemas: Parts, walk: Walk): Known {
  const before = walk.known.get(schemas);
  if (before !== undefined) return before;
  walk.left -= schemas.size;
  const hasWriteOnly = [...schemas].some(({ isWriteOnly }) => isWriteOnly);
  const known: Known = { hasWriteOnly, members: new Map() };
  walk.known.set(schemas, known);
  return known;
}

function isHidden(schemas: Parts, walk: Walk): boolean {
  return walk.left < 0 || knownOf(schemas, walk).hasWriteOnly;
}
