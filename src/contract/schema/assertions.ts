// The keywords of JSON Schema that look at one value and apply no other schema. Each pays for what it looks at: the
// length of a text, the number of names and items.
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isList, isObject, own, type JsonObject } from '../document/document.ts';
import { isMultiple } from './decimal.ts';
import { costOf, memberOf, nameFor, namesOf, report } from './evaluation.ts';
import type { At, Name, Rule } from './evaluation.ts';
import { charactersOf, countedMax, sentence, show, typeOf } from './explain.ts';
import { makeMeter, type Meter } from './meter.ts';
import { readRegex, type Regex } from './regex.ts';

type Test = (value: unknown, meter: Meter) => boolean;

/** The rule of an assertion with this value in the schema, or undefined for another keyword. */
export function assertionRule(keyword: string, limit: unknown): Rule | undefined {
  if (keyword === 'required' && isList(limit)) return requiredRule(limit.map(String));
  if (keyword === 'dependentRequired' && isObject(limit)) return dependentRule(limit);
  if (keyword === 'uniqueItems') return limit === true ? uniqueRule : undefined;
  const test = tests.get(keyword)?.(limit);
  if (test === undefined) return undefined;
  return (value, at) => {
    if (test(value, at.meter)) return true;
    const isCounted = keyword.endsWith('Length') && typeof value === 'string';
    if (isCounted && at.findings !== undefined) {
      at.meter.spend(Math.min(value.length, 2 * countedMax(limit)));
    }
    return report(at, { keyword, message: () => sentence(keyword, limit, value) });
  };
}

/** If one of them fails, the value is too large to be searched for other faults. */
export const sizeKeywords: ReadonlySet<string> = new Set([
  'maxLength',
  'maxItems',
  'maxProperties',
]);

const tests: ReadonlyMap<string, (limit: unknown) => Test> = new Map(
  Object.entries({
    type: typeTest,
    enum: (limit: unknown) => oneOfTest(isList(limit) ? limit : []),
    const: (limit: unknown) => oneOfTest([limit]),
    minimum: numberTest((value, limit) => value >= limit),
    maximum: numberTest((value, limit) => value <= limit),
    exclusiveMinimum: numberTest((value, limit) => value > limit),
    exclusiveMaximum: numberTest((value, limit) => value < limit),
    multipleOf: multipleTest,
    // A schema counts characters, and `length` counts each once or twice.
    minLength: textTest(
      (text, limit, meter) =>
        text.length >= 2 * limit || (text.length >= limit && characters(text, meter) >= limit),
    ),
    maxLength: textTest(
      (text, limit, meter) =>
        text.length <= limit || (text.length <= 2 * limit && characters(text, meter) <= limit),
    ),
    pattern: patternTest,
    format: formatTest,
    minItems: (limit: unknown) => (value: unknown) =>
      !isList(value) || value.length >= Number(limit),
    maxItems: (limit: unknown) => (value: unknown) =>
      !isList(value) || value.length <= Number(limit),
    minProperties: (limit: unknown) => (value: unknown, meter: Meter) =>
      !isObject(value) || namesOf(value, meter).length >= Number(limit),
    maxProperties: (limit: unknown) => (value: unknown, meter: Meter) =>
      !isObject(value) || namesOf(value, meter).length <= Number(limit),
  }),
);

export function typeTest(limit: unknown): (value: unknown) => boolean {
  const types = new Set([limit].flat().map(String));
  const [only] = types;
  if (types.size === 1 && only !== undefined) {
    if (only === 'integer') return Number.isInteger;
    if (only === 'object') return isObject;
    if (only === 'array') return isList;
    if (only !== 'null') return (value) => typeof value === only;
  }
  return (value) => types.has(typeOf(value)) || (types.has('integer') && Number.isInteger(value));
}

function numberTest(fits: (value: number, limit: number) => boolean): (limit: unknown) => Test {
  return (limit) => (value) => typeof value !== 'number' || fits(value, Number(limit));
}

function multipleTest(limit: unknown): Test {
  return (value, meter) => {
    if (typeof value !== 'number') return true;
    if (!Number.isSafeInteger(value)) meter.spend(Math.abs(value) < 1e15 ? 60 : 200);
    return isMultiple(value, Number(limit));
  };
}

function textTest(
  fits: (text: string, limit: number, meter: Meter) => boolean,
): (limit: unknown) => Test {
  return (limit) => (value, meter) =>
    typeof value !== 'string' || fits(value, Number(limit), meter);
}

function characters(text: string, meter: Meter): number {
  meter.spend(text.length);
  return charactersOf(text);
}

function patternTest(limit: unknown): Test {
  let regex: Regex | undefined;
  return (value, meter) => {
    if (typeof value !== 'string') return true;
    regex ??= regexOf(String(limit), meter);
    return regex.test(value, meter);
  };
}

/** bundle.ts lets no other expression through. */
export function regexOf(source: string, meter: Meter): Regex {
  meter.spend(source.length * costOf.reading);
  const reading = readRegex(source);
  return reading.kind === 'regex' ? reading.regex : { test: () => true };
}

/** Of an expression that checks a format. */
const stepsPerCharacter = 5;

const formats = new Map<string, unknown>(Object.entries(fullFormats));
// The guard checks a bad URL, with a better message than a schema can give.
for (const name of ['uri', 'url', 'uri-reference']) formats.delete(name);

function formatTest(limit: unknown): Test {
  const format = formats.get(String(limit));
  const isPlain = format instanceof RegExp || !isObject(format);
  const validate = isPlain ? format : own(format, 'validate');
  const type = !isPlain && own(format, 'type') === 'number' ? 'number' : 'string';
  return (value, meter) => {
    if (typeof value !== type) return true;
    if (typeof value === 'string') meter.spend(value.length * stepsPerCharacter);
    if (validate instanceof RegExp) return validate.test(String(value));
    return typeof validate !== 'function' || validate(value) === true;
  };
}

function requiredRule(names: readonly string[]): Rule {
  const needed: Needed = { names: names.map(nameFor), keyword: 'required' };
  return (value, at) => !isObject(value) || hasAll(value, at, needed);
}

function dependentRule(limit: JsonObject): Rule {
  const rules = Object.entries(limit).map(([property, names]) => ({
    ...nameFor(property),
    needed: {
      names: isList(names) ? names.map(String).map(nameFor) : [],
      keyword: 'dependentRequired',
      property,
    },
  }));
  return (value, at) => {
    if (!isObject(value)) return true;
    let isFitting = true;
    at.meter.spend(rules.length * costOf.member);
    for (const rule of rules) {
      if (memberOf(value, rule) === undefined || hasAll(value, at, rule.needed)) continue;
      isFitting = false;
      if (!at.isThorough) break;
    }
    return isFitting;
  };
}

interface Needed {
  names: readonly Name[];
  keyword: string;
  /** Its presence requires the names. */
  property?: string;
}

function hasAll(value: JsonObject, at: At, { names, keyword, property }: Needed): boolean {
  at.meter.spend(names.length * costOf.member);
  let isFitting = true;
  for (const one of names) {
    if (memberOf(value, one) !== undefined) continue;
    const why = (): string => (property === undefined ? '' : ` when ${show(property)} is present`);
    const message = (): string => `is required${why()}`;
    isFitting = report(at, { keyword, name: one.name, message });
    if (!at.isThorough) break;
  }
  return isFitting;
}

function uniqueRule(value: unknown, at: At): boolean {
  if (!isList(value) || value.length < 2) return true;
  const seen = makeShelf();
  for (const [i, item] of value.entries()) {
    const j = seen.put(item, i, at.meter);
    if (j === undefined) continue;
    const message = (): string => `must not repeat items: ${j} and ${i} are equal`;
    return report(at, { keyword: 'uniqueItems', message });
  }
  return true;
}

function oneOfTest(values: readonly unknown[]): Test {
  return (value, meter) => shelfOf(values, meter).find(value, meter) !== undefined;
}

/** By the list of values, which several schemas may share. */
const shelves = new WeakMap<readonly unknown[], Shelf>();

function shelfOf(values: readonly unknown[], meter: Meter): Shelf {
  const known = shelves.get(values);
  if (known !== undefined) return known;
  const shelf = makeShelf();
  for (const [at, value] of values.entries()) shelf.put(value, at, meter);
  shelves.set(values, shelf);
  return shelf;
}

/** A long list of allowed values is read at load: it would take most of the steps of a check. */
export function prepareEnum(values: readonly unknown[]): void {
  if (values.length > enumLateMax) shelfOf(values, { ...makeMeter(), spend: () => undefined });
}

const enumLateMax = 1_000;

/** Finds equal values by hashing. */
interface Shelf {
  find: (value: unknown, meter: Meter) => number | undefined;
  /** Returns the number of an equal value that was added before. */
  put: (value: unknown, number: number, meter: Meter) => number | undefined;
}

function makeShelf(): Shelf {
  const scalars = new Map<unknown, number>();
  const others = new Map<string, number>();
  const find: Shelf['find'] = (value, meter) => {
    if (typeof value !== 'object' || value === null) return scalars.get(value);
    // Most lists contain neither lists nor objects, so no value has to be serialised for comparison.
    return others.size === 0 ? undefined : others.get(canonical(value, meter));
  };
  return {
    find,
    put(value, number, meter) {
      meter.spend(costOf.entry);
      const known = find(value, meter);
      if (known !== undefined) return known;
      if (typeof value !== 'object' || value === null) scalars.set(value, number);
      else others.set(canonical(value, meter), number);
      return undefined;
    },
  };
}

/** The same text for equal values: the order of members is ignored, and -0 equals 0. */
function canonical(value: unknown, meter: Meter): string {
  if (isList(value)) {
    meter.spend(value.length * costOf.comparing);
    return `[${value.map((one) => canonical(one, meter)).join()}]`;
  }
  if (!isObject(value)) {
    if (typeof value === 'string') meter.spend(value.length);
    return JSON.stringify(value) ?? '';
  }
  const members = namesOf(value, meter).map((name) => {
    meter.spend(name.length + costOf.comparing);
    return `${JSON.stringify(name)}:${canonical(value[name], meter)}`;
  });
  return `{${members.toSorted().join()}}`;
}
