// Translates schemas of openapi.yaml into TypeScript. Supports what that document uses and refuses
// anything else.

export type Tree = Readonly<Record<string, unknown>>;

export interface TypeOptions {
  /** Callers provide it, so absent fields may also be `undefined`. */
  isAsked: boolean;
}

export function declarationOf(name: string, schema: Tree, options: TypeOptions): string {
  const comment = commentOf(schema);
  const { parents, own } = partsOf(schema);
  if (own !== undefined && schema['nullable'] !== true && schema['anyOf'] === undefined) {
    const heirs = parents.length === 0 ? '' : ` extends ${parents.join(', ')}`;
    return `${comment}export interface ${name}${heirs} ${fieldsOf(own, options)}`;
  }
  return `${comment}export type ${name} = ${typeOf(schema, options)};`;
}

export function typeOf(schema: Tree, options: TypeOptions): string {
  const type = plainTypeOf(schema, options);
  return schema['nullable'] === true && !type.endsWith('null') ? `${type} | null` : type;
}

/** Named parents and own fields of an object composed by `allOf`. */
function partsOf(schema: Tree): { parents: string[]; own: Tree | undefined } {
  const all = listAt(schema, 'allOf');
  if (all.length === 0) return { parents: [], own: 'properties' in schema ? schema : undefined };
  const own = all.filter((part) => 'properties' in part);
  const parents = all.flatMap((part) => refOf(part) ?? []);
  return {
    parents,
    own: own.length === 1 && own.length + parents.length === all.length ? own[0] : undefined,
  };
}

function plainTypeOf(schema: Tree, options: TypeOptions): string {
  const ref = refOf(schema);
  if (ref !== undefined) return ref;
  const join = (parts: readonly Tree[], sign: string): string =>
    parts.map((part) => typeOf(part, options)).join(sign);
  if (Array.isArray(schema['enum'])) return schema['enum'].map(literalOf).join(' | ');
  if (schema['allOf'] !== undefined) {
    // A part without a type only restricts the others.
    const typed = listAt(schema, 'allOf').filter((part) => typeOf(part, options) !== 'unknown');
    return join(typed, ' & ');
  }
  if (schema['oneOf'] !== undefined) return join(listAt(schema, 'oneOf'), ' | ');
  switch (schema['type']) {
    case 'string':
    case 'boolean':
      return schema['type'];
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return listTypeOf(typeOf(treeAt(schema, 'items'), options));
    case 'object':
      return objectOf(schema, options);
    case undefined:
      return 'unknown';
    default:
      throw new Error(`Cannot write ${JSON.stringify(schema)} as a type: unknown type`);
  }
}

function listTypeOf(item: string): string {
  return /^[\w.]+$/.test(item) ? `readonly ${item}[]` : `readonly (${item})[]`;
}

function objectOf(schema: Tree, options: TypeOptions): string {
  if (!('properties' in schema)) {
    const values = treeAt(schema, 'additionalProperties');
    return `Readonly<Record<string, ${typeOf(values, options)}>>`;
  }
  const fields = fieldsOf(schema, options);
  const choices = listAt(schema, 'anyOf').map((choice) => needs(schema, choice, options));
  return choices.length === 0 ? fields : `${fields} & (${choices.join(' | ')})`;
}

/** `anyOf: [{ required: [a] }, …]`: at least these fields are present. */
function needs(schema: Tree, choice: Tree, options: TypeOptions): string {
  const names = namesAt(choice, 'required');
  const properties = treeAt(schema, 'properties');
  const fields = names.map((name) => `${name}: ${typeOf(treeAt(properties, name), options)}`);
  return `{ ${fields.join('; ')} }`;
}

export function fieldsOf(schema: Tree, options: TypeOptions): string {
  const required = namesAt(schema, 'required');
  const properties = treeAt(schema, 'properties');
  const fields = Object.keys(properties).map((name) => {
    const property = treeAt(properties, name);
    const isNeeded = required.includes(name);
    const own = typeOf(property, options);
    const type = isNeeded || !options.isAsked || own === 'unknown' ? own : `${own} | undefined`;
    return `${commentOf(property)}${keyOf(name)}${isNeeded ? '' : '?'}: ${type};`;
  });
  return `{\n${fields.join('\n')}\n}`;
}

const commentCharsMax = 90;

/** The schema's description, wrapped. */
function commentOf(schema: Tree): string {
  const description = textAt(schema, 'description');
  if (description === undefined) return '';
  const lines = [''];
  for (const word of description.trim().split(/\s+/)) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length >= commentCharsMax) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  if (lines.length === 1) return `/** ${lines.join('')} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`;
}

function refOf(schema: Tree): string | undefined {
  return textAt(schema, '$ref')?.replace('#/components/schemas/', '');
}

function keyOf(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`;
}

function literalOf(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

export function treeAt(tree: Tree, key: string): Tree {
  const value = tree[key];
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

export function textAt(tree: Tree, key: string): string | undefined {
  const value = tree[key];
  return typeof value === 'string' ? value : undefined;
}

export function listAt(tree: Tree, key: string): Tree[] {
  return Object.values(treeAt(tree, key)).map((value) => treeAt({ value }, 'value'));
}

export function namesAt(tree: Tree, key: string): string[] {
  return Object.values(treeAt(tree, key)).map(String);
}
