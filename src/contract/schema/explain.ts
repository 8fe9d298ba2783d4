// Explains what is wrong with a value, from the errors of the schema checker: one sentence per
// place, and of several allowed forms only the faults of the one that was most likely meant.
import type { ErrorObject } from 'ajv';
import { printPointer } from '../../core/base/pointer.ts';
import { bounds } from '../document/bounds.ts';
import { isList, isObject } from '../document/document.ts';
import { typeOf } from './shape.ts';

/** A fault, with the data to compare it with others. */
export interface Finding {
  /** JSON pointer of the faulty place, relative to the checked value. */
  pointer: string;
  message: string;
  keyword: string;
  /** How deep inside the value the check had come. */
  depth: number;
}

/** Queries about the branches of a oneOf or anyOf. */
export interface Branches {
  /** The errors of a value in that branch. */
  check(ref: string, value: unknown): readonly ErrorObject[];
  /** The properties that the branch declares. */
  properties(ref: string): readonly string[];
}

export function explain(errors: readonly ErrorObject[], branches: Branches): Finding[] {
  const groups: Finding[][] = [];
  // From the end: the errors of all branches come directly before that of their oneOf or anyOf.
  for (let at = errors.length - 1; at >= 0; at -= 1) {
    const error = errors[at];
    if (error === undefined) break;
    if (error.keyword !== 'oneOf' && error.keyword !== 'anyOf') {
      groups.push(explainOne(error));
      continue;
    }
    const { skipped, found } = explainBranches(error, branches);
    groups.push(found);
    at -= skipped;
  }
  return groups.toReversed().flat();
}

function explainBranches(
  error: ErrorObject,
  branches: Branches,
): { skipped: number; found: Finding[] } {
  const refs = isList(error.schema) ? error.schema.flatMap(refIn) : [];
  const failed: Failure[] = [];
  let skipped = 0;
  let passed = 0;
  for (const ref of refs) {
    if (passed > 1) break; // The checker stops here too.
    const errors = branches.check(ref, error.data);
    skipped += errors.length;
    if (errors.length === 0) passed += 1;
    else failed.push(makeFailure(explain(errors, branches), error.data, branches.properties(ref)));
  }
  if (passed > 1) {
    const message = 'matches more than one of the allowed schemas, expected exactly one';
    return { skipped, found: [finding(error, message)] };
  }
  const best = failed.toSorted(byFit)[0]?.findings ?? [];
  return { skipped, found: best.map((one) => below(error.instancePath, one)) };
}

/** The faults of a value in one branch, and how likely that branch was meant. */
interface Failure {
  findings: readonly Finding[];
  /** The value is of an entirely different type. */
  isAlien: boolean;
  /** Properties of the value that the branch declares. */
  known: number;
  depth: number;
}

function makeFailure(
  findings: readonly Finding[],
  value: unknown,
  properties: readonly string[],
): Failure {
  const has = new Set(Object.keys(isObject(value) ? value : {}));
  return {
    findings,
    isAlien: findings.some(({ keyword, depth }) => keyword === 'type' && depth === 0),
    known: properties.filter((name) => has.has(name)).length,
    depth: findings.reduce((deepest, { depth }) => Math.max(deepest, depth), 0),
  };
}

/**
 * The branch that declares most of the value's properties; then the one with fewer faults; then the
 * one whose faults are deeper.
 */
function byFit(a: Failure, b: Failure): number {
  return (
    Number(a.isAlien) - Number(b.isAlien) ||
    b.known - a.known ||
    a.findings.length - b.findings.length ||
    b.depth - a.depth
  );
}

/** bundle.ts turns every branch into a reference. */
function refIn(schema: unknown): string[] {
  const ref = isObject(schema) ? schema['$ref'] : undefined;
  return typeof ref === 'string' ? [ref] : [];
}

function below(path: string, one: Finding): Finding {
  return { ...one, pointer: path + one.pointer, depth: depthOf(path) + one.depth };
}

function explainOne(error: ErrorObject): Finding[] {
  const params: Record<string, unknown> = error.params;
  const data: unknown = error.data;
  const schema: unknown = error.schema;
  switch (error.keyword) {
    case 'required':
      return [finding(error, 'is required', params['missingProperty'])];
    case 'dependentRequired':
      return [
        finding(
          error,
          `is required when ${show(params['property'])} is present`,
          params['missingProperty'],
        ),
      ];
    case 'additionalProperties':
      return [finding(error, 'is not allowed here', params['additionalProperty'])];
    case 'unevaluatedProperties':
      return [finding(error, 'is not allowed here', params['unevaluatedProperty'])];
    case 'propertyNames':
    case 'if':
      return []; // Inner faults were reported before.
    case 'type':
      return [finding(error, `must be ${typeNames(schema)}, is ${kindOf(data, schema)}`)];
    default:
      return [
        finding(error, sentence(error.keyword, { schema, data, params }), error.propertyName),
      ];
  }
}

interface Details {
  schema: unknown;
  data: unknown;
  params: Record<string, unknown>;
}

function sentence(keyword: string, { schema, data, params }: Details): string {
  const limit = show(schema);
  switch (keyword) {
    case 'enum':
      return `must be ${oneOf(schema)}, is ${show(data)}`;
    case 'const':
      return `must be ${show(schema)}, is ${show(data)}`;
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
      return `must have at most ${count(limit, keyword)}, has ${sizeOf(data)}`;
    case 'uniqueItems':
      return `must not repeat items: ${String(params['j'])} and ${String(params['i'])} are equal`;
    case 'pattern':
      return `must match the pattern ${show(schema)}`;
    case 'format':
      return `must have the format ${show(schema)}, is ${show(data)}`;
    case 'contains':
      return 'contains too few or too many of the items that it must contain';
    case 'not':
      return 'must not match the schema under "not"';
    default:
      return 'is not allowed here';
  }
}

function finding(error: ErrorObject, message: string, property?: unknown): Finding {
  const inside = typeof property === 'string' ? printPointer([property]) : '';
  return {
    pointer: error.instancePath + inside,
    message,
    keyword: error.keyword,
    depth: depthOf(error.instancePath),
  };
}

function depthOf(path: string): number {
  return path.split('/').length - 1;
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

function sizeOf(data: unknown): number {
  if (typeof data === 'string') return charactersOf(data);
  return isList(data) ? data.length : Object.keys(isObject(data) ? data : {}).length;
}

/** Counts without building a list: the text may be as long as a body. */
function charactersOf(text: string): number {
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
