// Makes an object for an example: required properties first, then as many optional ones as keep it readable. A trial can
// leave out or add each optional property if the example is not valid.
import { printPointer } from '../../core/base/pointer.ts';
import { bounds } from '../document/bounds.ts';
import { isObject, own } from '../document/document.ts';
import type { JsonObject } from '../document/document.ts';
import { pay } from '../schema/meter.ts';
import { decide, leadsBack, least, listOf, most, valuesOf, wantedBelow } from './sample-parts.ts';
import type { Making, Deps, Spot } from './sample-parts.ts';

type Make = (schemas: readonly unknown[], spot: Spot, making: Making) => unknown;

export function makeObject(deps: Deps, make: Make): unknown {
  const { parts, spot, making } = deps;
  const { schemas } = parts;
  const members = new Map<string, unknown>();
  const add = (name: string): void => {
    if (members.has(name)) return;
    const value = makeMember(name, deps, make);
    if (value === undefined) return;
    members.set(name, value);
    for (const map of valuesOf(schemas, 'dependentRequired').filter(isObject)) {
      for (const other of listOf(map, name)) add(String(other));
    }
  };
  const declared = new Set(valuesOf(schemas, 'properties').filter(isObject).flatMap(Object.keys));
  const wanted = wantedBelow(making, spot).filter((name) => declared.has(name));
  const needed = schemas.flatMap((schema) => listOf(schema, 'required')).map(String);
  for (const name of new Set([...needed, ...wanted])) add(name);
  const largest = most(schemas, 'maxProperties');
  for (const name of declared) {
    if (!members.has(name) && members.size < largest && isIn(name, deps)) add(name);
  }
  const fewest = Math.min(leastMembers(members.size, deps), bounds.sampleValuesAllMax);
  for (let tried = 0; members.size < fewest && tried < fewest + moreTries; tried += 1) {
    const name = nameOf(tried, [...declared], { ...deps, make });
    if (name !== undefined && !schemas.some((one) => forbids(one, name, making))) add(name);
  }
  return Object.fromEntries(members);
}

/** Optional properties are shown down to this depth. */
const optionalDepthMax = 3;

/** How many member names may be tried without success. */
const moreTries = 16;

function makeMember(name: string, { parts, spot, making }: Deps, make: Make): unknown {
  const there: Spot = {
    ...spot,
    pointer: spot.pointer + printPointer([name]),
    name,
    depth: spot.depth + 1,
    mark: parts.marks.get(name),
  };
  return make(schemasFor(name, parts.schemas, making), there, making);
}

/** Whether this optional property is part of the example. */
function isIn(name: string, { parts: { schemas }, spot, making }: Deps): boolean {
  const inner = schemasFor(name, schemas, making);
  if (inner.some((schema) => isObject(schema) && own(schema, 'readOnly') === true)) return false;
  if (schemas.some((schema) => forbids(schema, name, making))) return false;
  const isShown =
    spot.depth < optionalDepthMax &&
    making.values < bounds.sampleValuesMax &&
    !inner.some((schema) => leadsBack(schema, spot, making));
  const pointer = spot.pointer + printPointer([name]);
  return (decide(making, { pointer, about: 'in' }, 2) === 0) === isShown;
}

/** The schemas of all parts that apply to a property of this name. */
function schemasFor(name: string, schemas: readonly JsonObject[], making: Making): unknown[] {
  return schemas.flatMap((schema) => {
    const declared = declaredFor(schema, name, making);
    return declared.length > 0 ? declared : valuesOf([schema], 'additionalProperties');
  });
}

function declaredFor(
  schema: JsonObject,
  name: string,
  { texts: { matches }, work }: Making,
): unknown[] {
  pay(work, bounds.sampleStepsEach);
  const properties = own(schema, 'properties');
  const byName = isObject(properties) ? valuesOf([properties], name) : [];
  const byPattern = Object.entries(own(schema, 'patternProperties') ?? {})
    .filter(([pattern]) => matches(pattern, name))
    .map(([, inner]): unknown => inner);
  return [...byName, ...byPattern];
}

function forbids(schema: JsonObject, name: string, making: Making): boolean {
  const isClosed = own(schema, 'additionalProperties') === false;
  return isClosed && declaredFor(schema, name, making).length === 0;
}

/** The required number of members, and at least one for a map, to show what it contains. */
function leastMembers(size: number, { parts: { schemas }, spot, making }: Deps): number {
  const fewest = least(schemas, 'minProperties');
  const maps = ['additionalProperties', 'patternProperties']
    .flatMap((key) => valuesOf(schemas, key))
    .filter((map) => isObject(map) && Object.keys(map).length > 0);
  const isMap = maps.length > 0 && valuesOf(schemas, 'properties').length === 0;
  if (!isMap || size > 0 || most(schemas, 'maxProperties') === 0) return fewest;
  const isShown =
    spot.depth < optionalDepthMax && !maps.some((map) => leadsBack(map, spot, making));
  const isChosen = (decide(making, { pointer: spot.pointer, about: 'more' }, 2) === 0) === isShown;
  return Math.max(fewest, isChosen ? 1 : 0);
}

/** A name for a further required member: by `propertyNames`, declared, by a pattern, or made up. */
function nameOf(
  number: number,
  declared: readonly string[],
  { parts, spot, making, make }: Deps & { make: Make },
): string | undefined {
  const rules = valuesOf(parts.schemas, 'propertyNames');
  const patterns = valuesOf(parts.schemas, 'patternProperties').filter(isObject);
  const [pattern] = patterns.flatMap(Object.keys);
  if (rules.length === 0 && number < declared.length) return declared[number];
  if (rules.length === 0 && pattern === undefined) return `name${number - declared.length + 1}`;
  const all = rules.length > 0 ? rules : [{ pattern }];
  const there = { ...spot, pointer: `${spot.pointer} name`, name: '', variant: number };
  const name = make([{ type: 'string' }, ...all], there, making);
  return typeof name === 'string' ? name : undefined;
}
