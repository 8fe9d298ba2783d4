// Decodes bodies made of parts, which arrive as bytes. The operation decides which media types it
// accepts, so this runs after it was found.
import { type JsonBudget, jsonBudget, readJson } from '../../core/base/json.ts';
import { printPointer } from '../../core/base/pointer.ts';
import type { Fault } from '../../core/errors/problem.ts';
import { bounds } from '../document/bounds.ts';
import { type JsonObject, isList, isObject } from '../document/document.ts';
import type { Encoding, Parameter } from '../model/contract.ts';
import { essenceOf, isJson } from '../model/media.ts';
import type { Validator } from '../schema/schema.ts';
import type { Shape } from '../schema/shape.ts';
import { type TextReading, kindOf, readJsonText, readSpread, readTexts } from './read-text.ts';

export type Decoding = { kind: 'value'; value: unknown } | { kind: 'faults'; faults: Fault[] };

/**
 * Decodes the fields of multipart/form-data, or the JSON part of multipart/related; returns
 * anything else unchanged.
 */
export function decodeBody(value: unknown, contentType: string): Decoding {
  if (!(value instanceof Uint8Array)) return { kind: 'value', value };
  const essence = essenceOf(contentType);
  const isRelated = essence === 'multipart/related';
  if (!isRelated && essence !== 'multipart/form-data') return { kind: 'value', value };
  const boundary = mediaTypeParameter(contentType, 'boundary') ?? '';
  if (boundary === '' || boundary.length > bounds.boundaryCharsMax) {
    return fault('body', 'has no usable boundary, expected Content-Type to name one');
  }
  const multipart = readMultipart(value, boundary);
  if (multipart.kind === 'malformed') return fault('body', multipart.message);
  return isRelated ? decodeRoot(multipart.parts, contentType) : decodeFields(multipart.parts);
}

/** A repeated field becomes a list. */
function decodeFields(parts: readonly Part[]): Decoding {
  const values = new Map<string, unknown[]>();
  const budget = jsonBudget();
  for (const part of parts) {
    const disposition = readDisposition(part);
    if (disposition === undefined) {
      return fault('body', 'has a part without a name, expected Content-Disposition: form-data');
    }
    const { name, file } = disposition;
    // Of a file only the name is kept: no expression can read more.
    const field = file === undefined ? decodePart(part, { field: `body#/${name}`, budget }) : file;
    if (typeof field !== 'string' && field.kind === 'faults') return field;
    const list = values.get(name) ?? [];
    values.set(name, [...list, typeof field === 'string' ? field : field.value]);
  }
  const fields = [...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list]);
  return { kind: 'value', value: Object.fromEntries(fields) };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodePart(
  { header, bytes }: Part,
  { field, budget }: { field: string; budget: JsonBudget },
): Decoding {
  if (isJson(header.get('content-type') ?? '')) return decodeJson(bytes, field, budget);
  try {
    return { kind: 'value', value: utf8.decode(bytes) };
  } catch {
    return fault(field, 'is not valid UTF-8');
  }
}

/**
 * The part that `start` names, else the first. `start` and Content-ID are compared without the angle
 * brackets, which some clients leave out of one of the two.
 */
function decodeRoot(parts: readonly Part[], contentType: string): Decoding {
  const start = mediaTypeParameter(contentType, 'start');
  const named = parts.filter(({ header }) => {
    const id = header.get('content-id');
    return (
      start !== undefined && id !== undefined && withoutBrackets(id) === withoutBrackets(start)
    );
  });
  if (named.length > 1) {
    return fault('body', `has ${named.length} parts with the Content-ID ${start}, expected one`);
  }
  const root = start === undefined ? parts[0] : named[0];
  const type = root?.header.get('content-type') ?? 'none';
  const charset = mediaTypeParameter(type, 'charset');
  if (charset !== undefined && !/^(?:utf-?8|(?:us-)?ascii)$/iu.test(charset)) {
    return fault('body', `has a root part in the charset ${charset}, expected utf-8`);
  }
  if (root !== undefined && isJson(type)) return decodeJson(root.bytes, 'body');
  const found = root === undefined ? 'has no root part' : `has a root part of type ${type}`;
  return fault('body', `${found}, expected a part of type application/json`);
}

function withoutBrackets(id: string): string {
  return id.replace(/^<(.*)>$/su, '$1');
}

function decodeJson(bytes: Uint8Array, field: string, budget?: JsonBudget): Decoding {
  const reading = readJson(bytes, undefined, budget);
  return reading.kind === 'value' ? reading : fault(field, reading.message);
}

function fault(field: string, message: string): Decoding {
  return { kind: 'faults', faults: [{ field, message }] };
}

// Splits a multipart body into parts with their headers, bounded in number and size. It never
// decodes a part. Malformed input is reported in words.

interface Part {
  /** Names in lower case. */
  header: ReadonlyMap<string, string>;
  bytes: Uint8Array;
}

type Multipart = { kind: 'parts'; parts: Part[] } | { kind: 'malformed'; message: string };

export function readMultipart(bytes: Uint8Array, boundary: string): Multipart {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const line = `--${boundary}`;
  const parts: Part[] = [];
  // Anything before the first boundary is ignored, but the boundary must begin a line.
  let at = nextLine(text, { line, from: text.indexOf(line) === 0 ? -2 : 0 });
  if (at === undefined) return malformed(`has no part: expected it to start with "${line}"`);
  if (at === 'too many') return malformed(tooManyLines(line));
  while (!at.isLast) {
    const next = nextLine(text, { line, from: at.end - 2 });
    if (next === undefined) return malformed(`does not end with "${line}--"`);
    if (next === 'too many') return malformed(tooManyLines(line));
    if (parts.length >= bounds.fieldsMax) {
      return malformed(`has more than ${bounds.fieldsMax} parts`);
    }
    const part = readPart(text.subarray(at.end, Math.max(next.start, at.end)));
    if (part === undefined) return malformed('has a part without headers, or with too many');
    parts.push(part);
    at = next;
  }
  return { kind: 'parts', parts };
}

interface Line {
  /** Where the text before the boundary ends, and where the text after it begins. */
  start: number;
  end: number;
  isLast: boolean;
}

/**
 * The next boundary. Text that only begins like one is skipped, but only a bounded number of times.
 */
function nextLine(
  text: Buffer,
  { line, from }: { line: string; from: number },
): Line | 'too many' | undefined {
  const lineBreak = from < 0 ? '' : '\r\n';
  let start = Math.max(from, 0);
  for (let tries = 0; tries <= bounds.fieldsMax; tries += 1, start += 1) {
    start = text.indexOf(lineBreak + line, start);
    if (start < 0) return undefined;
    const behind = start + lineBreak.length + line.length;
    const rest = text.subarray(behind, behind + bounds.boundaryCharsMax).toString('latin1');
    const ending = /^(?:--|[ \t]*\r\n)/u.exec(rest)?.[0];
    if (ending !== undefined) {
      return { start, end: behind + ending.length, isLast: ending === '--' };
    }
    if (from < 0) return undefined;
  }
  return 'too many';
}

function tooManyLines(line: string): string {
  return (
    `has more than ${bounds.fieldsMax} lines that start with "${line}" and are not ` +
    'between parts'
  );
}

/** `multipart/form-data; boundary="x y"` → `x y`, for the name "boundary". */
export function mediaTypeParameter(contentType: string, name: string): string | undefined {
  return parametersOf(contentType).get(name);
}

/** The name of a part of multipart/form-data, and whether it is a file. */
export function readDisposition(
  part: Part,
): { name: string; file: string | undefined } | undefined {
  const text = part.header.get('content-disposition') ?? '';
  const parameters = parametersOf(text);
  const name = parameters.get('name');
  if (!/^form-data\b/iu.test(text) || name === undefined) return undefined;
  const file = parameters.get('filename');
  return { name: unescaped(name), file: file === undefined ? undefined : unescaped(file) };
}

/**
 * Names in lower case. Matched in sequence, so that quoted text is never mistaken for a parameter.
 */
function parametersOf(text: string): ReadonlyMap<string, string> {
  const pattern = /;\s*([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/gu;
  return new Map(
    [...text.matchAll(pattern)].map(([, name = '', quoted, bare = '']) => [
      name.toLowerCase(),
      quoted?.replaceAll(/\\(["\\])/gu, '$1') ?? bare,
    ]),
  );
}

/** Browsers encode quotation marks and line breaks this way. */
function unescaped(name: string): string {
  return name.replaceAll(/%(?:22|0D|0A)/giu, (code) => decodeURIComponent(code));
}

function readPart(bytes: Buffer): Part | undefined {
  const headEnd = bytes.subarray(0, 2).toString() === '\r\n' ? -2 : bytes.indexOf('\r\n\r\n');
  if (headEnd > bounds.partHeadBytesMax || headEnd === -1) return undefined;
  const header = new Map<string, string>();
  for (const line of bytes.subarray(0, Math.max(headEnd, 0)).toString().split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0)
      header.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return { header, bytes: bytes.subarray(headEnd + 4) };
}

function malformed(message: string): Multipart {
  return { kind: 'malformed', message };
}

// Reads bodies that consist of fields: forms and multipart. Each text is converted to the type in
// the schema, in the style that `encoding` declares. Undeclared fields are kept.

/** Schema and encoding of one declared media type. */
export interface FormShape {
  schema: Validator;
  encodings: ReadonlyMap<string, Encoding>;
}

export interface FormReading {
  value: unknown;
  /** Fields are JSON pointers into the value. */
  faults: Fault[];
}

/**
 * `fields`: texts by name, lists of texts for repeated fields, parsed JSON where a part was JSON.
 */
export function readForm(fields: unknown, { schema, encodings }: FormShape): FormReading {
  if (!isObject(fields)) return { value: fields, faults: [] };
  const shape = schema.shape();
  const declared = new Set(shape.properties);
  const budget = jsonBudget();
  const reader: Reader = { fields, encodings, shape, declared, used: new Set(), budget };
  const spread = shape.properties.flatMap((name) => readSpreadOut(name, reader));
  const given = Object.keys(fields).filter((name) => !reader.used.has(name));
  const readings = [...spread, ...given.map((name) => readField(name, reader))];
  const values = readings.map(({ name, reading }): [string, unknown] => [
    name,
    reading.kind === 'value' ? reading.value : fields[name],
  ]);
  const faults = readings.flatMap(({ name, reading }) =>
    reading.kind === 'value' ? [] : reading.faults.map((one) => below(name, one)),
  );
  return { value: Object.fromEntries(values), faults };
}

interface Reader {
  fields: JsonObject;
  encodings: ReadonlyMap<string, Encoding>;
  shape: Shape;
  /** The properties of the shape. */
  declared: ReadonlySet<string>;
  /** Names of fields that are parts of others. */
  used: Set<string>;
  /** Shared by all fields that are JSON. */
  budget: JsonBudget;
}

interface Named {
  name: string;
  reading: TextReading;
}

/** A value that is spread over several fields: `a[b]=1&a[c]=2`, `list[]=1`, or `b=1&c=2`. */
function readSpreadOut(
  name: string,
  { fields, encodings, shape, declared, used }: Reader,
): Named[] {
  if (Object.hasOwn(fields, name)) return [];
  const inner = shape.property(name);
  const kind = kindOf(inner);
  const parameter = parameterFor(name, encodings.get(name));
  if (kind === 'list') {
    const field = `${name}[]`;
    if (!Object.hasOwn(fields, field)) return [];
    used.add(field);
    return [{ name, reading: readTexts(textsOf(fields[field]), parameter, inner) }];
  }
  if (kind !== 'object') return [];
  const isBracketed = (key: string): boolean => key.startsWith(`${name}[`);
  const inside = new Set(inner.properties);
  const isSpread = (key: string): boolean => inside.has(key) && !declared.has(key);
  const style = Object.keys(fields).some(isBracketed) ? 'deepObject' : parameter.style;
  if (style !== 'deepObject' && !parameter.explode) return [];
  const keys = Object.keys(fields).filter(style === 'deepObject' ? isBracketed : isSpread);
  const pairs = keys.flatMap((key) => textsOf(fields[key]).map((text) => [key, text] as const));
  const reading = readSpread(pairs, { ...parameter, style }, inner);
  if (reading === undefined) return [];
  for (const key of keys) used.add(key);
  return [{ name, reading }];
}

function readField(name: string, { fields, encodings, shape, budget }: Reader): Named {
  const field = fields[name];
  const texts = textsOf(field);
  if (texts.length === 0) return { name, reading: { kind: 'value', value: field } };
  const inner = shape.property(name);
  if (inner.types.size === 0) return { name, reading: { kind: 'value', value: field } };
  const encoding = encodings.get(name);
  if (isJson(encoding?.contentType ?? '') || texts.every(looksLikeJson(inner))) {
    return { name, reading: readAllJson(texts, inner, budget) };
  }
  return { name, reading: readTexts(texts, parameterFor(name, encoding), inner) };
}

/** Empty for a field that was JSON. */
function textsOf(field: unknown): string[] {
  const list: readonly unknown[] = isList(field) ? field : [field];
  return list.every((one) => typeof one === 'string') ? list.map(String) : [];
}

/** Objects and lists of objects can only be written in a field as JSON. */
function looksLikeJson(shape: Shape): (text: string) => boolean {
  const kind = kindOf(shape);
  const isStructured = kind === 'object' || (kind === 'list' && kindOf(shape.items()) === 'object');
  return (text) => isStructured && /^\s*[{[]/u.test(text);
}

function readAllJson(texts: readonly string[], shape: Shape, budget: JsonBudget): TextReading {
  const [text = '', ...others] = texts;
  const first = readJsonText(text, budget);
  if (first.kind === 'faults') return first;
  const isListOfOthers = kindOf(shape) === 'list' && !isList(first.value);
  if (others.length === 0) {
    return isListOfOthers ? { kind: 'value', value: [first.value] } : first;
  }
  const readings = others.map((other) => readJsonText(other, budget));
  const bad = readings.find(({ kind }) => kind === 'faults');
  if (bad !== undefined) return bad;
  const values = readings.flatMap((one) => (one.kind === 'value' ? [one.value] : []));
  return { kind: 'value', value: [first.value, ...values] };
}

function parameterFor(name: string, encoding: Encoding | undefined): Parameter {
  const style = encoding?.style ?? 'form';
  const explode = encoding?.explode ?? (style === 'form' || style === 'deepObject');
  const others = { required: false, mayBeEmpty: false, schema: undefined } as const;
  return { name, in: 'query', style, explode, ...others };
}

function below(name: string, { field, message }: Fault): Fault {
  return { field: printPointer([name]) + field, message };
}
