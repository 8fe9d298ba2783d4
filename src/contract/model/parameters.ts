// Compiles the parameters of an operation. Unreadable ones are dropped with a warning. Credentials
// are left out, since the security schemes handle them.
import { styles } from './contract.ts';
import type { Parameter, Style } from './contract.ts';
import { isJson } from './media.ts';
import { child, entries, items, text, warn } from '../document/ref-node.ts';
import type { RefNode } from '../document/ref-node.ts';
import { makeValidator } from '../schema/schema.ts';
import { credentialTest } from './security.ts';

/** Parameters of the path item first; the operation's own replace those of the same name. */
export function compileParameters(
  places: { item: RefNode; operation: RefNode },
  path: string,
): Parameter[] {
  const isCredential = credentialTest(places.operation);
  const parameters = new Map<string, Parameter>();
  for (const holder of [places.item, places.operation]) {
    for (const place of items(child(holder, 'parameters'))) {
      const parameter = compileParameter(place);
      if (parameter === undefined || !isUsable(parameter, { place, path })) continue;
      const { in: kind } = parameter;
      const name = kind === 'header' ? parameter.name.toLowerCase() : parameter.name;
      if (kind !== 'cookie' && isCredential({ kind, from: 'request', name })) {
        if (!ignored.has(name))
          warn(place, 'is a credential; it is handled by the security scheme');
        continue;
      }
      parameters.set(`${kind} ${name}`, parameter);
    }
  }
  return [...parameters.values()];
}

/** The specification says that declarations of these headers are ignored. */
const ignored = new Set(['accept', 'content-type', 'authorization']);

const kinds = ['path', 'query', 'header', 'cookie'] as const;

function compileParameter(place: RefNode): Parameter | undefined {
  const kind = kinds.find((known) => known === text(place, 'in'));
  const name = text(place, 'name');
  if (kind === undefined || name === undefined || name === '') {
    const expected = `"name", and "in" as ${kinds.join(', ')}`;
    warn(place, `Cannot read the parameter: expected ${expected}; it is ignored`);
    return undefined;
  }
  const [content] = entries(child(place, 'content'));
  const style = content !== undefined && isJson(content[0]) ? 'json' : styleOf(place, kind);
  const holder = content === undefined ? place : content[1];
  const schema = child(holder, 'schema');
  return {
    name,
    in: kind,
    required: kind === 'path' || child(place, 'required')?.value === true,
    style,
    explode: explodes(child(place, 'explode')?.value, style),
    mayBeEmpty: child(place, 'allowEmptyValue')?.value === true,
    schema: schema && makeValidator(schema, holder),
  };
}

function isUsable(
  { in: kind, name }: Parameter,
  { place, path }: { place: RefNode; path: string },
): boolean {
  if (kind === 'header') return !ignored.has(name.toLowerCase());
  if (kind !== 'path' || path.includes(`{${name}}`)) return true;
  warn(place, `Cannot use path parameter "${name}": "${path}" does not contain it`);
  return false;
}

const allowedStyles: Readonly<Record<Parameter['in'], readonly Style[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
};

function styleOf(place: RefNode, kind: Parameter['in']): Style {
  const [usual = 'simple', ...others] = allowedStyles[kind];
  const declared = text(place, 'style');
  const style = [usual, ...others].find((known) => known === declared);
  if (declared !== undefined && style === undefined && declared !== 'cookie') {
    const known = styles.some((one) => one === declared) ? `not a style for a ${kind}` : 'unknown';
    warn(place, `style "${declared}" is ${known}; "${usual}" is used`);
  }
  return style ?? usual;
}

function explodes(declared: unknown, style: Style): boolean {
  return typeof declared === 'boolean' ? declared : style === 'form' || style === 'deepObject';
}
