// Reads a request against an operation: parameters first, then the variant, then the body. That
// order gives the most helpful message. Never throws, whatever the request contains.
import { guess } from '../../core/errors/did-you-mean.ts';
import type { Fault } from '../../core/errors/problem.ts';
import { redact } from '../../core/secrets/redact.ts';
import { bounds } from '../document/bounds.ts';
import type { Message } from '../expression/evaluate.ts';
import type { Encoding, Operation, Parameter, Variant } from '../model/contract.ts';
import { coveringType, essenceOf, isJson } from '../model/media.ts';
import { chooseVariant } from '../model/variants.ts';
import type { WorkBudget } from '../schema/step-budget.ts';
import { checkWithin, type Validator } from '../schema/schema.ts';
import { decodeBody, readForm, type FormShape } from './decode-body.ts';
import { kindOf, readSpread, readTexts, type TextReading } from './read-text.ts';

/** A request as received, only split and decoded. */
export interface RawRequest {
  path: ReadonlyMap<string, string>;
  /** In order, including repetitions. */
  query: readonly (readonly [string, string])[];
  /** Names in lower case. */
  header: ReadonlyMap<string, string>;
  cookie: ReadonlyMap<string, string>;
  /** The parsed JSON, the fields of a form, or the bytes; undefined when there is none. */
  body: { mediaType: string; value: unknown } | undefined;
}

export type Reading =
  /** `variant` is that of a subscribe operation. */
  | { kind: 'valid'; message: Message; variant: Variant | undefined }
  /** `message`: what could be read of it, without the parameters that are wrong. */
  | { kind: 'invalid'; faults: Fault[]; message: Message; variant: Variant | undefined }
  /** `detail` is a sentence about the whole request. */
  | { kind: 'no_variant'; detail: string; faults: Fault[]; message: Message }
  | { kind: 'unsupported'; mediaType: string; offered: readonly string[] };

export function readRequest(operation: Operation, raw: RawRequest): Reading {
  const body = readBody(operation, raw);
  if (body.kind === 'unsupported') return body;
  const work = { left: bounds.requestStepsMax };
  const { message, faults } = readParameters(operation, raw, { body: body.value, work });
  const variants = operation.role.kind === 'subscribe' ? operation.role.variants : undefined;
  let variant: Variant | undefined;
  if (variants !== undefined) {
    const hasVariants = variants.some(({ name }) => name !== '');
    const choice = chooseVariant(operation, variants, message);
    if (choice.kind === 'chosen') variant = choice.variant;
    if (hasVariants && faults.length > 0) return invalid(faults, { message, variant });
    if (choice.kind !== 'chosen') return { ...choice, kind: 'no_variant', message };
  }
  faults.push(...body.check(work));
  const read = { message, variant };
  return faults.length === 0 ? { kind: 'valid', ...read } : invalid(faults, read);
}

function invalid(
  faults: readonly Fault[],
  read: { message: Message; variant: Variant | undefined },
): Reading {
  return { kind: 'invalid', faults: faults.slice(0, bounds.faultsMax), ...read };
}

function readParameters(
  operation: Operation,
  raw: RawRequest,
  { body, work }: { body: unknown; work: WorkBudget },
): { message: Message; faults: Fault[] } {
  const { parameters } = operation;
  const faults = unknownQueryFaults(operation, raw);
  const header = new Map<string, string>();
  for (const name of ['accept', 'content-type']) {
    const text = raw.header.get(name);
    if (text !== undefined) header.set(name, text);
  }
  const values = { path: new Map<string, unknown>(), query: new Map<string, unknown>() };
  for (const parameter of parameters) {
    const { in: kind, name } = parameter;
    const reading = readParameter(parameter, raw, work);
    if (reading.kind === 'faults') {
      faults.push(...reading.faults.map((one) => prefixed(`${kind}.${name}`, one)));
    } else if (reading.value !== undefined) {
      if (kind === 'path' || kind === 'query') values[kind].set(name, reading.value);
      if (kind === 'header') header.set(name.toLowerCase(), headerText(reading.value, raw, name));
    }
  }
  return { message: { header, ...values, body }, faults };
}

/**
 * A misspelled filter would otherwise be ignored, and the response would contain what it should
 * have excluded.
 */
function unknownQueryFaults(operation: Operation, { query }: RawRequest): Fault[] {
  const { operationId, hasStrictQuery, parameters, schemes } = operation;
  if (!hasStrictQuery || query.length === 0) return [];
  const declared = parameters.filter((one) => one.in === 'query');
  if (declared.some(takesAnyName)) return [];
  const names = declared.map(({ name }) => name);
  const credentials = schemes.flatMap(({ carrier }) =>
    carrier.in === 'query' ? [carrier.name] : [],
  );
  const given = new Set(query.map(([name]) => name));
  return [...given]
    .filter((name) => !names.includes(name) && !credentials.includes(name))
    .map((name) => {
      const hint = names.length === 0 ? 'which has none' : guess(name, names);
      const field = `query.${redact(name)}`;
      return { field, message: `is not a query parameter of ${operationId}, ${hint}` };
    });
}

/** An object whose properties are query parameters of their own: any name may be one of them. */
function takesAnyName(parameter: Parameter): boolean {
  const { style, explode, schema } = parameter;
  return style === 'form' && explode && schema !== undefined && kindOf(schema.shape()) === 'object';
}

/** Headers are exposed as received; a default as its text. */
function headerText(value: unknown, raw: RawRequest, name: string): string {
  const given = raw.header.get(name.toLowerCase());
  return given ?? (typeof value === 'string' ? value : JSON.stringify(value));
}

/** The value, or undefined when it is absent and optional. */
function readParameter(parameter: Parameter, raw: RawRequest, work: WorkBudget): TextReading {
  const { schema, required } = parameter;
  const shape = schema?.shape();
  const reading = readGiven(parameter, raw);
  if (reading === undefined) {
    if (shape?.default !== undefined) return { kind: 'value', value: shape.default };
    if (!required) return { kind: 'value', value: undefined };
    return { kind: 'faults', faults: [{ field: '', message: 'is required' }] };
  }
  if (reading.kind === 'faults' || schema === undefined) return reading;
  const faults = checkWithin(schema, reading.value, work);
  return faults.length === 0 ? reading : { kind: 'faults', faults };
}

function readGiven(parameter: Parameter, raw: RawRequest): TextReading | undefined {
  const { in: kind, style, explode, schema, mayBeEmpty } = parameter;
  const shape = schema?.shape();
  const isSpread = kind === 'query' && style !== 'json' && (style === 'deepObject' || explode);
  if (isSpread && shape !== undefined && kindOf(shape) === 'object') {
    return readSpread(raw.query, parameter, shape);
  }
  const texts = textsOf(parameter, raw);
  if (texts.length === 0) return undefined;
  const isEmpty = texts.length === 1 && texts[0] === '';
  if (isEmpty && mayBeEmpty && shape?.types.has('string') === false) return undefined;
  return readTexts(texts, parameter, shape);
}

function textsOf({ in: kind, name }: Parameter, raw: RawRequest): readonly string[] {
  if (kind === 'query') return raw.query.filter(([key]) => key === name).map(([, text]) => text);
  const text = raw[kind].get(kind === 'header' ? name.toLowerCase() : name);
  return text === undefined ? [] : [text];
}

type BodyReading =
  | { kind: 'read'; value: unknown; check: (work: WorkBudget) => Fault[] }
  | Extract<Reading, { kind: 'unsupported' }>;

function readBody({ body }: Operation, raw: RawRequest): BodyReading {
  if (body === undefined) return { kind: 'read', value: undefined, check: () => [] };
  if (raw.body === undefined) {
    const missing = body.required ? [{ field: 'body', message: 'is required' }] : [];
    return { kind: 'read', value: undefined, check: () => missing };
  }
  const { mediaType } = raw.body;
  const type = coveringType(body.content, mediaType);
  if (type === undefined && body.content.size > 0) {
    return { kind: 'unsupported', mediaType, offered: [...body.content.keys()] };
  }
  const decoded = decodeBody(raw.body.value, raw.header.get('content-type') ?? mediaType);
  if (decoded.kind === 'faults') {
    return { kind: 'read', value: undefined, check: () => decoded.faults };
  }
  const { value } = decoded;
  const schema = type === undefined ? undefined : body.content.get(type);
  if (schema === undefined) return { kind: 'read', value, check: () => [] };
  const encodings = body.encodings.get(type ?? '') ?? new Map<string, Encoding>();
  return readAs(essenceOf(mediaType), value, { schema, encodings });
}

function bodyFaults(schema: Validator, value: unknown, work: WorkBudget): Fault[] {
  return checkWithin(schema, value, work).map((one) => prefixed('body', one));
}

/** For other media types than these, a schema describes bytes, so it is not checked. */
function readAs(mediaType: string, value: unknown, shape: FormShape): BodyReading {
  if (/^(?:application\/x-www-form-urlencoded|multipart\/form-data)$/u.test(mediaType)) {
    const form = readForm(value, shape);
    const faults = form.faults.map((one) => prefixed('body', one));
    const check = (work: WorkBudget): Fault[] =>
      faults.length > 0 ? faults : bodyFaults(shape.schema, form.value, work);
    return { kind: 'read', value: form.value, check };
  }
  // For multipart/related, value and schema are those of the JSON part.
  const isChecked = isJson(mediaType) || mediaType === 'multipart/related';
  if (!isChecked) return { kind: 'read', value, check: () => [] };
  return { kind: 'read', value, check: (work) => bodyFaults(shape.schema, value, work) };
}

/** `body` and `/name` make `body#/name`; `query.ids` and `/0` make `query.ids/0`. */
function prefixed(field: string, fault: Fault): Fault {
  const hash = field === 'body' && fault.field !== '' ? '#' : '';
  return { ...fault, field: field + hash + fault.field };
}
