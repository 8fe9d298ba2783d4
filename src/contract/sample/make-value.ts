// Makes a value for a schema, without validating it: values that the document gives first, then required properties,
// then optional ones. Each choice is recorded, so that a search can try another one (sample.ts). It ends for every
// schema: values, depth and steps are counted.
import { printPointer } from '../../core/base/pointer.ts';
import { bounds } from '../document/bounds.ts';
import { isList, isObject, own, type JsonObject } from '../document/document.ts';
import { examplesIn } from '../schema/examples.ts';
import { typeOf } from '../schema/explain.ts';
import { pay } from '../schema/meter.ts';
import { numbersFor } from './make-number.ts';
import {
  choose,
  isRecursive,
  listOf,
  membersBelow,
  partsOf,
  valuesOf,
  type Making,
  type Parts,
  type Spot,
} from './schema-parts.ts';

/** Undefined: there is no value, or the schemas form a cycle. */
export function makeValue(schemas: readonly unknown[], spot: Spot, making: Making): unknown {
  making.values += 1;
  if (spot.depth > bounds.sampleDepthMax || making.values > bounds.sampleValuesAllMax) {
    return undefined;
  }
  const parts = partsOf(schemas, spot, making);
  if (parts.isImpossible) return undefined;
  const types = typesOf(parts.schemas);
  const make = (): unknown => {
    // A response shows that a text may be missing: the cursor of a last page, a time that has not come.
    const isText = types.join() === 'string,null' && valuesOf(parts.schemas, 'format').length === 0;
    if (isText && making.shows === 'response') return null;
    const trail = [...spot.trail, ...parts.names];
    const deps = { parts, spot: { ...spot, trail, mark: undefined }, making };
    const options = types.length > 0 ? types : guessTypes(parts.schemas, spot);
    const maker =
      makers[choose(making, { pointer: spot.pointer, about: 'type' }, options) ?? 'null'];
    return maker === undefined ? null : maker(deps);
  };
  const ways = [...givenWays(types, { parts, spot, making }), make];
  const isComplete = ['enum', 'const'].some((key) => valuesOf(parts.schemas, key).length > 0);
  const open = isComplete ? ways.slice(0, -1) : ways;
  return choose(making, { pointer: spot.pointer, about: 'value' }, turned(open, spot.variant))?.();
}

function turned<T>(list: readonly T[], by: number): readonly T[] {
  if (by === 0 || list.length < 2) return list;
  const first = by % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}

/** What the function for one type needs. */
interface Deps {
  parts: Parts;
  spot: Spot;
  making: Making;
}

const makers: Readonly<Record<string, (deps: Deps) => unknown>> = {
  object: makeObject,
  array: makeArray,
  string: makeText,
  integer: (deps) => makeNumber(deps, [1]),
  number: (deps) => makeNumber(deps, []),
  boolean: ({ spot }) => spot.variant % 2 === 0,
};

/** Values that the document offers, and that its enums allow. */
function givenWays(
  types: readonly string[],
  { parts: { schemas }, spot, making }: Deps,
): (() => unknown)[] {
  const enums = schemas.flatMap((schema) => [
    ...valuesOf([schema], 'enum').filter(isList),
    ...(Object.hasOwn(schema, 'const') ? [[schema['const']]] : []),
  ]);
  pay(making.work, enums.reduce((sum, values) => sum + values.length, 0) * 10);
  const allowed = enums.map((values) => new Set(values.map((one) => JSON.stringify(one))));
  const offered = [
    ...[spot.mark].filter((value) => value !== undefined),
    ...schemas.flatMap(examplesIn),
    ...valuesOf(schemas, 'default'),
    ...(enums[0] ?? []),
  ];
  const given = new Map<string, () => unknown>();
  for (const value of offered) {
    pay(making.work, bounds.sampleStepsEach);
    const isOfType = (type: string): boolean =>
      type === typeOf(value) || (type === 'integer' && Number.isInteger(value));
    if (types.length > 0 && !types.some(isOfType)) continue;
    const text = JSON.stringify(value);
    pay(making.work, text.length);
    if (allowed.every((texts) => texts.has(text))) given.set(text, () => value);
    // Items that must differ may need more.
    if (given.size >= bounds.sampleOptionsMax + spot.variant) break;
  }
  return [...given.values()];
}

/** The types that all schemas allow, null last. Empty: no schema declares a type. */
function typesOf(schemas: readonly JsonObject[]): string[] {
  const lists = valuesOf(schemas, 'type').map((one) => [one].flat().map(String));
  const allow = (type: string): boolean =>
    lists.every((list) => list.includes(type) || (type === 'integer' && list.includes('number')));
  const common = [...new Set(lists.flat())].filter(allow);
  const types = common.filter((type) => type !== 'integer' || !common.includes('number'));
  return types.toSorted((a, b) => Number(a === 'null') - Number(b === 'null'));
}

const keywordsOf: readonly (readonly [string, RegExp])[] = [
  ['object', /^(?:required|propertyNames|depend.*|properties|.+Properties)$/u],
  ['array', /^(?:items|.*Items|contains)$/u],
  ['string', /^(?:format|pattern|.+Length)$/u],
  ['number', /^(?:.*minimum|.*maximum|multipleOf)$/iu],
];

/** Without a declared type all are possible. The keywords suggest the first one to try. */
function guessTypes(schemas: readonly JsonObject[], { depth }: Spot): string[] {
  const keys = schemas.flatMap(Object.keys);
  const found = keywordsOf.find(([, pattern]) => keys.some((key) => pattern.test(key)));
  const first = found?.[0] ?? (depth === 0 ? 'object' : 'string');
  return [...new Set([first, 'string', 'object', 'number', 'boolean', 'array', 'null'])];
}

/** The strictest value of a lower or an upper limit. */
function lower(schemas: readonly JsonObject[], keyword: string, otherwise = 0): number {
  return Math.max(otherwise, ...valuesOf(schemas, keyword).map(Number));
}

function upper(schemas: readonly JsonObject[], keyword: string): number {
  return Math.min(Infinity, ...valuesOf(schemas, keyword).map(Number));
}

function makeText({ parts: { schemas }, spot, making }: Deps): unknown {
  const rules = {
    formats: valuesOf(schemas, 'format').map(String),
    patterns: valuesOf(schemas, 'pattern').map(String),
    minLength: lower(schemas, 'minLength'),
    maxLength: upper(schemas, 'maxLength'),
    name: spot.name,
  };
  const options = making.texts.textsFor(rules, spot.variant);
  return choose(making, { pointer: spot.pointer, about: 'text' }, options);
}

function makeNumber({ parts: { schemas }, spot, making }: Deps, whole: readonly number[]): unknown {
  const isInteger = valuesOf(schemas, 'format').some((it) => /^u?int/u.test(String(it)));
  const rules = {
    minimum: lower(schemas, 'minimum', -Infinity),
    maximum: upper(schemas, 'maximum'),
    exclusiveMinimum: lower(schemas, 'exclusiveMinimum', -Infinity),
    exclusiveMaximum: upper(schemas, 'exclusiveMaximum'),
    factors: [...(isInteger ? [1] : whole), ...valuesOf(schemas, 'multipleOf').map(Number)],
  };
  pay(making.work, bounds.sampleStepsEach);
  return choose(
    making,
    { pointer: spot.pointer, about: 'number' },
    numbersFor(rules, spot.variant),
  );
}

function makeArray(deps: Deps): unknown {
  const { parts, spot, making } = deps;
  const { schemas } = parts;
  const contained = valuesOf(schemas, 'contains');
  const containedCount = contained.length > 0 ? lower(schemas, 'minContains', 1) : 0;
  const count = countItems(deps, containedCount);
  const mustDiffer = valuesOf(schemas, 'uniqueItems').includes(true);
  const made = new Map<unknown, unknown>();
  const rounds = 2 * count + moreTries;
  for (let tried = 0; made.size < count && tried < 2 * rounds; tried += 1) {
    const index = made.size;
    const there: Spot = {
      ...spot,
      pointer: spot.pointer + printPointer([String(index)]),
      // The items of `urls` get the hint `url`.
      name: spot.name.replace(/s$/u, ''),
      depth: spot.depth + 1,
      variant: mustDiffer ? spot.variant + (tried % rounds) : variantOf(index, spot),
      isOdometer: spot.isOdometer || tried >= rounds,
    };
    // `items` applies to the items that `prefixItems` in the same schema does not cover.
    const all = schemas.flatMap((schema) => {
      const prefix = listOf(schema, 'prefixItems');
      return index < prefix.length ? [prefix[index]] : valuesOf([schema], 'items');
    });
    const value = makeValue([...all, ...(index < containedCount ? contained : [])], there, making);
    if (value === undefined) break;
    made.set(mustDiffer ? JSON.stringify(value) : index, value);
  }
  return [...made.values()];
}

function variantOf(index: number, { isOdometer, variant }: Spot): number {
  return isOdometer ? variant >> index : variant;
}

/** How many names or items may be tried without success. */
const moreTries = 16;

/** One item shows more than none, but a cyclic list, or a long example, must end. */
function countItems({ parts: { schemas }, spot, making }: Deps, containedCount: number): number {
  const fewest = Math.max(lower(schemas, 'minItems'), containedCount);
  const largest = Math.min(upper(schemas, 'maxItems'), bounds.sampleValuesAllMax);
  const isCircle = valuesOf(schemas, 'items').some((one) => isRecursive(one, spot, making));
  const prefixes = schemas.map((schema) => listOf(schema, 'prefixItems').length);
  const usual = isCircle || making.values > bounds.sampleValuesMax ? 0 : Math.max(1, ...prefixes);
  const options = [usual, fewest, fewest + 1].map((one) =>
    Math.min(Math.max(one, fewest), largest),
  );
  return choose(making, { pointer: spot.pointer, about: 'items' }, [...new Set(options)]) ?? 0;
}

/** Required properties first, then as many optional ones as keep the example readable. */
function makeObject(deps: Deps): unknown {
  const { parts, spot, making } = deps;
  const { schemas } = parts;
  const members = new Map<string, unknown>();
  const add = (name: string): void => {
    if (members.has(name)) return;
    const variant = variantOf(members.size, spot);
    const pointer = spot.pointer + printPointer([name]);
    const there = { ...spot, pointer, name, variant, depth: spot.depth + 1 };
    const mark = parts.marks.get(name);
    const value = makeValue(schemasFor(name, deps), { ...there, mark }, making);
    if (value === undefined) return;
    members.set(name, value);
    for (const map of valuesOf(schemas, 'dependentRequired').filter(isObject)) {
      for (const other of listOf(map, name)) add(String(other));
    }
  };
  const declared = [
    ...new Set(valuesOf(schemas, 'properties').flatMap((map) => Object.keys(map ?? {}))),
  ];
  const needed = schemas.flatMap((schema) => listOf(schema, 'required')).map(String);
  const wanted = membersBelow(making, spot).filter((name) => declared.includes(name));
  for (const name of [...needed, ...wanted]) add(name);
  const largest = upper(schemas, 'maxProperties');
  for (const name of declared) {
    if (members.has(name) || members.size >= largest) continue;
    if (isShown(name, needed.length > 0, deps)) add(name);
  }
  const fewest = leastMembers(members.size, deps);
  for (let tried = 0; members.size < fewest && tried < fewest + moreTries; tried += 1) {
    const name = nameOf(tried, declared, deps);
    if (name !== undefined) add(name);
  }
  return Object.fromEntries(members);
}

/** The schemas of all parts that apply to a property of this name: `false` where one of them forbids it. */
function schemasFor(name: string, { parts, making: { texts, work } }: Deps): unknown[] {
  return parts.schemas.flatMap((schema) => {
    pay(work, bounds.sampleStepsEach);
    const patterns = Object.entries(own(schema, 'patternProperties') ?? {});
    const declared = [
      ...valuesOf(valuesOf([schema], 'properties'), name),
      ...patterns.flatMap(([pattern, inner]) => (texts.matches(pattern, name) ? [inner] : [])),
    ];
    return declared.length > 0 ? declared : valuesOf([schema], 'additionalProperties');
  });
}

/** Whether an optional property is part of the example. `isMore`: there are required ones, too. */
function isShown(name: string, isMore: boolean, deps: Deps): boolean {
  const { spot, making } = deps;
  const inner = schemasFor(name, deps);
  const hidden = making.shows === 'response' ? 'writeOnly' : 'readOnly';
  if (inner.includes(false) || valuesOf(inner, hidden).includes(true)) return false;
  // `required` never names these, although responses have them: see bundle.ts.
  const isReadOnly = making.shows === 'response' && valuesOf(inner, 'readOnly').includes(true);
  if (making.isBrief && isMore && !isReadOnly) return false;
  const isUsual = making.values < bounds.sampleValuesMax && isShallow(inner, deps);
  const pointer = spot.pointer + printPointer([name]);
  return choose(making, { pointer, about: 'in' }, [isUsual, !isUsual]) ?? false;
}

/** Optional properties are shown down to this depth; there are fewer of them in a brief example. */
function isShallow(inner: readonly unknown[], { spot, making }: Deps): boolean {
  if (spot.depth >= (making.isBrief ? 6 : 3)) return false;
  return !inner.some((schema) => isRecursive(schema, spot, making));
}

/** The required number of members, and at least one for a map, to show what it contains. */
function leastMembers(size: number, deps: Deps): number {
  const { schemas } = deps.parts;
  const fewest = Math.min(lower(schemas, 'minProperties'), bounds.sampleValuesAllMax);
  const maps = ['additionalProperties', 'patternProperties']
    .flatMap((key) => valuesOf(schemas, key))
    .filter((map) => isObject(map) && Object.keys(map).length > 0);
  const isMap = maps.length > 0 && valuesOf(schemas, 'properties').length === 0;
  if (!isMap || size > 0 || upper(schemas, 'maxProperties') === 0) return fewest;
  const usual = isShallow(maps, deps) ? 1 : 0;
  const more =
    choose(deps.making, { pointer: deps.spot.pointer, about: 'more' }, [usual, 1 - usual]) ?? 0;
  return Math.max(fewest, more);
}

/** A name for a further required member: by `propertyNames`, declared, by a pattern, or made up. */
function nameOf(number: number, declared: readonly string[], deps: Deps): string | undefined {
  const { parts, spot, making } = deps;
  const rules = valuesOf(parts.schemas, 'propertyNames');
  const patterns = valuesOf(parts.schemas, 'patternProperties').flatMap((one) =>
    Object.keys(one ?? {}),
  );
  if (rules.length === 0 && number < declared.length) return declared[number];
  if (rules.length === 0 && patterns.length === 0) return `name${number - declared.length + 1}`;
  // Each pattern in turn, with longer names in each round.
  const round = Math.floor(number / Math.max(1, patterns.length));
  const byPattern = { pattern: patterns[number % patterns.length], minLength: round && round + 2 };
  const there = { ...spot, pointer: `${spot.pointer} name`, name: '', variant: number };
  const all = [{ type: 'string' }, ...(rules.length > 0 ? rules : [byPattern])];
  const name = makeValue(all, there, making);
  return typeof name === 'string' ? name : undefined;
}
