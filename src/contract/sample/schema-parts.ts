// Collects all schemas that apply to one value of an example: follows references, and takes one branch of each oneOf
// and anyOf. Which branch is a decision that a later trial can change if the value is not valid.
import { unescapeToken } from '../../core/base/pointer.ts';
import { bounds } from '../document/bounds.ts';
import type { DescribedSchema } from '../schema/bundle.ts';
import { isList, isObject, own, type JsonObject } from '../document/document.ts';
import { pay, type Work } from '../schema/meter.ts';
import { shapeOf } from '../schema/shape.ts';
import type { Texts } from './make-text.ts';

/** One trial to make an example: the choices given to it, and the decisions that it met. */
export interface Making {
  described: DescribedSchema;
  shows: 'request' | 'response';
  /** No optional properties where others are required. */
  isBrief: boolean;
  /** Pointers of values that the example should have. */
  wanted: readonly string[];
  texts: Texts;
  work: Work;
  choices: ReadonlyMap<string, number>;
  decisions: Map<string, Decision>;
  /** Values made so far. */
  values: number;
}

export interface Decision {
  pointer: string;
  chosen: number;
  count: number;
}

/** Where in the example a value is made, and how it was reached. */
export interface Spot {
  /** JSON pointer into the example. */
  pointer: string;
  /** The property that holds the value; '' if there is none. */
  name: string;
  depth: number;
  /** Definitions that are being made right now: meeting one again means a cycle. */
  trail: readonly string[];
  /** 1, 2, … for values that must differ from their neighbours. */
  variant: number;
  /** The value that a discriminator prescribes here. */
  mark: unknown;
}

/** The index of the option to take: the first one, unless this trial has another choice. */
export function decide(
  { choices, decisions }: Making,
  { pointer, about }: { pointer: string; about: string },
  count: number,
): number {
  const key = `${pointer} ${about}`;
  const chosen = Math.min(choices.get(key) ?? 0, Math.max(0, count - 1));
  if (count > 1) decisions.set(key, { pointer, chosen, count });
  return chosen;
}

export interface Parts {
  schemas: readonly JsonObject[];
  /** One of the schemas allows no value. */
  isImpossible: boolean;
  /** Names of the definitions that were followed. */
  names: readonly string[];
  /** By property: the value that a discriminator prescribes. */
  marks: ReadonlyMap<string, unknown>;
}

export function partsOf(schemas: readonly unknown[], spot: Spot, making: Making): Parts {
  const found: Found = { schemas: new Set(), names: [], marked: [], isImpossible: false };
  for (const [index, schema] of schemas.entries()) {
    gather(schema, String(index), { found, spot, making });
  }
  const { names, isImpossible } = found;
  return { schemas: [...found.schemas], isImpossible, names, marks: marksOf(found, making) };
}

/** The next member names on the paths from here to wanted values. */
export function membersBelow({ wanted }: Making, { pointer }: Spot): string[] {
  return wanted
    .filter((one) => one.startsWith(`${pointer}/`))
    .map((one) => unescapeToken(one.slice(pointer.length + 1).split('/', 1)[0] ?? ''));
}

/** Whether a value of this schema would contain a definition that is being made. */
export function isRecursive(schema: unknown, { trail }: Spot, { work }: Making): boolean {
  const waiting = [schema];
  for (const one of waiting) {
    pay(work, bounds.sampleStepsEach);
    if (!isObject(one)) continue;
    const name = nameIn(one);
    if (name !== undefined && trail.includes(name)) return true;
    waiting.push(own(one, 'items'), own(one, 'additionalProperties'), ...listOf(one, 'allOf'));
  }
  return false;
}

/** All values of a keyword. */
export function valuesOf(schemas: readonly JsonObject[], keyword: string): unknown[] {
  return schemas.map((schema) => own(schema, keyword)).filter((value) => value !== undefined);
}

export function listOf(schema: JsonObject, keyword: string): readonly unknown[] {
  const list = own(schema, keyword);
  return isList(list) ? list : [];
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

interface Found {
  schemas: Set<JsonObject>;
  names: string[];
  /** Schemas with a discriminator, and the branch that was taken. */
  marked: { schema: JsonObject; branch: string | undefined }[];
  isImpossible: boolean;
}

interface Gathering {
  found: Found;
  spot: Spot;
  making: Making;
}

function gather(schema: unknown, at: string, gathering: Gathering): void {
  const { found, spot, making } = gathering;
  pay(making.work, bounds.sampleStepsEach);
  if (schema === false) found.isImpossible = true;
  if (!isObject(schema) || found.schemas.has(schema)) return;
  found.schemas.add(schema);
  const name = nameIn(schema);
  if (name !== undefined) {
    found.names.push(name);
    gather(making.described.bundle.$defs[name], name, gathering);
  }
  for (const [index, part] of listOf(schema, 'allOf').entries()) {
    gather(part, `${at} allOf ${index}`, gathering);
  }
  let branch: string | undefined;
  for (const keyword of ['oneOf', 'anyOf']) {
    const branches = listOf(schema, keyword);
    if (branches.length === 0) continue;
    const taken = takeBranch(branches, `${at} ${keyword}`, gathering);
    branch = nameIn(taken) ?? branch;
    gather(taken, `${at} ${keyword}`, gathering);
  }
  if (own(schema, 'if') !== undefined) {
    const isElse = decide(making, { pointer: spot.pointer, about: `${at} if` }, 2) === 1;
    for (const key of isElse ? ['else'] : ['if', 'then']) {
      gather(own(schema, key), `${at} ${key}`, gathering);
    }
  }
  const dependent = own(schema, 'dependentSchemas');
  for (const one of listOf(schema, 'required')) {
    if (isObject(dependent)) gather(own(dependent, String(one)), `${at} ${String(one)}`, gathering);
  }
  if (isObject(own(schema, 'discriminator'))) found.marked.push({ schema, branch });
}

/** Branches that declare wanted members come first; null and cycles last. */
function takeBranch(
  branches: readonly unknown[],
  about: string,
  { spot, making }: Gathering,
): unknown {
  const { work, described } = making;
  const tokens = membersBelow(making, spot);
  pay(work, branches.length * bounds.sampleStepsEach);
  const ordered = branches
    .map((branch) => ({ branch, rank: rankOf(branch) }))
    .toSorted((a, b) => a.rank - b.rank);
  return ordered[decide(making, { pointer: spot.pointer, about }, ordered.length)]?.branch;

  function rankOf(branch: unknown): number {
    const name = nameIn(branch);
    const schema = name === undefined ? branch : described.bundle.$defs[name];
    if (name !== undefined && spot.trail.includes(name)) return 3;
    if (isObject(schema) && own(schema, 'type') === 'null') return 2;
    if (isRecursive(schema, spot, making)) return 2;
    if (tokens.length === 0 || name === undefined) return 1;
    pay(work, described.weight * bounds.sampleStepsEach);
    const { properties } = shapeOf({ ...described.bundle, $ref: `#/$defs/${name}` });
    return 1 - tokens.filter((token) => properties.includes(token)).length / tokens.length;
  }
}

/** bundle.ts writes every reference as `#/$defs/<name>`. */
function nameIn(schema: unknown): string | undefined {
  const ref = isObject(schema) ? own(schema, '$ref') : undefined;
  return typeof ref === 'string' ? lastToken(ref) : undefined;
}

/** The values of discriminators: the mapped name of the branch, or the name of the schema that extends the base. */
function marksOf({ marked, names }: Found, { described, work }: Making): Parts['marks'] {
  const { places, bundle } = described;
  const marks = new Map<string, unknown>();
  for (const { schema, branch } of marked) {
    const discriminator = own(schema, 'discriminator');
    if (!isObject(discriminator)) continue;
    const mapping = Object.entries(own(discriminator, 'mapping') ?? {});
    pay(work, (mapping.length + names.length) * bounds.sampleStepsEach);
    const candidates = [branch, ...names]
      .filter((name) => name !== undefined && !isAlias(bundle.$defs[name]))
      .map((name) => lastToken(places.get(name ?? '') ?? ''));
    const mapped = mapping.find(([, ref]) => candidates.includes(lastToken(String(ref))));
    const mark = mapped?.[0] ?? candidates.find((token) => !/^\d*$|^schema$/u.test(token));
    if (mark !== undefined) marks.set(String(own(discriminator, 'propertyName')), mark);
  }
  return marks;
}

/** A schema that consists of a reference only. */
function isAlias(schema: unknown): boolean {
  return isObject(schema) && Object.keys(schema).join('') === '$ref';
}

function lastToken(place: string): string {
  return place.slice(place.lastIndexOf('/') + 1);
}
