// Reads bodies that consist of fields: forms and multipart. Each text is converted to the type in
// the schema, in the style that `encoding` declares. Undeclared fields are kept.
import { jsonBudget, type JsonBudget } from '../../core/base/json.ts';
import type { Fault } from '../../core/errors/problem.ts';
import { printPointer } from '../../core/base/pointer.ts';
import type { Encoding, Parameter } from '../model/contract.ts';
import { isList, isObject } from '../document/document.ts';
import type { JsonObject } from '../document/document.ts';
import { isJson } from '../model/media.ts';
import { kindOf, readJsonText, readSpread, readTexts } from './read-text.ts';
import type { TextReading } from './read-text.ts';
import type { Validator } from '../schema/schema.ts';
import type { Shape } from '../schema/shape.ts';

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
    reading.kind === 'value' ? [] : reading.faults.map((fault) => below(name, fault)),
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

function below(name: string, fault: Fault): Fault {
  return { ...fault, field: printPointer([name]) + fault.field };
}
