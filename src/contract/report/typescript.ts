// Prints the payloads of events as a TypeScript interface, for publishers that want their compiler to check them.
// References are inlined; where a schema contains itself, or becomes too large, the type is `unknown`.
import { isWildcard } from '../../core/domain/pattern.ts';
import { bounds } from '../document/bounds.ts';
import { isList, isObject, own, type JsonObject } from '../document/document.ts';

/** What GET /event-types lists of an event. */
export interface TypedEvent {
  event: string;
  schema?: unknown;
  description?: string | undefined;
  state?: string | undefined;
}

export function printEvents(events: readonly TypedEvent[]): string {
  // Callbacks may share an event: its payload must match one of them.
  const byName = Map.groupBy(events.filter(isName), ({ event }) => event);
  const members = [...byName].map(([name, same]) => {
    const types = same.map(({ schema = true }) => typeOf(schema, inlining(schema)));
    const [first] = same;
    const words = [first?.description, first?.state === 'deprecated' ? '@deprecated' : undefined];
    return `${comment(words)}${quoted(name)}: ${joined(types, ' | ')};`;
  });
  return `export interface Events ${block(members)}\n`;
}

/** Neither a pattern nor a text with expressions. */
function isName({ event }: TypedEvent): boolean {
  return !isWildcard(event) && !event.includes('{');
}

interface Inlining {
  root: unknown;
  /** References that are being inlined. */
  open: readonly string[];
  left: { schemas: number };
}

function inlining(root: unknown): Inlining {
  return { root, open: [], left: { schemas: bounds.typedSchemasMax } };
}

function typeOf(schema: unknown, at: Inlining): string {
  at.left.schemas -= 1;
  if (schema === false) return 'never';
  if (!isObject(schema) || at.left.schemas < 0) return 'unknown';
  const ref = own(schema, '$ref');
  const parts = [
    typeof ref === 'string' ? typeOfReference(ref, at) : 'unknown',
    typeOfKind(schema, at),
    ...listIn(schema, 'allOf').map((one) => typeOf(one, at)),
    ...['anyOf', 'oneOf']
      .map((keyword) => listIn(schema, keyword))
      .filter((branches) => branches.length > 0)
      .map((branches) =>
        joined(
          branches.map((one) => typeOf(one, at)),
          ' | ',
        ),
      ),
  ].filter((part) => part !== 'unknown');
  const type = joined(parts, ' & ');
  return own(schema, 'nullable') === true ? joined([type, 'null'], ' | ') : type;
}

function typeOfReference(ref: string, at: Inlining): string {
  if (at.open.includes(ref)) return 'unknown';
  const tokens = decodeURIComponent(ref).split('/').slice(1);
  const target = tokens.reduce<unknown>((value, token) => {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (isList(value)) return value[Number(name)];
    return isObject(value) ? own(value, name) : undefined;
  }, at.root);
  return typeOf(target, { ...at, open: [...at.open, ref] });
}

function typeOfKind(schema: JsonObject, at: Inlining): string {
  if (Object.hasOwn(schema, 'const')) return literal(schema['const']);
  const values = listIn(schema, 'enum');
  if (values.length > 0) return joined(values.map(literal), ' | ');
  const types = [own(schema, 'type') ?? impliedType(schema)].flat();
  const all = types.map((type) => typeNamed(type, schema, at));
  return joined(all, ' | ');
}

/** Authors often leave it out where the keywords leave no doubt. */
function impliedType(schema: JsonObject): string {
  if (Object.hasOwn(schema, 'properties')) return 'object';
  return Object.hasOwn(schema, 'items') ? 'array' : 'any';
}

function typeNamed(type: unknown, schema: JsonObject, at: Inlining): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array': {
      const first = listIn(schema, 'prefixItems').map((one) => typeOf(one, at));
      const rest = typeOf(own(schema, 'items'), at);
      if (first.length === 0) return `readonly ${grouped(rest)}[]`;
      return `readonly [${[...first, `...${grouped(rest)}[]`].join(', ')}]`;
    }
    case 'object':
      return objectType(schema, at);
    default:
      return 'unknown';
  }
}

function objectType(schema: JsonObject, at: Inlining): string {
  const properties = own(schema, 'properties');
  const required = new Set(listIn(schema, 'required'));
  const members = Object.entries(isObject(properties) ? properties : {}).map(([name, one]) => {
    const words = isObject(one) ? [own(one, 'description')] : [];
    return `${comment(words)}${keyOf(name)}${required.has(name) ? '' : '?'}: ${typeOf(one, at)};`;
  });
  if (members.length > 0) return block(members);
  const others = own(schema, 'additionalProperties') ?? true;
  return `Readonly<Record<string, ${typeOf(others, at)}>>`;
}

function block(members: readonly string[]): string {
  return members.length === 0 ? '{}' : `{\n${indented(members.join('\n'))}\n}`;
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gmu, '  ');
}

function comment(words: readonly unknown[]): string {
  const text = words.filter((one) => typeof one === 'string').join(' ');
  const line = text.replaceAll(/\s+/gu, ' ').replaceAll('*/', '* /').trim();
  return line === '' ? '' : `/** ${line.slice(0, bounds.typedCommentCharsMax)} */\n`;
}

/** Without duplicates. */
function joined(types: readonly string[], sign: ' | ' | ' & '): string {
  const different = [...new Set(types)];
  if (sign === ' | ' && different.includes('unknown')) return 'unknown';
  const [only, ...others] = different;
  if (others.length === 0) return only ?? 'unknown';
  return different.map((type) => (sign === ' & ' ? grouped(type) : type)).join(sign);
}

/** Parentheses that keep the operators around it from taking it apart. */
function grouped(type: string): string {
  return /^[\w<>, ]+$/u.test(type) ? type : `(${type})`;
}

function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  const isPlain = value === null || ['number', 'boolean'].includes(typeof value);
  return isPlain ? String(value) : 'unknown';
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/u.test(name) ? name : quoted(name);
}

function quoted(text: string): string {
  const inside = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"');
  return `'${inside.replaceAll("'", String.raw`\'`)}'`;
}

function listIn(schema: JsonObject, keyword: string): readonly unknown[] {
  const value = own(schema, keyword);
  return isList(value) ? value : [];
}
