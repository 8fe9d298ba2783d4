// Flattens a JSON schema into rows: each property with its type, whether it is required, and its
// constraints. Pure; bounded, since schemas may be recursive.
import { limits } from '../limits.ts';
import { words } from '../words.ts';

export type SchemaRow = {
  readonly depth: number;
  readonly name: string;
  readonly kind: string;
  readonly isRequired: boolean;
  readonly rules: readonly string[];
  readonly description: string | undefined;
};

type Schema = Readonly<Record<string, unknown>>;

export function schemaRows(schema: Schema): readonly SchemaRow[] {
  const rows: SchemaRow[] = [];
  const walk = (part: unknown, { name, depth, isRequired, seen }: Visit): void => {
    if (rows.length >= limits.schemaRowsMax) return;
    const at = resolve(schema, part, seen);
    rows.push(rowOf(at.schema, { name, depth, isRequired, isKnown: at.isKnown }));
    if (at.isKnown || depth >= limits.schemaDepthMax) return;
    for (const child of childrenOf(at.schema)) {
      walk(child.schema, { ...child, depth: depth + 1, seen: at.seen });
    }
  };
  walk(schema, { name: 'payload', depth: 0, isRequired: true, seen: [] });
  return rows;
}

type Visit = {
  readonly name: string;
  readonly depth: number;
  readonly isRequired: boolean;
  /** The references on the path: following one twice would not end. */
  readonly seen: readonly string[];
};

type Resolved = {
  readonly schema: Schema;
  readonly seen: readonly string[];
  readonly isKnown: boolean;
};

function resolve(root: Schema, part: unknown, seen: readonly string[]): Resolved {
  const schema = isObject(part) ? part : {};
  const ref = schema['$ref'];
  if (typeof ref !== 'string') return { schema, seen, isKnown: false };
  if (seen.includes(ref)) return { schema, seen, isKnown: true };
  const { $ref: _, $defs: __, ...beside } = schema;
  const found = resolve(root, pointedAt(root, ref), [...seen, ref]);
  return { ...found, schema: { ...found.schema, ...beside } };
}

/** The target of a local reference: `#/$defs/s0`. */
function pointedAt(root: Schema, ref: string): unknown {
  const steps = ref
    .replace(/^#\/?/u, '')
    .split('/')
    .filter((step) => step !== '');
  return steps.reduce<unknown>((place, step) => {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(place) ? place[name] : undefined;
  }, root);
}

function rowOf(
  schema: Schema,
  { isKnown, ...row }: Pick<SchemaRow, 'name' | 'depth' | 'isRequired'> & { isKnown: boolean },
): SchemaRow {
  return {
    ...row,
    kind: isKnown ? words().schema.recursive : kindOf(schema),
    rules: rulesOf(schema),
    description: text(schema['description']) ?? text(schema['title']),
  };
}

type Child = Pick<Visit, 'name' | 'isRequired'> & { readonly schema: unknown };

function childrenOf(schema: Schema): readonly Child[] {
  const { properties, items, additionalProperties } = schema;
  const say = words().schema;
  const required = list(schema['required']);
  const members = Object.entries(isObject(properties) ? properties : {}).map(([name, one]) => ({
    name,
    schema: one,
    isRequired: required.includes(name),
  }));
  return [
    ...members,
    ...(isObject(items) ? [{ name: say.item, schema: items, isRequired: false }] : []),
    ...(isObject(additionalProperties)
      ? [{ name: say.additional, schema: additionalProperties, isRequired: false }]
      : []),
    ...choices(schema, 'allOf', say.allOf),
    ...choices(schema, 'oneOf', say.oneOf),
    ...choices(schema, 'anyOf', say.anyOf),
  ];
}

function choices(schema: Schema, keyword: string, name: string): readonly Child[] {
  return list(schema[keyword]).map((one, at) => ({
    name: keyword === 'allOf' ? name : `${name} (${at + 1})`,
    schema: one,
    isRequired: false,
  }));
}

function kindOf(schema: Schema): string {
  const { type, format } = schema;
  const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string');
  const kind = types.length === 0 ? guessed(schema) : types.join(` ${words().schema.or} `);
  return typeof format === 'string' ? `${kind} (${format})` : kind;
}

function guessed(schema: Schema): string {
  if (isObject(schema['properties'])) return 'object';
  if (schema['const'] !== undefined || Array.isArray(schema['enum'])) return words().schema.value;
  return words().schema.any;
}

function rulesOf(schema: Schema): readonly string[] {
  const say = words().schema;
  const bounds = Object.entries(say.rules).flatMap(([keyword, rule]) => {
    const bound = schema[keyword];
    return typeof bound === 'number' || typeof bound === 'string' ? [`${rule} ${bound}`] : [];
  });
  const values = list(schema['enum']);
  return [
    ...(values.length === 0
      ? []
      : [`${say.oneOf} ${values.map((one) => JSON.stringify(one)).join(', ')}`]),
    ...(schema['const'] === undefined ? [] : [`${say.exactly} ${JSON.stringify(schema['const'])}`]),
    ...bounds,
    ...(schema['uniqueItems'] === true ? [say.unique] : []),
    ...(schema['additionalProperties'] === false ? [say.noAdditional] : []),
  ];
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
