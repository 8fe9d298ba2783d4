// All schemas that speak about one value of an example: references followed, of each oneOf and anyOf
// one branch taken. Which one is a choice that can be made otherwise when the value does not fit.
import type { DescribedSchema } from './bundle.ts';
import { isList, isObject, own } from './document.ts';
import type { JsonObject } from './document.ts';
import { shapeOf } from './shape.ts';

/** Where in the example a value is made, and on which way. */
export interface Spot {
  /** JSON pointer into the example. */
  pointer: string;
  /** The property that holds the value; '' where there is none. */
  name: string;
  depth: number;
  /** Definitions that are being made right now: meeting one again means a circle. */
  trail: readonly string[];
  /** 1, 2, … for values that must differ from their neighbours. */
  variant: number;
  /** Values that somebody else knows to be right here. */
  preferred: readonly unknown[];
}

/** One try to make an example: what was decided before, and what there was to decide. */
export interface Making {
  described: DescribedSchema;
  choices: ReadonlyMap<string, number>;
  decisions: Map<string, Decision>;
  /** Values that may still be made. */
  left: number;
  /** Pointers of values that the example should have. */
  wanted: readonly string[];
}

export interface Decision {
  pointer: string;
  chosen: number;
  count: number;
}

/** The number of the option to take: the first one, unless this try is about another one. */
export function decide(
  making: Making,
  { pointer, about }: { pointer: string; about: string },
  count: number,
): number {
  const key = `${pointer} ${about}`;
  const chosen = Math.min(making.choices.get(key) ?? 0, Math.max(0, count - 1));
  if (count > 1) making.decisions.set(key, { pointer, chosen, count });
  return chosen;
}

/** What the maker of one kind of value is given. */
export interface Means {
  parts: Parts;
  spot: Spot;
  making: Making;
}

export interface Parts {
  schemas: readonly JsonObject[];
  /** Some schema allows nothing at all. */
  isImpossible: boolean;
  /** Definitions on the way. */
  names: readonly string[];
  /** By property: what a discriminator says its value is. */
  marks: ReadonlyMap<string, unknown>;
}

export function partsOf(schemas: readonly unknown[], spot: Spot, making: Making): Parts {
  const gathering: Gathering = {
    spot,
    making,
    schemas: [],
    names: [],
    discriminators: [],
    isImpossible: false,
  };
  schemas.forEach((schema, index) => gather(schema, String(index), gathering));
  const { names, isImpossible } = gathering;
  return { schemas: gathering.schemas, isImpossible, names, marks: marksOf(gathering) };
}

/** The next steps from here to values that the example should have. */
export function wantedBelow({ wanted }: Making, { pointer }: Spot): string[] {
  return wanted
    .filter((one) => one.startsWith(`${pointer}/`))
    .map((one) => one.slice(pointer.length + 1).split('/', 1)[0] ?? '')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Whether making a value of this schema would lead back to one that is being made. */
export function leadsBack(schema: unknown, trail: readonly string[]): boolean {
  if (!isObject(schema)) return false;
  const inner = ['items', 'additionalProperties'].map((key) => own(schema, key));
  const all = own(schema, 'allOf');
  const name = nameIn(schema);
  if (name !== undefined && trail.includes(name)) return true;
  return [...inner, ...(isList(all) ? all : [])].some((one) => leadsBack(one, trail));
}

/** All values of a keyword. */
export function valuesOf(schemas: readonly JsonObject[], keyword: string): unknown[] {
  return schemas.map((schema) => own(schema, keyword)).filter((value) => value !== undefined);
}

export function numbers(schemas: readonly JsonObject[], keyword: string): number[] {
  return valuesOf(schemas, keyword).filter((value) => typeof value === 'number');
}

export function texts(schemas: readonly JsonObject[], keyword: string): string[] {
  return valuesOf(schemas, keyword).filter((value) => typeof value === 'string');
}

export function least(schemas: readonly JsonObject[], keyword: string): number {
  return Math.max(0, ...numbers(schemas, keyword));
}

export function most(schemas: readonly JsonObject[], keyword: string): number {
  return Math.min(Infinity, ...numbers(schemas, keyword));
}

interface Gathering {
  spot: Spot;
  making: Making;
  schemas: JsonObject[];
  names: string[];
  discriminators: { schema: JsonObject; branch: string | undefined }[];
  isImpossible: boolean;
}

function gather(schema: unknown, at: string, gathering: Gathering): void {
  if (schema === false) gathering.isImpossible = true;
  if (!isObject(schema) || gathering.schemas.includes(schema)) return;
  gathering.schemas.push(schema);
  const name = nameIn(schema);
  if (name !== undefined) {
    gathering.names.push(name);
    gather(gathering.making.described.bundle.$defs[name], name, gathering);
  }
  const all = own(schema, 'allOf');
  (isList(all) ? all : []).forEach((part, index) => {
    gather(part, `${at} allOf ${index}`, gathering);
  });
  let branch: string | undefined;
  for (const keyword of ['oneOf', 'anyOf']) {
    const branches = own(schema, keyword);
    if (!isList(branches)) continue;
    const taken = takeBranch(branches, `${at} ${keyword}`, gathering);
    branch = nameIn(taken) ?? branch;
    gather(taken, `${at} ${keyword}`, gathering);
  }
  gatherConditions(schema, at, gathering);
  if (isObject(own(schema, 'discriminator'))) gathering.discriminators.push({ schema, branch });
}

function takeBranch(branches: readonly unknown[], about: string, gathering: Gathering): unknown {
  const { making, spot } = gathering;
  const { bundle } = making.described;
  const tokens = wantedBelow(making, spot);
  const ranked = branches.map((branch) => ({ branch, rank: rankOf(branch) }));
  const ordered = ranked.toSorted((a, b) => a.rank - b.rank);
  return ordered[decide(making, { pointer: spot.pointer, about }, ordered.length)]?.branch;

  /** Low is good: branches that declare what is wanted; null and circles only where they must be. */
  function rankOf(branch: unknown): number {
    const name = nameIn(branch);
    const schema = name === undefined ? branch : bundle.$defs[name];
    if (name !== undefined && spot.trail.includes(name)) return 3;
    if (isObject(schema) && own(schema, 'type') === 'null') return 2;
    if (leadsBack(schema, spot.trail)) return 2;
    if (tokens.length === 0 || name === undefined) return 1;
    const { properties } = shapeOf({ ...bundle, $ref: `#/$defs/${name}` });
    return 1 - tokens.filter((token) => properties.includes(token)).length / tokens.length;
  }
}

function gatherConditions(schema: JsonObject, at: string, gathering: Gathering): void {
  const { making, spot } = gathering;
  if (own(schema, 'if') !== undefined) {
    const ways = [['if', 'then'], ['else']];
    const way = ways[decide(making, { pointer: spot.pointer, about: `${at} if` }, ways.length)];
    for (const key of way ?? []) gather(own(schema, key), `${at} ${key}`, gathering);
  }
  const required = own(schema, 'required');
  const dependent = own(schema, 'dependentSchemas');
  for (const [name, part] of Object.entries(isObject(dependent) ? dependent : {})) {
    if (isList(required) && required.includes(name)) gather(part, `${at} ${name}`, gathering);
  }
}

/** bundle.ts writes every reference as `#/$defs/<name>`. */
function nameIn(schema: unknown): string | undefined {
  const ref = isObject(schema) ? own(schema, '$ref') : undefined;
  return typeof ref === 'string' ? ref.slice(ref.lastIndexOf('/') + 1) : undefined;
}

/** The name of the branch, as the mapping has it; of a schema that was built upon, its own name. */
function marksOf({ discriminators, names, making }: Gathering): ReadonlyMap<string, unknown> {
  const { places } = making.described;
  const marks = new Map<string, unknown>();
  for (const { schema, branch } of discriminators) {
    const discriminator = own(schema, 'discriminator');
    const property = isObject(discriminator) ? own(discriminator, 'propertyName') : undefined;
    if (typeof property !== 'string' || !isObject(discriminator)) continue;
    const mapping = own(discriminator, 'mapping');
    const candidates = [branch, ...names].flatMap((name) =>
      name === undefined || isAlias(name) ? [] : [lastToken(places.get(name) ?? '')],
    );
    const mapped = Object.entries(isObject(mapping) ? mapping : {}).find(([, ref]) =>
      candidates.includes(lastToken(String(ref))),
    );
    const [first] = candidates.filter((token) => !/^\d*$|^schema$/u.test(token));
    const mark = mapped?.[0] ?? first;
    if (mark !== undefined) marks.set(property, mark);
  }
  return marks;

  /** Nothing but another name for something. */
  function isAlias(name: string): boolean {
    const schema = making.described.bundle.$defs[name];
    return isObject(schema) && Object.keys(schema).join('') === '$ref';
  }
}

function lastToken(place: string): string {
  return place.slice(place.lastIndexOf('/') + 1);
}
