// Writes the parameters and the body of an example request, as a client would: the inverse of read-text.ts and
// decode-body.ts.
import { isList, isObject } from '../document/document.ts';
import type { Encoding, Parameter } from '../model/contract.ts';
import { isJson } from '../model/media.ts';
import { kindOf } from '../request/read-text.ts';
import type { Validator } from '../schema/schema.ts';
import { valuesOf } from './schema-parts.ts';

export interface WrittenBody {
  mediaType: string;
  /** The header, with the boundary of a multipart body. */
  contentType: string;
  text: string;
  /** As the service gets it: parsed JSON, the fields of a form, or bytes. */
  value: unknown;
  /** Of a form or multipart/form-data. */
  fields: readonly Field[];
}

export interface Field {
  name: string;
  text: string;
  /** How a part of a multipart body says what it is. The text of a file is its name, too. */
  kind: 'text' | 'json' | 'file';
}

interface BodyShape {
  schema: Validator | undefined;
  encodings: ReadonlyMap<string, Encoding> | undefined;
}

export function writeBody(mediaType: string, value: unknown, shape: BodyShape): WrittenBody {
  const json = JSON.stringify(value);
  if (isJson(mediaType))
    return { mediaType, contentType: mediaType, text: json, value, fields: [] };
  if (mediaType === 'multipart/related') {
    const parts = [`Content-Type: application/json\r\n\r\n${json}`];
    return { mediaType, fields: [], ...writeParts(`${mediaType}; type="application/json"`, parts) };
  }
  const fields = Object.entries(isObject(value) ? value : {}).flatMap((one) =>
    fieldsFor(one, shape),
  );
  if (mediaType === 'multipart/form-data') {
    return { mediaType, fields, ...writeParts(mediaType, fields.map(writePart)) };
  }
  const text = new URLSearchParams(fields.map((one) => [one.name, one.text])).toString();
  const byName = Map.groupBy(fields, ({ name }) => name);
  const read = [...byName].map(([name, all]): [string, unknown] => [
    name,
    all.length === 1 ? all[0]?.text : all.map((one) => one.text),
  ]);
  return { mediaType, contentType: mediaType, text, value: Object.fromEntries(read), fields };
}

/** A list becomes a repeated field, an object JSON, unless the document declares a style. */
function fieldsFor([name, value]: [string, unknown], { schema, encodings }: BodyShape): Field[] {
  const encoding = encodings?.get(name);
  const { style, explode, contentType = '' } = encoding ?? {};
  const json = (one: unknown): Field => ({ name, text: JSON.stringify(one), kind: kindFor(one) });
  if (isJson(contentType)) return [json(value)];
  if (style !== undefined || explode !== undefined) {
    const kept = style ?? 'form';
    const others = { required: false, mayBeEmpty: false, schema: undefined } as const;
    const spread = explode ?? (kept === 'form' || kept === 'deepObject');
    const parameter = { name, in: 'query', style: kept, explode: spread, ...others } as const;
    const pairs = writeTexts(parameter, value, schema?.shape().property(name));
    return pairs.map(([key, text]) => ({ name: key, text, kind: 'text' }));
  }
  const kind = isFile(name, schema) || /^(?!text\/)./u.test(contentType) ? 'file' : 'text';
  const items: readonly unknown[] = isList(value) ? value : [value];
  if (items.some((item) => typeof item === 'object' && item !== null)) {
    // One item alone would be read as that item, and not as a list.
    return items.length === 1 ? [json(value)] : items.map(json);
  }
  const isText = kindOf(schema?.shape().property(name).items()) !== 'object';
  const texts = items.length === 0 ? [isText ? '' : '[]'] : items.map(scalar);
  return texts.map((text) => ({ name, text, kind }));
}

/** A part that says that it is JSON is parsed, and then its texts are not parsed again. */
function kindFor(value: unknown): Field['kind'] {
  const items: readonly unknown[] = isList(value) ? value : [value];
  return items.every((item) => typeof item === 'string') ? 'text' : 'json';
}

function isFile(name: string, schema: Validator | undefined): boolean {
  const all = valuesOf(Object.values(schema?.schema().$defs ?? {}), 'properties');
  const own = valuesOf(all, name);
  return valuesOf([...own, ...valuesOf(own, 'items')], 'format').includes('binary');
}

function writePart({ name, text, kind }: Field): string {
  const file = kind === 'file' ? `; filename="${quoted(text)}"` : '';
  const type = { text: '', json: 'application/json', file: 'application/octet-stream' }[kind];
  const line = type === '' ? '' : `\r\nContent-Type: ${type}`;
  return `Content-Disposition: form-data; name="${quoted(name)}"${file}${line}\r\n\r\n${text}`;
}

/** As browsers do. */
function quoted(text: string): string {
  return text.replaceAll(/["\r\n]/gu, encodeURIComponent);
}

function writeParts(
  type: string,
  parts: readonly string[],
): Pick<WrittenBody, 'contentType' | 'text' | 'value'> {
  const inside = parts.join();
  let boundary = 'example';
  while (inside.includes(`--${boundary}`)) boundary += '-';
  const lines = parts.map((part) => `--${boundary}\r\n${part}\r\n`);
  const text = `${lines.join('')}--${boundary}--\r\n`;
  return { contentType: `${type}; boundary=${boundary}`, text, value: Buffer.from(text) };
}

/** Query parameters as pairs; elsewhere one pair, whose text is the whole result. */
export function writeTexts(
  parameter: Parameter,
  value: unknown,
  shape = parameter.schema?.shape(),
): [string, string][] {
  const { name, style, explode } = parameter;
  const one = (text: string): [string, string][] => [[name, text]];
  if (style === 'json') return one(JSON.stringify(value));
  const kind = kindOf(shape);
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
