// Makes a value for a schema, without validating it: values that the document gives first, then required properties,
// then optional ones. Each choice is recorded, so that a search can try another one (sample.ts). It ends for every
// schema: values, depth and steps are counted.
import { printPointer } from '../../core/base/pointer.ts';
import { bounds } from '../document/bounds.ts';
import { isList, isObject, own, type JsonObject } from '../document/document.ts';
import { examplesIn } from '../schema/examples.ts';
import { pay } from '../schema/meter.ts';
import { typeOf } from '../schema/explain.ts';
import { numbersFor } from './make-number.ts';
import {
  decide,
  isRecursive,
  least,
  listOf,
  membersBelow,
  most,
  numbers,
  partsOf,
  texts,
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
  const deps: Deps = { parts, spot, making };
  const { given, isComplete } = givenValues(deps, types);
  const count = given.length + (isComplete ? 0 : 1);
  const chosen = decide(making, { pointer: spot.pointer, about: 'value' }, count);
  const index = spot.variant === 0 ? chosen : (chosen + spot.variant) % Math.max(1, count);
  if (index < given.length) return given[index];
  // A response shows that a text may be missing: the cursor of a last page, a time that has not come.
  const isText = types.join() === 'string,null' && texts(parts.schemas, 'format').length === 0;
  if (isText && making.shows === 'response') return null;
  const options = types.length > 0 ? types : guessTypes(parts.schemas, spot);
  const type = options[decide(making, { pointer: spot.pointer, about: 'type' }, options.length)];
  const inside = { ...spot, trail: [...spot.trail, ...parts.names], mark: undefined };
  return makeOf(type ?? 'null', { ...deps, spot: inside });
}

/** What the function for one type needs. */
interface Deps {
  parts: Parts;
  spot: Spot;
  making: Making;
}

function makeOf(type: string, deps: Deps): unknown {
  switch (type) {
    case 'object':
      return makeObject(deps);
    case 'array':
      return makeArray(deps);
    case 'string':
      return makeText(deps);
    case 'integer':
    case 'number':
      return makeNumber(deps, type);
    case 'boolean':
      return deps.spot.variant % 2 === 0;
    default:
      return null;
  }
}

/** Values that the document offers. Complete: no others are allowed. */
function givenValues(
  { parts: { schemas }, spot, making }: Deps,
  types: readonly string[],
): { given: unknown[]; isComplete: boolean } {
  const enums = schemas.flatMap((schema) => [
    ...valuesOf([schema], 'enum').filter(isList),
    ...(Object.hasOwn(schema, 'const') ? [[schema['const']]] : []),
  ]);
  const offered = [
    ...[spot.mark].filter((value) => value !== undefined),
    ...schemas.flatMap(examplesIn),
    ...valuesOf(schemas, 'default'),
    ...(enums[0] ?? []),
  ];
  const given = new Map<string, unknown>();
  for (const value of offered) {
    pay(making.work, bounds.sampleStepsEach);
    if (types.length > 0 && meet(typeOf(value), types, value).length === 0) continue;
    const text = JSON.stringify(value);
    pay(making.work, text.length + enums.reduce((sum, one) => sum + one.length, 0) * 10);
    const isAllowed = enums.every((values) =>
      values.some((one) => one === value || (isNested(value) && JSON.stringify(one) === text)),
    );
    if (isAllowed) given.set(text, value);
    // Items that must differ may need more.
    if (given.size >= bounds.sampleOptionsMax + spot.variant) break;
  }
  return { given: [...given.values()], isComplete: enums.length > 0 };
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** The types that all schemas allow, null last. Empty: no schema declares a type. */
function typesOf(schemas: readonly JsonObject[]): string[] {
  const [first = [], ...others] = valuesOf(schemas, 'type').map((one) => [one].flat().map(String));
  const common = others.reduce((left, types) => left.flatMap((type) => meet(type, types)), first);
  return common.toSorted((a, b) => Number(a === 'null') - Number(b === 'null'));
}

/** The common types of `type` and `types`. The type of a given `value` is `number`, even if it is an integer. */
function meet(type: string, types: readonly string[], value?: unknown): string[] {
  if (types.includes(type)) return [type];
  const isWhole = value === undefined || Number.isInteger(value);
  if (type === 'number' && types.includes('integer') && isWhole) return ['integer'];
  return type === 'integer' && types.includes('number') ? [type] : [];
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

function makeText({ parts: { schemas }, spot, making }: Deps): unknown {
  const options = making.texts.textsFor(
    {
      formats: texts(schemas, 'format'),
      patterns: texts(schemas, 'pattern'),
      minLength: least(schemas, 'minLength'),
      maxLength: most(schemas, 'maxLength'),
      name: spot.name,
    },
    spot.variant,
  );
  const chosen = decide(making, { pointer: spot.pointer, about: 'text' }, options.length);
  return options.at(chosen);
}

function makeNumber({ parts: { schemas }, spot, making }: Deps, type: string): unknown {
  const isInteger = type === 'integer' || texts(schemas, 'format').some((it) => /^u?int/u.test(it));
  const options = numbersFor(
    {
      minimum: Math.max(-Infinity, ...numbers(schemas, 'minimum')),
      maximum: most(schemas, 'maximum'),
      exclusiveMinimum: Math.max(-Infinity, ...numbers(schemas, 'exclusiveMinimum')),
      exclusiveMaximum: most(schemas, 'exclusiveMaximum'),
      factors: [...(isInteger ? [1] : []), ...numbers(schemas, 'multipleOf')],
    },
    spot.variant,
  );
  return options[decide(making, { pointer: spot.pointer, about: 'number' }, options.length)];
}

function makeArray(deps: Deps): unknown {
  const { parts, spot, making } = deps;
  const { schemas } = parts;
  const contained = valuesOf(schemas, 'contains');
  const containedCount = contained.length > 0 ? Math.max(1, least(schemas, 'minContains')) : 0;
  const count = countItems(deps, containedCount);
  const mustDiffer = valuesOf(schemas, 'uniqueItems').includes(true);
  const made = new Map<unknown, unknown>();
  for (let tried = 0; made.size < count && tried < 2 * count + moreTries; tried += 1) {
    const index = made.size;
    const there: Spot = {
      ...spot,
      pointer: spot.pointer + printPointer([String(index)]),
      // The items of `urls` get the hint `url`.
      name: spot.name.replace(/s$/u, ''),
      depth: spot.depth + 1,
      variant: mustDiffer ? spot.variant + tried : spot.variant,
    };
    const all = schemas.flatMap((schema) => itemSchemas(schema, index));
    const value = makeValue([...all, ...(index < containedCount ? contained : [])], there, making);
    if (value === undefined) break;
    made.set(mustDiffer ? JSON.stringify(value) : index, value);
  }
  return [...made.values()];
}

/** One item shows more than none, but a cyclic list, or a long example, must end. */
function countItems({ parts: { schemas }, spot, making }: Deps, containedCount: number): number {
  const fewest = Math.max(least(schemas, 'minItems'), containedCount);
  const largest = Math.min(most(schemas, 'maxItems'), bounds.sampleValuesAllMax);
  const isCircle = valuesOf(schemas, 'items').some((one) => isRecursive(one, spot, making));
  const prefixes = schemas.map((schema) => listOf(schema, 'prefixItems').length);
  const isNone = isCircle || making.values > bounds.sampleValuesMax;
  const usual = isNone ? 0 : Math.max(1, ...prefixes);
  const options = [usual, fewest, fewest + 1].map((one) =>
    Math.min(Math.max(one, fewest), largest),
  );
  const unique = [...new Set(options)];
  return unique[decide(making, { pointer: spot.pointer, about: 'items' }, unique.length)] ?? 0;
}

/** `items` applies to the items that `prefixItems` in the same schema does not cover. */
function itemSchemas(schema: JsonObject, index: number): unknown[] {
  const prefix = listOf(schema, 'prefixItems');
  if (index < prefix.length) return [prefix[index]];
  return valuesOf([schema], 'items');
}

/** Required properties first, then as many optional ones as keep the example readable. */
function makeObject(deps: Deps): unknown {
  const { parts, spot, making } = deps;
  const { schemas } = parts;
  const members = new Map<string, unknown>();
  const add = (name: string): void => {
    if (members.has(name)) return;
    const value = makeMember(name, deps);
    if (value === undefined) return;
    members.set(name, value);
    for (const map of valuesOf(schemas, 'dependentRequired').filter(isObject)) {
      for (const other of listOf(map, name)) add(String(other));
    }
  };
  const declared = new Set(valuesOf(schemas, 'properties').filter(isObject).flatMap(Object.keys));
  const wanted = membersBelow(making, spot).filter((name) => declared.has(name));
  const needed = schemas.flatMap((schema) => listOf(schema, 'required')).map(String);
  for (const name of [...needed, ...wanted]) add(name);
  const largest = most(schemas, 'maxProperties');
  const optional = making.isBrief && needed.length > 0 ? readOnlyIn(deps, declared) : declared;
  for (const name of optional) {
    if (!members.has(name) && members.size < largest && isShown(name, deps)) add(name);
  }
  const fewest = Math.min(leastMembers(members.size, deps), bounds.sampleValuesAllMax);
  for (let tried = 0; members.size < fewest && tried < fewest + moreTries; tried += 1) {
    const name = nameOf(tried, [...declared], deps);
    if (name !== undefined && !schemas.some((one) => forbids(one, name, making))) add(name);
  }
  return Object.fromEntries(members);
}

/** A response has these as well, although `required` of a schema leaves them out: see bundle.ts. */
function readOnlyIn({ parts, making }: Deps, names: ReadonlySet<string>): string[] {
  if (making.shows === 'request') return [];
  return [...names].filter((name) => isMarked('readOnly', schemasFor(name, parts.schemas, making)));
}

function isMarked(mark: string, schemas: readonly unknown[]): boolean {
  return schemas.some((schema) => isObject(schema) && own(schema, mark) === true);
}

/** Optional properties are shown down to this depth; there are fewer of them in a brief example. */
function isShallow({ spot, making }: Deps): boolean {
  return spot.depth < (making.isBrief ? 6 : 3);
}

/** How many names or items may be tried without success. */
const moreTries = 16;

function makeMember(name: string, { parts, spot, making }: Deps): unknown {
  const there: Spot = {
    ...spot,
    pointer: spot.pointer + printPointer([name]),
    name,
    depth: spot.depth + 1,
    mark: parts.marks.get(name),
  };
  return makeValue(schemasFor(name, parts.schemas, making), there, making);
}

/** Whether an optional property is part of the example. */
function isShown(name: string, deps: Deps): boolean {
  const { spot, making } = deps;
  const { schemas } = deps.parts;
  const inner = schemasFor(name, schemas, making);
  const hidden = making.shows === 'response' ? 'writeOnly' : 'readOnly';
  if (isMarked(hidden, inner)) return false;
  if (schemas.some((schema) => forbids(schema, name, making))) return false;
  const isUsual =
    isShallow(deps) &&
    making.values < bounds.sampleValuesMax &&
    !inner.some((schema) => isRecursive(schema, spot, making));
  const pointer = spot.pointer + printPointer([name]);
  return (decide(making, { pointer, about: 'in' }, 2) === 0) === isUsual;
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
function leastMembers(size: number, deps: Deps): number {
  const { spot, making } = deps;
  const { schemas } = deps.parts;
  const fewest = least(schemas, 'minProperties');
  const maps = ['additionalProperties', 'patternProperties']
    .flatMap((key) => valuesOf(schemas, key))
    .filter((map) => isObject(map) && Object.keys(map).length > 0);
  const isMap = maps.length > 0 && valuesOf(schemas, 'properties').length === 0;
  if (!isMap || size > 0 || most(schemas, 'maxProperties') === 0) return fewest;
  const isUsual = isShallow(deps) && !maps.some((map) => isRecursive(map, spot, making));
  const isChosen = (decide(making, { pointer: spot.pointer, about: 'more' }, 2) === 0) === isUsual;
  return Math.max(fewest, isChosen ? 1 : 0);
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
