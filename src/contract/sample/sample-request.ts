// A valid request for an operation, made so that as many of its callbacks as possible resolve: the places that callback
// keys read hold the given URL. It carries no credentials; the caller has them.
import { isEventName } from '../../core/domain/pattern.ts';
import { isList, isObject } from '../document/document.ts';
import { type ExpressionInput, type Message, evaluate } from '../expression/evaluate.ts';
import type { Expression } from '../expression/expression.ts';
import { buildTargets } from '../expression/target.ts';
import { type Template, expressionsOf } from '../expression/template.ts';
import type {
  CallbackDefinition,
  Operation,
  Parameter,
  RequestBody,
  Variant,
} from '../model/contract.ts';
import { isJson } from '../model/media.ts';
import { composeAnswer, messageOf } from '../request/answer.ts';
import { kindOf } from '../request/read-text.ts';
import { type RawRequest, readRequest } from '../request/request.ts';
import type { Work } from '../schema/meter.ts';
import type { Validator } from '../schema/schema.ts';
import {
  type Sample,
  type WantedValue,
  anything,
  contractWork,
  exampleOf,
  sampleOf,
} from './sample.ts';

export interface SampleOptions {
  /** Where callbacks should go. */
  callbackUrl: string;
  /** The variant to call; otherwise the first one. */
  variant?: string;
}

export type RequestSample =
  | {
      kind: 'sample';
      variant: string;
      /** As it is sent, like the members below. */
      method: string;
      /** Path and query, encoded. */
      target: string;
      /** Names in lower case, with `cookie` and `content-type` if there are any. */
      headers: Readonly<Record<string, string>>;
      body: string | undefined;
      /** As the service reads it. */
      raw: RawRequest;
      callbacks: readonly SampledCallback[];
    }
  | { kind: 'none'; why: string };

/** What happens to one callback of the operation when the request is sent. */
export interface SampledCallback {
  definition: CallbackDefinition;
  /** Several if the key is a list; may contain `{eventType}`. */
  urls: readonly string[];
  /** The event pattern that it matches. */
  event: string | undefined;
  /** Why it is not registered. */
  inactive: string | undefined;
}

export function sampleRequest(
  operation: Operation,
  options: SampleOptions,
  work: Work = contractWork(),
): RequestSample {
  const { role } = operation;
  const variants = role.kind === 'subscribe' ? role.variants : [];
  const variant =
    options.variant === undefined
      ? variants[0]
      : variants.find(({ name }) => name === options.variant);
  const needs = needsOf(variant, options.callbackUrl);
  const draw: Draw = (schema, wanted) => fulfil(schema, wanted, work);
  const drawn = drawRaw(operation, { needs, variant, draw });
  if (drawn.kind === 'none') return drawn;
  const reading = readRequest(operation, drawn.raw);
  if (reading.kind === 'unsupported') {
    return { kind: 'none', why: `the body would be ${reading.mediaType}, which is not accepted` };
  }
  if (reading.kind !== 'valid') {
    const [first] = reading.faults;
    return {
      kind: 'none',
      why: `the request would be rejected: ${first?.field} ${first?.message}`,
    };
  }
  const wire = writeWire(operation, drawn.raw);
  const url = `http://localhost${wire.target}`;
  const seen = reading.variant && answered(reading.variant, { url, request: reading.message });
  return {
    kind: 'sample',
    variant: reading.variant?.name ?? '',
    ...wire,
    raw: drawn.raw,
    callbacks: (reading.variant?.callbacks ?? []).map((definition) =>
      outcomeOf(definition, { ...seen, url, request: reading.message, method: definition.method }),
    ),
  };
}

export interface RequestDraft {
  /** The required parameters, and those that the variant reads. Without a text, none is known. */
  parameters: readonly { parameter: Parameter; texts: readonly [string, string][] }[];
  /** Without a value, the body is neither JSON nor a form. */
  body: { mediaType: string; value?: unknown } | undefined;
}

/** For a page that shows every operation of a document: a request that is not validated. */
export function draftRequest(
  operation: Operation,
  variant: Variant | undefined,
  work: Work,
): RequestDraft {
  // Nothing is sent there, so any URL of the document will do.
  const needs = needsOf(variant, sampleUrl).map((need) =>
    need.value === sampleUrl
      ? { ...need, accepts: (it: unknown) => isUrl(it) || isListOf(it, isUrl) }
      : need,
  );
  const draw: Draw = (schema = anything, wanted) =>
    exampleOf(schema.described, { wanted, shows: 'request', isBrief: true, work });
  const parameters = drawParameters(operation, needs, draw).map(({ parameter, sample }) => ({
    parameter,
    texts: sample.kind === 'none' ? [] : writeTexts(parameter, sample.value),
  }));
  const wanted = bodyWants(needs);
  const isShown = (variant?.name ?? '') === '' || wanted.length > 0;
  const drawn = drawBody(operation.body, wanted, { isShown, draw });
  const [mediaType = 'application/json'] = operation.body?.content.keys() ?? [];
  return { parameters, body: drawn.kind === 'none' ? { mediaType } : drawn.body };
}

/** An expression that reads from the request, and the value that it should find. */
interface Need {
  expression: Extract<Expression, { from: string }>;
  accepts: (value: unknown) => boolean;
  value: string;
}

function needsOf(variant: Variant | undefined, callbackUrl: string): Need[] {
  if (variant === undefined) return [];
  const isTarget = (value: unknown): boolean => value === callbackUrl || isListOf(value, isTarget);
  const url = { accepts: isTarget, value: callbackUrl };
  const event = { accepts: isEvent, value: 'example' };
  const found = variant.callbacks.flatMap(({ target = [], event: name }) => [
    ...target.flatMap((part, index) =>
      part.kind === 'expression'
        ? [{ expression: part.expression, ...(index === 0 ? url : plain) }]
        : [],
    ),
    ...expressionsOf(name).map((expression) => ({ expression, ...event })),
  ]);
  const asked = variant.needs.map((expression) => ({ expression, ...plain }));
  return [...found, ...asked].flatMap(({ expression, ...rest }) => {
    const inRequest = requestSide(expression, variant);
    return inRequest === undefined ? [] : [{ expression: inRequest, ...rest }];
  });
}

/** The place in the request; for an expression on the answer, the place in the request that the answer echoes. */
function requestSide(expression: Expression, variant: Variant): Need['expression'] | undefined {
  if (!('from' in expression)) return undefined;
  if (expression.from === 'request') return expression;
  if (expression.kind !== 'body') return undefined;
  const isEchoed = variant.answer.echoes.includes(expression.pointer[0] ?? '');
  return isEchoed ? { ...expression, from: 'request' } : undefined;
}

const sampleUrl = 'https://example.com/callback';

const plain = { accepts: isPlain, value: 'string' };

function isPlain(value: unknown): boolean {
  return value !== '' && ['string', 'number', 'boolean'].includes(typeof value);
}

function isEvent(value: unknown): boolean {
  return typeof value === 'string' && isEventName(value);
}

function isListOf(value: unknown, isOne: (value: unknown) => boolean): boolean {
  return isList(value) && value.length > 0 && value.every(isOne);
}

/** Makes one value of the request. */
type Draw = (schema: Validator | undefined, wanted: readonly WantedValue[]) => Sample;

interface DrawnParameter {
  parameter: Parameter;
  sample: Sample;
}

/** The required parameters, and those that the variant reads. */
function drawParameters(
  { parameters }: Operation,
  needs: readonly Need[],
  draw: Draw,
): DrawnParameter[] {
  return parameters.flatMap((parameter) => {
    const own = needs.filter(({ expression }) => reads(expression, parameter));
    if (!parameter.required && own.length === 0) return [];
    // A parameter without a declared type is read as text.
    const isFree = (parameter.schema?.shape().types.size ?? 0) === 0;
    const asked = own.length === 0 && isFree ? [plain] : own;
    const wanted = asked.map(({ accepts, value }) => ({ pointer: [], accepts, value }));
    return [{ parameter, sample: draw(parameter.schema, wanted) }];
  });
}

type Drawn = { kind: 'drawn'; raw: RawRequest } | { kind: 'none'; why: string };

function drawRaw(
  operation: Operation,
  { needs, variant, draw }: { needs: readonly Need[]; variant: Variant | undefined; draw: Draw },
): Drawn {
  const texts: Record<Parameter['in'], [string, string][]> = {
    path: [],
    query: [],
    header: [],
    cookie: [],
  };
  for (const { parameter, sample } of drawParameters(operation, needs, draw)) {
    const { in: kind, name } = parameter;
    if (sample.kind === 'none') return { kind: 'none', why: `${kind} ${name}: ${sample.why}` };
    texts[kind].push(...writeTexts(parameter, sample.value));
  }
  const wanted = bodyWants(needs);
  const isRequired = operation.body?.required === true && (variant?.name ?? '') === '';
  const drawn = drawBody(operation.body, wanted, {
    isShown: isRequired || wanted.length > 0,
    draw,
  });
  if (drawn.kind === 'none') return drawn;
  const lower = texts.header.map(([name, text]): [string, string] => [name.toLowerCase(), text]);
  const type = drawn.body === undefined ? [] : [['content-type', drawn.body.mediaType] as const];
  const raw = {
    path: new Map(texts.path),
    query: texts.query,
    header: new Map([...lower, ...type]),
    cookie: new Map(texts.cookie),
    body: drawn.body,
  };
  return { kind: 'drawn', raw };
}

function bodyWants(needs: readonly Need[]): WantedValue[] {
  return needs.flatMap(({ expression, accepts, value }) =>
    expression.kind === 'body' ? [{ pointer: expression.pointer, accepts, value }] : [],
  );
}

function reads(expression: Need['expression'], { in: kind, name }: Parameter): boolean {
  if (expression.kind !== kind || !('name' in expression)) return false;
  return expression.name === (kind === 'header' ? name.toLowerCase() : name);
}

type Wire = Pick<
  Extract<RequestSample, { kind: 'sample' }>,
  'method' | 'target' | 'headers' | 'body'
>;

function writeWire({ method, path }: Operation, raw: RawRequest): Wire {
  const filled = path.replaceAll(/\{([^{}]+)\}/gu, (_whole, name: string) =>
    encodeURIComponent(raw.path.get(name) ?? ''),
  );
  const query = raw.query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
  const cookie = [...raw.cookie].map((pair) => pair.join('=')).join('; ');
  const headers = Object.fromEntries(raw.header);
  return {
    method,
    target: query === '' ? filled : `${filled}?${query}`,
    headers: cookie === '' ? headers : { ...headers, cookie },
    body: raw.body && writeBody(raw.body),
  };
}

/** The input of expressions, with the answer that the request would get. */
function answered(
  variant: Variant,
  { url, request }: { url: string; request: Message },
): Omit<ExpressionInput, 'method'> {
  const id = 'sub_00000000000000000000000001';
  const answer = composeAnswer(variant.answer, { request, id, secret: '', url });
  return { url, statusCode: answer.status, request, response: messageOf(answer, url) };
}

function outcomeOf(definition: CallbackDefinition, exchange: ExpressionInput): SampledCallback {
  const event = textOf(definition.event, exchange);
  if (definition.target === undefined) {
    return { definition, urls: [], event, inactive: definition.inactive };
  }
  const targets = buildTargets(definition.target, exchange);
  const urls = targets.flatMap((one) => (one.kind === 'url' ? [one.url] : []));
  const reasons = targets.flatMap((one) => (one.kind === 'url' ? [] : [one.reason]));
  return { definition, urls, event, inactive: urls.length > 0 ? undefined : reasons.join('; ') };
}

function textOf(template: Template, exchange: ExpressionInput): string | undefined {
  let text = '';
  for (const part of template) {
    if (part.kind === 'text') {
      text += part.text;
      continue;
    }
    const value = evaluate(part.expression, exchange);
    if (value.kind !== 'value') return undefined;
    text += value.text;
  }
  return text;
}

type DrawnBody = { kind: 'drawn'; body: RawRequest['body'] } | { kind: 'none'; why: string };

function drawBody(
  body: RequestBody | undefined,
  wanted: readonly WantedValue[],
  { isShown, draw }: { isShown: boolean; draw: Draw },
): DrawnBody {
  if (body === undefined || !isShown) return { kind: 'drawn', body: undefined };
  const chosen = chooseMedia(body.content);
  if (chosen === undefined) {
    const types = [...body.content.keys()].join(', ');
    return { kind: 'none', why: `the body is ${types}, expected JSON or a form` };
  }
  const sample = draw(chosen.schema, wanted);
  if (sample.kind === 'none') return { kind: 'none', why: `body: ${sample.why}` };
  const value = isForm(chosen.mediaType) ? formOf(sample.value) : sample.value;
  return { kind: 'drawn', body: { mediaType: chosen.mediaType, value } };
}

/** JSON if the operation accepts it, otherwise a form. */
function chooseMedia(
  content: RequestBody['content'],
): { mediaType: string; schema: Validator | undefined } | undefined {
  if (content.size === 0) return { mediaType: 'application/json', schema: undefined };
  for (const [type, schema] of content) if (isJson(type)) return { mediaType: type, schema };
  for (const [type, schema] of content) {
    if (/^(?:application|\*)\/\*$/u.test(type)) return { mediaType: 'application/json', schema };
    if (isForm(type)) return { mediaType: type, schema };
  }
  return undefined;
}

/** Whether expressions can read a body of this type. */
export function isRead(mediaType: string): boolean {
  return (
    isJson(mediaType) ||
    isForm(mediaType) ||
    /^(?:application\/\*|multipart\/(?:form-data|related|\*)|\*\/\*)$/u.test(mediaType)
  );
}

function isForm(mediaType: string): boolean {
  return mediaType === 'application/x-www-form-urlencoded';
}

function formOf(value: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).map(([name, field]) => [
      name,
      isList(field) ? field.map(fieldText) : fieldText(field),
    ]),
  );
}

function fieldText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The body as it is sent. */
export function writeBody({ mediaType, value }: NonNullable<RawRequest['body']>): string {
  if (!isForm(mediaType)) return JSON.stringify(value);
  const pairs = Object.entries(isObject(value) ? value : {}).flatMap(([name, field]) =>
    [field].flat().map((text): [string, string] => [name, String(text)]),
  );
  return new URLSearchParams(pairs).toString();
}

/** With all wanted values if the schema allows them, otherwise with each that it allows, added one by one. */
function fulfil(schema: Validator | undefined, wanted: readonly WantedValue[], work: Work): Sample {
  const validator = schema ?? anything;
  const whole = sampleOf(validator, work, wanted);
  if (whole.kind === 'sample' || wanted.length === 0) return whole;
  let best = sampleOf(validator, work);
  const kept: WantedValue[] = [];
  for (const want of wanted) {
    const milder = { ...want, accepts: isUrl, value: sampleUrl };
    for (const one of isUrl(want.value) ? [want, milder] : [want]) {
      const sample = best.kind === 'none' ? best : sampleOf(validator, work, [...kept, one]);
      if (sample.kind === 'none') continue;
      best = sample;
      kept.push(one);
      break;
    }
  }
  return best;
}

function isUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\/[^/]/iu.test(value);
}

// Prints the text of a parameter, in any OpenAPI style: the inverse of read-text.ts.

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
