// Explains what is wrong with a value: one sentence per place, and of several allowed forms only the faults of the one
// that was most likely meant.
import { bounds } from '../document/bounds.ts';
import { isList, isObject } from '../document/document.ts';

/** A fault, with the data to compare it with others. */
export interface Finding {
  /** JSON pointer of the faulty place, relative to the checked value. */
  pointer: string;
  message: string;
  keyword: string;
  /** JSON pointer of the value whose schema it violates. */
  at: string;
}

/** The faults of a value in one branch, and how likely that branch was meant. */
export interface Failure {
  findings: readonly Finding[];
  /** The value is of an entirely different type. */
  isAlien: boolean;
  /** Properties of the value that the branch declares. */
  known: number;
  depth: number;
}

export function makeFailure(
  findings: readonly Finding[],
  { value, path, properties }: { value: unknown; path: string; properties: readonly string[] },
): Failure {
  return {
    findings,
    isAlien: findings.some(({ keyword, at }) => keyword === 'type' && at === path),
    known: isObject(value) ? properties.filter((name) => Object.hasOwn(value, name)).length : 0,
    depth: findings.reduce((deepest, { at }) => Math.max(deepest, at.split('/').length), 0),
  };
}

/**
 * The faults in the branch that declares most of the value's properties; then the one with fewer faults; then the one
 * whose faults are deeper.
 */
export function chooseFailure(failed: readonly Failure[]): readonly Finding[] {
  return failed.toSorted(byFit)[0]?.findings ?? [];
}

function byFit(a: Failure, b: Failure): number {
  return (
    Number(a.isAlien) - Number(b.isAlien) ||
    b.known - a.known ||
    a.findings.length - b.findings.length ||
    b.depth - a.depth
  );
}

/** The message for a value that violates a keyword with this limit. */
export function sentence(keyword: string, limitValue: unknown, data: unknown): string {
  const limit = show(limitValue);
  switch (keyword) {
    case 'type':
      return `must be ${typeNames(limitValue)}, is ${kindOf(data, limitValue)}`;
    case 'enum':
      return `must be ${oneOf(limitValue)}, is ${show(data)}`;
    case 'const':
      return `must be ${limit}, is ${show(data)}`;
    case 'minimum':
      return `must be at least ${limit}, is ${show(data)}`;
    case 'maximum':
      return `must be at most ${limit}, is ${show(data)}`;
    case 'exclusiveMinimum':
      return `must be more than ${limit}, is ${show(data)}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}, is ${show(data)}`;
    case 'multipleOf':
      return `must be a multiple of ${limit}, is ${show(data)}`;
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return `must have at least ${count(limit, keyword)}, has ${sizeOf(data)}`;
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return `must have at most ${count(limit, keyword)}, has ${sizeUpTo(countedMax(limitValue), data)}`;
    case 'pattern':
      return `must match the pattern ${limit}`;
    case 'format':
      return `must have the format ${limit}, is ${show(data)}`;
    default:
      return 'is not allowed here';
  }
}

const articles: Readonly<Record<string, string>> = {
  null: 'null',
  integer: 'an integer',
  array: 'a list',
  object: 'an object',
};

export function typeNames(types: unknown): string {
  const names = [types].flat().map((type) => articles[String(type)] ?? `a ${String(type)}`);
  return orList(names);
}

/** `1.5` is not an integer, but "is a number" would not explain that. */
function kindOf(data: unknown, expected: unknown): string {
  const type = typeOf(data);
  const fraction = type === 'number' && [expected].flat().includes('integer');
  return fraction ? String(data) : typeNames(type);
}

function oneOf(values: unknown): string {
  const shown = (isList(values) ? values : []).slice(0, bounds.valuesShownMax).map(show);
  const more = isList(values) && values.length > shown.length ? ', …' : '';
  return `${shown.length === 1 ? '' : 'one of '}${shown.join(', ')}${more}`;
}

function count(limit: string, keyword: string): string {
  const noun = keyword.endsWith('Length') ? 'character' : keyword.endsWith('Items') ? 'item' : '';
  if (noun === '') return `${limit} ${limit === '1' ? 'property' : 'properties'}`;
  return `${limit} ${noun}${limit === '1' ? '' : 's'}`;
}

/** Of a text that is far too long, no more characters are counted than this. */
export function countedMax(limit: unknown): number {
  return Math.max(2 * Number(limit), 1_000);
}

function sizeUpTo(most: number, data: unknown): string {
  const isLonger = typeof data === 'string' && data.length > 2 * most;
  return isLonger ? `more than ${most}` : String(sizeOf(data));
}

function sizeOf(data: unknown): number {
  if (typeof data === 'string') return charactersOf(data);
  return isList(data) ? data.length : Object.keys(isObject(data) ? data : {}).length;
}

/** Counts without building a list: the text may be as long as a body. */
export function charactersOf(text: string): number {
  let characters = 0;
  for (let at = 0; at < text.length; at += 1) {
    if ((text.codePointAt(at) ?? 0) > 0xffff) at += 1;
    characters += 1;
  }
  return characters;
}

/** A value in a sentence: as JSON, shortened to a readable length. */
export function show(value: unknown): string {
  if (typeof value === 'object' && value !== null) return typeNames(typeOf(value));
  const max = bounds.quotedCharsMax;
  const text =
    JSON.stringify(typeof value === 'string' ? value.slice(0, max + 1) : value) ?? 'missing';
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}

export function orList(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

/** The JSON type of a value. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return isList(value) ? 'array' : typeof value;
}
