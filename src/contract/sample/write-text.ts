// Prints the text of a parameter, in any OpenAPI style: the inverse of read-text.ts.
import type { Parameter } from '../model/contract.ts';
import { isList, isObject } from '../document/document.ts';
import { kindOf } from '../request/read-text.ts';

/** Query parameters as pairs; elsewhere one pair, whose text is the whole result. */
export function writeTexts(parameter: Parameter, value: unknown): [string, string][] {
  const { name, style, explode } = parameter;
  const one = (text: string): [string, string][] => [[name, text]];
  if (style === 'json') return one(JSON.stringify(value));
  const kind = kindOf(parameter.schema?.shape());
  if (kind === 'list' && isList(value)) {
    const texts = value.map(scalar);
    return parameter.in === 'query' && explode
      ? texts.map((text) => [name, text])
      : one(writeList(parameter, texts));
  }
  if (kind === 'object' && isObject(value)) {
    if (style === 'deepObject') return leaves(value, name);
    const pairs = Object.entries(value).map(([key, it]): [string, string] => [key, scalar(it)]);
    return parameter.in === 'query' && explode ? pairs : one(writePairs(parameter, pairs));
  }
  return one(prefix(parameter) + scalar(value));
}

const separators: Readonly<Partial<Record<Parameter['style'], string>>> = {
  spaceDelimited: ' ',
  pipeDelimited: '|',
};

/** The prefix of the path styles. */
function prefix({ style, name }: Parameter): string {
  if (style === 'label') return '.';
  return style === 'matrix' ? `;${name}=` : '';
}

function writeList(parameter: Parameter, texts: readonly string[]): string {
  const { style, explode, name } = parameter;
  if (style === 'matrix' && explode) return texts.map((text) => `;${name}=${text}`).join('');
  const separator = style === 'label' && explode ? '.' : (separators[style] ?? ',');
  return prefix(parameter) + texts.join(separator);
}

function writePairs(parameter: Parameter, pairs: readonly (readonly [string, string])[]): string {
  const { style, explode } = parameter;
  if (!explode) return writeList(parameter, pairs.flat());
  const texts = pairs.map(([key, text]) => `${key}=${text}`);
  if (style === 'matrix') return texts.map((text) => `;${text}`).join('');
  return style === 'label' ? `.${texts.join('.')}` : texts.join(',');
}

/** `filter[a][b]=x`, to any depth. */
function leaves(value: unknown, name: string): [string, string][] {
  if (isList(value)) return value.map((item) => [name, scalar(item)]);
  if (!isObject(value)) return [[name, scalar(value)]];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${name}[${key}]`));
}

function scalar(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}
