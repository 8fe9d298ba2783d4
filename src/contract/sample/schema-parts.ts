// Collects all schemas that apply to one value of an example: follows references, and takes one branch of each oneOf
// and anyOf. Which branch is a decision that a later trial can change if the value is not valid.
import { unescapeToken } from '../../core/base/pointer.ts';
import { bounds } from '../document/bounds.ts';
import type { DescribedSchema } from '../schema/bundle.ts';
import { isList, isObject, own, type JsonObject } from '../document/document.ts';
import { pay, type Work } from '../schema/meter.ts';
import { shapeOf } from '../schema/shape.ts';
import type { Options, Texts } from './make-text.ts';

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
  /** Members of such a value differ one by one, like the places of a number, and not all at once. */
  isOdometer: boolean;
  /** The value that a discriminator prescribes here. */
  mark: unknown;
}

/** The option to take: the first one, unless this trial has another choice. */
export function choose<T>(
  { choices, decisions }: Making,
  { pointer, about }: { pointer: string; about: string },
  options: Options<T>,
): T | undefined {
  if (options.length <= 1) return options.at(0);
  const key = `${pointer} ${about}`;
  const chosen = Math.min(choices.get(key) ?? 0, options.length - 1);
  const option = options.at(chosen);
  decisions.set(key, { pointer, chosen, count: options.length });
  return option;
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

export function partsOf(all: readonly unknown[], spot: Spot, making: Making): Parts {
  const { $defs } = making.described.bundle;
  const schemas = new Set<JsonObject>();
  const names: string[] = [];
  const marks = new Map<string, unknown>();
  let isImpossible = false;
  for (const [index, schema] of all.entries()) visit(schema, String(index));
  return { schemas: [...schemas], isImpossible, names, marks };

  function visit(schema: unknown, about: string): void {
    pay(making.work, bounds.sampleStepsEach);
    if (schema === false) isImpossible = true;
    if (!isObject(schema) || schemas.has(schema)) return;
    schemas.add(schema);
    const name = nameIn(schema);
    if (name !== undefined) {
      names.push(name);
      visit($defs[name], name);
    }
    for (const [index, part] of listOf(schema, 'allOf').entries()) {
      visit(part, `${about} allOf ${index}`);
    }
    let taken: unknown;
    for (const keyword of ['oneOf', 'anyOf']) {
      const at = { pointer: spot.pointer, about: `${about} ${keyword}` };
      const branches = listOf(schema, keyword);
      if (branches.length === 0) continue;
      taken = choose(making, at, inOrder(branches, spot, making));
      visit(taken, at.about);
    }
    if (own(schema, 'if') !== undefined) {
      const ways = [['if', 'then'], ['else']];
      const way = choose(making, { pointer: spot.pointer, about: `${about} if` }, ways) ?? [];
      for (const key of way) visit(own(schema, key), `${about} ${key}`);
    }
    const dependent = own(schema, 'dependentSchemas');
    for (const key of isObject(dependent) ? listOf(schema, 'required').map(String) : []) {
      visit(valuesOf([dependent], key)[0], `${about} ${key}`);
    }
    const discriminator = own(schema, 'discriminator');
    if (!isObject(discriminator)) return;
    const mark = markOf(discriminator, [nameIn(taken), ...names], making);
    if (mark !== undefined) marks.set(String(own(discriminator, 'propertyName')), mark);
  }
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
    if (trail.includes(nameIn(one) ?? '')) return true;
    waiting.push(own(one, 'items'), own(one, 'additionalProperties'), ...listOf(one, 'allOf'));
  }
  return false;
}

/** All values of a keyword. */
export function valuesOf(schemas: readonly unknown[], keyword: string): unknown[] {
  return schemas
    .map((schema) => (isObject(schema) ? own(schema, keyword) : undefined))
    .filter((value) => value !== undefined);
}

export function listOf(schema: JsonObject, keyword: string): readonly unknown[] {
  const list = own(schema, keyword);
  return isList(list) ? list : [];
}

/** Branches that declare wanted members come first; null and cycles last. */
function inOrder(branches: readonly unknown[], spot: Spot, making: Making): unknown[] {
  const { work, described } = making;
  const tokens = membersBelow(making, spot);
  pay(work, branches.length * bounds.sampleStepsEach);
  const ranks = new Map(branches.map((branch) => [branch, rankOf(branch)]));
  return branches.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));

  function rankOf(branch: unknown): number {
    const name = nameIn(branch);
    const schema = name === undefined ? branch : described.bundle.$defs[name];
    if (name !== undefined && spot.trail.includes(name)) return 3;
    if (valuesOf([schema], 'type')[0] === 'null' || isRecursive(schema, spot, making)) return 2;
    if (tokens.length === 0 || name === undefined) return 1;
    pay(work, described.weight * bounds.sampleStepsEach);
    const { properties } = shapeOf({ ...described.bundle, $ref: `#/$defs/${name}` });
    return 1 - tokens.filter((token) => properties.includes(token)).length / tokens.length;
  }
}

/** bundle.ts writes every reference as `#/$defs/<name>`. */
function nameIn(schema: unknown): string | undefined {
  const [ref] = valuesOf([schema], '$ref');
  return typeof ref === 'string' ? lastToken(ref) : undefined;
}

/** The mapped name of the branch that was taken, or the name of the schema that extends the base. */
function markOf(
  discriminator: JsonObject,
  names: readonly (string | undefined)[],
  { described: { places, bundle }, work }: Making,
): string | undefined {
  const mapping = Object.entries(own(discriminator, 'mapping') ?? {});
  pay(work, (mapping.length + names.length) * bounds.sampleStepsEach);
  const tokens = names.flatMap((name) => {
    // A schema that is only a reference names nothing.
    const isAlias = Object.keys(bundle.$defs[name ?? ''] ?? {}).join('') === '$ref';
    return name === undefined || isAlias ? [] : [lastToken(places.get(name) ?? '')];
  });
  const mapped = mapping.find(([, ref]) => tokens.includes(lastToken(String(ref))));
  return mapped?.[0] ?? tokens.find((token) => !/^\d*$|^schema$/u.test(token));
}

function lastToken(place: string): string {
  return place.slice(place.lastIndexOf('/') + 1);
}
