// Makes an object for an example: what is required, what is wanted, and as much of the rest as keeps
// it readable. Each optional property can be left out, or put in, when the whole does not fit.
import { printPointer } from '../core/pointer.ts';
import { bounds } from './bounds.ts';
import { isList, isObject, own } from './document.ts';
import type { JsonObject } from './document.ts';
import { patternTest } from './pattern-test.ts';
import { decide, leadsBack, least, most, valuesOf, wantedBelow } from './sample-parts.ts';
import type { Making, Means, Spot } from './sample-parts.ts';
import { readPattern } from './sample-pattern.ts';

type Make = (schemas: readonly unknown[], spot: Spot, making: Making) => unknown;

export function makeObject(means: Means, make: Make): unknown {
  const { schemas } = means.parts;
  const members = new Map<string, unknown>();
  const required = requiredNames(means);
  const add = (name: string): void => {
    if (members.has(name)) return;
    const value = makeMember(name, means, make);
    if (value === undefined) return;
    members.set(name, value);
    for (const other of dependents(schemas, name)) add(other);
  };
  const declared = valuesOf(schemas, 'properties').filter(isObject).flatMap(Object.keys);
  const largest = most(schemas, 'maxProperties');
  for (const name of new Set([...declared, ...required])) {
    if (required.has(name) || (members.size < largest && isIn(name, means))) add(name);
  }
  addMore({ add, members }, means, make);
  return Object.fromEntries(members);
}

/** Optional properties are shown this far down. */
const optionalDepthMax = 3;

function requiredNames({ parts: { schemas }, spot, making }: Means): ReadonlySet<string> {
  const lists = valuesOf(schemas, 'required').filter(isList);
  const needed = lists.flat().filter((name) => typeof name === 'string');
  const declared = valuesOf(schemas, 'properties').filter(isObject);
  const wanted = wantedBelow(making, spot).filter((name) =>
    declared.some((properties) => Object.hasOwn(properties, name)),
  );
  return new Set([...needed, ...wanted]);
}

/** Whether this optional property is part of the example. */
function isIn(name: string, { parts: { schemas }, spot, making }: Means): boolean {
  const inner = schemasFor(name, schemas);
  if (inner.some((schema) => isObject(schema) && own(schema, 'readOnly') === true)) return false;
  const isClosed = schemas.some((schema) => forbids(schema, name));
  if (isClosed) return false;
  const isShown =
    spot.depth < optionalDepthMax &&
    making.left > 0 &&
    !inner.some((schema) => leadsBack(schema, spot.trail));
  const pointer = spot.pointer + printPointer([name]);
  return (decide(making, { pointer, about: 'in' }, 2) === 0) === isShown;
}

function forbids(schema: JsonObject, name: string): boolean {
  const isFalse = own(schema, 'additionalProperties') === false;
  return isFalse && declaredFor(schema, name).length === 0;
}

function makeMember(name: string, { parts, spot, making }: Means, make: Make): unknown {
  const there: Spot = {
    ...spot,
    pointer: spot.pointer + printPointer([name]),
    name,
    depth: spot.depth + 1,
    preferred: parts.marks.has(name) ? [parts.marks.get(name)] : [],
  };
  return make(schemasFor(name, parts.schemas), there, making);
}

/** What all parts say about a property of this name. */
function schemasFor(name: string, schemas: readonly JsonObject[]): unknown[] {
  return schemas.flatMap((schema) => {
    const declared = declaredFor(schema, name);
    const others = own(schema, 'additionalProperties');
    return declared.length > 0 || others === undefined ? declared : [others];
  });
}

function declaredFor(schema: JsonObject, name: string): unknown[] {
  const properties = own(schema, 'properties');
  const patterns = own(schema, 'patternProperties');
  const byPattern = Object.entries(isObject(patterns) ? patterns : {})
    .filter(([pattern]) => patternTest(pattern)(name))
    .map(([, inner]) => inner);
  const byName = isObject(properties) ? own(properties, name) : undefined;
  return byName === undefined ? byPattern : [byName, ...byPattern];
}

function dependents(schemas: readonly JsonObject[], name: string): string[] {
  const maps = valuesOf(schemas, 'dependentRequired').filter(isObject);
  return maps.flatMap((map) => {
    const names = own(map, name);
    return isList(names) ? names.filter((one) => typeof one === 'string') : [];
  });
}

interface Growing {
  add: (name: string) => void;
  members: ReadonlyMap<string, unknown>;
}

/** Members under names of our own: as many as there must be, and one to show what a map holds. */
function addMore({ add, members }: Growing, means: Means, make: Make): void {
  const { parts, spot, making } = means;
  const { schemas } = parts;
  const fewest = Math.min(least(schemas, 'minProperties'), bounds.sampleValuesMax);
  const maps = ['additionalProperties', 'patternProperties'].flatMap((key) =>
    valuesOf(schemas, key).filter(isObject),
  );
  const isMap =
    maps.some((map) => Object.keys(map).length > 0) &&
    valuesOf(schemas, 'properties').length === 0 &&
    most(schemas, 'maxProperties') > 0;
  const isShown =
    isMap && spot.depth < optionalDepthMax && !maps.some((map) => leadsBack(map, spot.trail));
  const about = { pointer: spot.pointer, about: 'more' };
  const isChosen = isMap && (decide(making, about, 2) === 0) === isShown;
  const count = Math.max(fewest, members.size === 0 && isChosen ? 1 : 0);
  for (let tried = 0; members.size < count && tried < count + triesMore; tried += 1) {
    const name = nameOf(tried, means, make);
    if (name !== undefined && !schemas.some((schema) => forbids(schema, name))) add(name);
  }
}

/** How many names may be tried in vain. */
const triesMore = 16;

function nameOf(number: number, { parts, spot, making }: Means, make: Make): string | undefined {
  const { schemas } = parts;
  const rules = valuesOf(schemas, 'propertyNames');
  if (rules.length > 0) {
    const there = { ...spot, pointer: `${spot.pointer} name`, name: '', variant: number };
    const name = make([{ type: 'string' }, ...rules], { ...there, preferred: [] }, making);
    return typeof name === 'string' ? name : undefined;
  }
  const declared = valuesOf(schemas, 'properties').filter(isObject).flatMap(Object.keys);
  if (number < declared.length) return declared[number];
  const [pattern] = valuesOf(schemas, 'patternProperties').filter(isObject).flatMap(Object.keys);
  const write = pattern === undefined ? undefined : readPattern(pattern);
  return write?.({ variant: number, more: 0 }) ?? `name${number - declared.length + 1}`;
}
