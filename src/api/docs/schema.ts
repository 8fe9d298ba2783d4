// What a schema says, in words: its parts put together (allOf, references), its type, its limits.
// For reading only; what is valid is decided by the contract's own validators.
import { isList, isObject, own } from '../../contract/document.ts';
import type { JsonObject } from '../../contract/document.ts';
import { bounds } from './bounds.ts';
import { limitsOf, onlyRequires } from './limits-of.ts';
import { follow, listIn, nameOfRef, textIn } from './written.ts';

export interface SchemaFacts {
  /** `string (uri)`, `array of Subscription`, `object or null`. */
  type: string;
  /** References that were followed to get here: meeting one again means going in circles. */
  refs: readonly string[];
  /** References that lead out of the document. */
  elsewhere: readonly string[];
  description: string | undefined;
  /** "1 to 500", "at most 64 items". */
  limits: readonly string[];
  /** Values that the document gives, best first: examples, the default, the allowed ones. */
  examples: readonly unknown[];
  default: unknown;
  values: readonly unknown[];
  pattern: string | undefined;
  properties: readonly Property[];
  items: unknown;
  branches: readonly Branches[];
}

export interface Property {
  name: string;
  schema: unknown;
  isRequired: boolean;
}

export interface Branches {
  /** "one of", "any of". */
  words: string;
  schemas: readonly unknown[];
}

export function factsOf(root: JsonObject, schema: unknown): SchemaFacts {
  const gathering: Gathering = { root, parts: [], refs: [], elsewhere: [] };
  gather(schema, gathering);
  const { parts, refs, elsewhere } = gathering;
  const first = (key: string): unknown =>
    parts.map((part) => own(part, key)).find((value) => value !== undefined);
  const values = first('const') === undefined ? first('enum') : [first('const')];
  return {
    type: typeText(gathering),
    refs,
    elsewhere,
    description: parts.map((part) => textIn(part, 'description')).find(Boolean),
    limits: parts.flatMap(limitsOf),
    examples: parts.flatMap(examplesOf),
    default: first('default'),
    values: isList(values) ? values : [],
    pattern: parts.map((part) => textIn(part, 'pattern')).find(Boolean),
    properties: propertiesOf(parts),
    items: first('items') ?? parts.flatMap((part) => listIn(part, 'prefixItems'))[0],
    branches: parts.flatMap(branchesOf),
  };
}

/** The name of the schema, where a reference gives it one. */
export function schemaName(schema: unknown): string | undefined {
  const ref = isObject(schema) ? own(schema, '$ref') : undefined;
  if (typeof ref !== 'string') return isObject(schema) ? textIn(schema, 'title') : undefined;
  const name = nameOfRef(ref);
  // Names that the loader made for schemas of other files say nothing to anybody.
  return ref.startsWith('#/$defs/s') && /^s\d+$/u.test(name) ? undefined : name;
}

interface Gathering {
  root: JsonObject;
  parts: JsonObject[];
  refs: string[];
  elsewhere: string[];
}

/** All schemas that must hold for the same value. */
function gather(schema: unknown, gathering: Gathering): void {
  const { root, parts, refs, elsewhere } = gathering;
  const found = follow(root, schema);
  if (found.kind === 'elsewhere') elsewhere.push(found.ref);
  if (found.kind !== 'found' || parts.length >= bounds.partsMax) return;
  if (found.refs.some((ref) => refs.includes(ref))) return;
  refs.push(...found.refs);
  parts.push(found.object);
  for (const part of listIn(found.object, 'allOf')) gather(part, gathering);
}

function typeText({ root, parts, elsewhere }: Gathering): string {
  const declared = parts.flatMap((part) => [own(part, 'type') ?? []].flat().map(String));
  const types = new Set(declared.length > 0 ? declared : parts.flatMap(impliedTypes));
  if (parts.some((part) => own(part, 'nullable') === true)) types.add('null');
  const format = parts.map((part) => textIn(part, 'format')).find(Boolean);
  const items = parts.map((part) => own(part, 'items')).find(Boolean);
  const words = [...types].map((type) => {
    if (type === 'array' && items !== undefined) return `array of ${itemsText(root, items)}`;
    return format !== undefined && type !== 'null' ? `${type} (${format})` : type;
  });
  if (words.length > 0) return words.join(' or ');
  if (parts.some((part) => branchesOf(part).length > 0)) return '';
  return elsewhere.length > 0 ? 'defined elsewhere' : 'anything';
}

/** One level only: arrays of arrays of arrays are named where their items are shown. */
function itemsText(root: JsonObject, items: unknown): string {
  const name = schemaName(items);
  if (name !== undefined) return name;
  const found = follow(root, items);
  const type = found.kind === 'found' ? own(found.object, 'type') : undefined;
  return typeof type === 'string' ? `${type}s` : 'values';
}

function impliedTypes(part: JsonObject): string[] {
  if (isObject(part['properties']) || isObject(part['additionalProperties'])) return ['object'];
  if (part['items'] !== undefined || part['prefixItems'] !== undefined) return ['array'];
  const values = Object.hasOwn(part, 'const') ? [part['const']] : listIn(part, 'enum');
  return [...new Set(values.map(typeOf))];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return isList(value) ? 'array' : typeof value;
}

function examplesOf(part: JsonObject): unknown[] {
  const one = own(part, 'example');
  return [...(one === undefined ? [] : [one]), ...listIn(part, 'examples')];
}

function propertiesOf(parts: readonly JsonObject[]): Property[] {
  const required = new Set(parts.flatMap((part) => listIn(part, 'required')));
  const found = new Map<string, Property>();
  for (const part of parts) {
    const declared = Object.entries(mapIn(part, 'properties'));
    for (const [name, schema] of declared.slice(0, bounds.propertiesMax)) {
      found.set(name, { name, schema, isRequired: required.has(name) });
    }
  }
  const others = parts.flatMap((part) => {
    const rest = own(part, 'additionalProperties');
    const named = Object.entries(mapIn(part, 'patternProperties'));
    return [
      ...named.map(([pattern, schema]) => ({ name: `/${pattern}/`, schema, isRequired: false })),
      ...(isObject(rest) ? [{ name: 'any other name', schema: rest, isRequired: false }] : []),
    ];
  });
  return [...found.values(), ...others];
}

function mapIn(object: JsonObject, key: string): JsonObject {
  const value = own(object, key);
  return isObject(value) ? value : {};
}

/** Branches that only ask for properties are limits, and told as such. */
function branchesOf(part: JsonObject): Branches[] {
  return [
    { words: 'one of', schemas: listIn(part, 'oneOf') },
    { words: 'any of', schemas: listIn(part, 'anyOf') },
  ].filter(({ schemas }) => schemas.length > 0 && !schemas.every(onlyRequires));
}
