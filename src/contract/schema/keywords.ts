// The JSON Schema keywords that are enforced, and the shape that each must have. All others,
// including OpenAPI's own (`example`, `xml`, `discriminator`), do not affect validity.
import { isList, isObject } from '../document/document.ts';
import { readRegex } from './regex.ts';

export type KeywordKind =
  | 'schema'
  | 'schemas'
  | 'schema map'
  /** Schemas of which one must match. */
  | 'branches'
  | 'value';

interface Keyword {
  kind: KeywordKind;
  /** Describes a valid value, for the warning about an invalid one. */
  expected: string;
  accepts(value: unknown): boolean;
}

const types = new Set(['null', 'boolean', 'integer', 'number', 'string', 'array', 'object']);

const schema: Keyword = {
  kind: 'schema',
  expected: 'a schema',
  accepts: (value) => isObject(value) || typeof value === 'boolean',
};
const schemas: Keyword = {
  kind: 'schemas',
  expected: 'a list of schemas',
  accepts: (value) => isList(value) && value.length > 0,
};
const branches: Keyword = { ...schemas, kind: 'branches' };
const schemaMap: Keyword = { kind: 'schema map', expected: 'an object', accepts: isObject };
const patterns: Keyword = {
  ...schemaMap,
  expected: 'an object whose keys are regular expressions',
  accepts: (value) => isObject(value) && Object.keys(value).every(isPattern),
};
const number = plain('a number', (n) => typeof n === 'number' && Number.isFinite(n));
const factor = plain('a number greater than 0', (n) => typeof n === 'number' && n > 0);
const count = plain(
  'a non-negative integer',
  (n) => typeof n === 'number' && Number.isInteger(n) && n >= 0,
);
const flag = plain('true or false', (b) => typeof b === 'boolean');
const names = plain('a list of names', isNames);

/** A Map, because a document may name a keyword "constructor". */
export const keywords: ReadonlyMap<string, Keyword> = new Map(
  Object.entries({
    type: plain('a JSON type', isType),
    enum: plain('a list of values', (v) => isList(v) && v.length > 0),
    const: plain('a value', () => true),
    default: plain('a value', () => true),
    multipleOf: factor,
    maximum: number,
    exclusiveMaximum: number,
    minimum: number,
    exclusiveMinimum: number,
    maxLength: count,
    minLength: count,
    pattern: plain('a regular expression', (v) => typeof v === 'string' && isPattern(v)),
    format: plain('a name', (v) => typeof v === 'string'),
    maxItems: count,
    minItems: count,
    uniqueItems: flag,
    maxContains: count,
    minContains: count,
    maxProperties: count,
    minProperties: count,
    required: names,
    dependentRequired: plain(
      'lists of names',
      (v) => isObject(v) && Object.values(v).every(isNames),
    ),
    allOf: schemas,
    anyOf: branches,
    oneOf: branches,
    not: schema,
    if: schema,
    // oxlint-disable-next-line unicorn/no-thenable -- The keyword is called so.
    then: schema,
    else: schema,
    dependentSchemas: schemaMap,
    prefixItems: schemas,
    items: schema,
    contains: schema,
    properties: schemaMap,
    patternProperties: patterns,
    additionalProperties: schema,
    propertyNames: schema,
    unevaluatedItems: schema,
    unevaluatedProperties: schema,
  }),
);

function plain(expected: string, accepts: (value: unknown) => boolean): Keyword {
  return { kind: 'value', expected, accepts };
}

function isPattern(pattern: string): boolean {
  return readRegex(pattern).kind === 'regex';
}

function isType(type: unknown): boolean {
  return isList(type) ? type.length > 0 && type.every(isTypeName) : isTypeName(type);
}

function isTypeName(name: unknown): boolean {
  return typeof name === 'string' && types.has(name);
}

function isNames(list: unknown): boolean {
  return isList(list) && list.every((name) => typeof name === 'string');
}
