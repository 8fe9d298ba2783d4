// The fields of bodies and objects, as rows of a table. Unnamed objects are shown in place, by
// paths such as `callbacks[].url`; named ones are collected on the shelf and shown once, at the end
// of the page.
import type { JsonObject } from '../src/contract/document/document.ts';
import { factsOf, otherNames, schemaName, type SchemaFacts } from '../src/api/docs/schema.ts';
import { printValue } from '../src/api/docs/value.ts';

export interface Shelf {
  root: JsonObject;
  /** Schemas that were referred to by name. */
  named: Map<string, unknown>;
}

export interface Row {
  name: string;
  type: string;
  says: string;
}

/** How deep fields are shown by their path. */
const depthMax = 4;

export function rowsTable(heading: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const lines = rows.map(({ name, type, says }) => `| ${name} | ${cell(type)} | ${cell(says)} |`);
  return [`| ${heading} | type | |`, '|---|---|---|', ...lines, ''];
}

/** The rows of an object, named or not; of alternatives, the rows of each. */
export function fieldRows(shelf: Shelf, schema: unknown, path = '', depth = 0): Row[] {
  const facts = factsOf(shelf.root, schema);
  const own = facts.properties.flatMap(({ name, schema: inner, isRequired }) => {
    const shown = name.startsWith('/') || name === otherNames ? '*' : name;
    const at = path === '' ? shown : `${path}.${shown}`;
    const row = { name: `\`${at}\`${isRequired ? ' *' : ''}`, ...schemaWords(shelf, inner) };
    const held = innerOf(shelf, inner);
    if (held === undefined || depth >= depthMax) return [row];
    return [row, ...fieldRows(shelf, held.schema, `${at}${held.mark}`, depth + 1)];
  });
  const branches = facts.branches.flatMap(({ schemas }) => schemas);
  const known = new Set(own.map(({ name }) => name));
  const others = branches.flatMap((one) =>
    isNamedObject(shelf, one) && path !== '' ? [] : fieldRows(shelf, one, path, depth + 1),
  );
  return [...own, ...others.filter(({ name }) => !known.has(name) && known.add(name))];
}

/** The unnamed object that a field, or each of its items, holds. */
function innerOf(shelf: Shelf, schema: unknown): { schema: unknown; mark: string } | undefined {
  const facts = factsOf(shelf.root, schema);
  const mark = facts.items === undefined ? '' : '[]';
  const inner = facts.items ?? schema;
  const { properties, branches } = factsOf(shelf.root, inner);
  if (properties.length + branches.length === 0 || isNamedObject(shelf, inner)) return undefined;
  return { schema: inner, mark };
}

export function isNamedObject({ root }: Shelf, schema: unknown): boolean {
  return schemaName(schema) !== undefined && factsOf(root, schema).properties.length > 0;
}

/** Type and meaning. The name of an object is a link to it. */
export function schemaWords(
  shelf: Shelf,
  schema: unknown,
  description?: string,
): Omit<Row, 'name'> {
  const facts = factsOf(shelf.root, schema);
  const notes = [facts.limits.join(', '), valuesOf(facts), defaultOf(facts)];
  const parts = [(description ?? facts.description)?.trim(), ...notes.map(sentence)];
  const says = parts.filter((part) => part !== undefined && part !== '').join(' ');
  return { type: typeOf(shelf, schema, facts), says: says.replaceAll(/\s+/gu, ' ') };
}

function typeOf(shelf: Shelf, schema: unknown, facts: SchemaFacts): string {
  if (isNamedObject(shelf, schema)) return link(shelf, schema);
  if (facts.items !== undefined && isNamedObject(shelf, facts.items)) {
    return `list of ${link(shelf, facts.items)}`;
  }
  const branches = facts.branches.flatMap(({ schemas }) => schemas);
  const named = branches.filter((one) => isNamedObject(shelf, one));
  if (named.length > 0) return named.map((one) => link(shelf, one)).join(' or ');
  if (facts.items !== undefined)
    return `list of ${typeOf(shelf, facts.items, factsOf(shelf.root, facts.items))}`;
  if (facts.type !== '') return facts.type;
  const types = branches.map((one) => typeOf(shelf, one, factsOf(shelf.root, one)));
  return [...new Set(types)].join(' or ');
}

function link(shelf: Shelf, schema: unknown): string {
  const name = schemaName(schema) ?? '';
  shelf.named.set(name, schema);
  return `[${name}](#${name.toLowerCase()})`;
}

function valuesOf({ values }: SchemaFacts): string {
  const shown = values.filter((value) => value !== null);
  return shown.length === 0 ? '' : `one of ${shown.map((one) => code(one)).join(', ')}`;
}

function defaultOf({ default: preset }: SchemaFacts): string {
  return preset === undefined ? '' : `default ${code(preset)}`;
}

function code(value: unknown): string {
  return `\`${printValue(value)}\``;
}

function sentence(text: string): string {
  return text === '' ? '' : `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}
