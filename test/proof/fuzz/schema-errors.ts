// A schema validator that shares no code with the product's: small, slow and simple. For responses it is stricter
// than the schema: undeclared members are errors.
import type { Document, Schema } from './document.ts';

export type Strictness = 'as written' | 'nothing undeclared';

/** The errors with their locations; empty if the value is valid. */
export function misfits(
  document: Pick<Document, 'resolve'>,
  schema: Schema,
  value: unknown,
  strictness: Strictness = 'as written',
): string[] {
  const judge = (part: Schema, one: unknown, at: string): string[] => {
    const parts = flatten(document, part);
    if (one === null && parts.some(isNullable)) return [];
    return [
      ...parts.flatMap((each) => ofItself(each, one, at)),
      ...parts.flatMap((each) => ofChoices(each, one, at)),
      ...(isObject(one) ? ofMembers(parts, one, at) : []),
      ...(Array.isArray(one) ? ofItems(parts, one, at) : []),
    ];
  };
  const ofChoices = (part: Schema, one: unknown, at: string): string[] => {
    const fitting = (some: readonly Schema[]): number =>
      some.filter((each) => misfits(document, each, one).length === 0).length;
    const { oneOf, anyOf, not } = part;
    if (not !== undefined && fitting([not]) === 1) return [`${at} fits what it must not`];
    if (oneOf !== undefined && fitting(oneOf) !== 1) return [`${at} fits not one of oneOf`];
    return anyOf !== undefined && fitting(anyOf) === 0 ? [`${at} fits none of anyOf`] : [];
  };
  const ofMembers = (parts: readonly Schema[], one: Members, at: string): string[] =>
    Object.entries(one).flatMap(([name, member]) => {
      const place = `${at}/${name}`;
      const declared = parts.flatMap(({ properties = {} }) =>
        Object.hasOwn(properties, name) ? (properties[name] ?? []) : [],
      );
      if (declared.length > 0) return declared.flatMap((each) => judge(each, member, place));
      const others = parts.map(({ additionalProperties }) => additionalProperties);
      if (others.includes(false)) return [`${place} is not expected`];
      const schemas = others.filter((each) => typeof each === 'object');
      if (schemas.length > 0) return schemas.flatMap((each) => judge(each, member, place));
      const isClosed = strictness === 'nothing undeclared' && parts.some(hasProperties);
      return isClosed ? [`${place} is not declared`] : [];
    });
  const ofItems = (parts: readonly Schema[], one: readonly unknown[], at: string): string[] =>
    parts.flatMap(({ items }) =>
      items === undefined ? [] : one.flatMap((item, i) => judge(items, item, `${at}/${i}`)),
    );
  return judge(schema, value, '');
}

type Members = Readonly<Record<string, unknown>>;

/** The schema and all schemas that allOf combines with it. */
export function flatten(document: Pick<Document, 'resolve'>, schema: Schema): Schema[] {
  const found = document.resolve<Schema>(schema);
  return [found, ...(found.allOf ?? []).flatMap((part) => flatten(document, part))];
}

function ofItself(schema: Schema, value: unknown, at: string): string[] {
  const { type } = schema;
  if (type !== undefined && !isOfType(type, value)) return [`${at} is no ${type}`];
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${at} is not in enum`];
  if (typeof value === 'string') return ofText(schema, value, at);
  if (typeof value === 'number') return outside(at, value, schema.minimum, schema.maximum);
  if (Array.isArray(value)) {
    const isRepeating = new Set(value.map((one) => JSON.stringify(one))).size < value.length;
    return [
      ...outside(`${at} length`, value.length, schema.minItems, schema.maxItems),
      ...(schema.uniqueItems === true && isRepeating ? [`${at} has an item twice`] : []),
    ];
  }
  if (!isObject(value)) return [];
  const count = Object.keys(value).length;
  return [
    ...outside(`${at} size`, count, schema.minProperties, schema.maxProperties),
    ...(schema.required ?? [])
      .filter((name) => !Object.hasOwn(value, name))
      .map((name) => `${at}/${name} is missing`),
  ];
}

function ofText(
  { minLength, maxLength, pattern, format }: Schema,
  text: string,
  at: string,
): string[] {
  const isFit = pattern === undefined || new RegExp(pattern, 'u').test(text);
  return [
    ...outside(`${at} length`, Array.from(text).length, minLength, maxLength),
    ...(isFit ? [] : [`${at} does not match ${pattern}`]),
    ...(format === undefined || hasFormat(format, text) ? [] : [`${at} is no ${format}`]),
  ];
}

function outside(at: string, value: number, least = -Infinity, most = Infinity): string[] {
  return value >= least && value <= most ? [] : [`${at} is ${value}, not ${least} to ${most}`];
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

const instant = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

function hasFormat(format: string, text: string): boolean {
  switch (format) {
    case 'date-time':
      return (
        instant.test(text) && isOnCalendar(text.slice(0, 10)) && !Number.isNaN(Date.parse(text))
      );
    case 'uri':
      return /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/iu.test(text) && URL.canParse(text);
    case 'uri-reference':
      return !/\s/.test(text) && URL.canParse(text, 'http://localhost');
    default:
      return true;
  }
}

/** Date.parse turns 30 February into 2 March. */
function isOnCalendar(date: string): boolean {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}

function isNullable({ nullable, enum: allowed }: Schema): boolean {
  return nullable === true && (allowed === undefined || allowed.includes(null));
}

function hasProperties({ properties }: Schema): boolean {
  return properties !== undefined;
}

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
