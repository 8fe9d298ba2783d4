// A valid request for an operation, made so that as many of its callbacks as possible resolve: the places that callback
// keys read hold the given URL. It carries no credentials; the caller has them.
import { valueAt } from '../../core/base/pointer.ts';
import { isEventName } from '../../core/domain/pattern.ts';
import { isList } from '../document/document.ts';
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
import { type RawRequest, readRequest } from '../request/request.ts';
import type { WorkBudget } from '../schema/step-budget.ts';
import type { Validator } from '../schema/schema.ts';
import {
  type Sample,
  type WantedValue,
  anything,
  contractWork,
  exampleOf,
  sampleOf,
} from './sample.ts';
import { writeBody, writeTexts, type WrittenBody } from './write-request.ts';

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
  work: WorkBudget = contractWork(),
): RequestSample {
  const { role } = operation;
  const variants = role.kind === 'subscribe' ? role.variants : [];
  const variant =
    options.variant === undefined
      ? variants[0]
      : variants.find(({ name }) => name === options.variant);
  const needs = needsOf(operation, variant, options.callbackUrl);
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
  const body = drawn.text;
  const url = `http://localhost${wire.target}`;
  const seen = reading.variant && answered(reading.variant, { url, request: reading.message });
  return {
    kind: 'sample',
    variant: reading.variant?.name ?? '',
    ...wire,
    body,
    raw: drawn.raw,
    callbacks: (reading.variant?.callbacks ?? []).map((definition) =>
      outcomeOf(definition, { ...seen, url, request: reading.message, method: definition.method }),
    ),
  };
}

export interface RequestDraft {
  /** The required parameters, and those that the variant reads. Without a text, none is known. */
  parameters: readonly { parameter: Parameter; texts: readonly [string, string][] }[];
  /** Without a text, the body is neither JSON nor a form. */
  body: Pick<WrittenBody, 'mediaType'> | WrittenBody | undefined;
}

/** For a page that shows every operation of a document: a request that is not validated. */
export function draftRequest(
  operation: Operation,
  variant: Variant | undefined,
  work: WorkBudget,
): RequestDraft {
  // Nothing is sent there, so any URL of the document will do.
  const needs = needsOf(operation, variant, sampleUrl).map((need) =>
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

function needsOf({ role }: Operation, variant: Variant | undefined, callbackUrl: string): Need[] {
  if (variant === undefined || role.kind !== 'subscribe') return [];
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
  const { subject = [], customer = [] } = role;
  const named = [...expressionsOf(subject), ...expressionsOf(customer)];
  const asked = [...variant.needs, ...named].map((expression) => ({ expression, ...plain }));
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
  const isEchoed = variant.answer?.echoes.includes(expression.pointer[0] ?? '') === true;
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

type Drawn =
  | { kind: 'drawn'; raw: RawRequest; text: string | undefined }
  | { kind: 'none'; why: string };

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
  const options = { isShown: isRequired || wanted.length > 0, draw };
  const first = drawBody(operation.body, wanted, options);
  if (first.kind === 'none') return first;
  const lasting = lastingWants(variant, first.body?.value);
  const drawn =
    lasting.length === 0 ? first : drawBody(operation.body, [...wanted, ...lasting], options);
  if (drawn.kind === 'none') return drawn;
  const lower = texts.header.map(([name, text]): [string, string] => [name.toLowerCase(), text]);
  const { body } = drawn;
  const type = body === undefined ? [] : [['content-type', body.contentType] as const];
  const raw = {
    path: new Map(texts.path),
    query: texts.query,
    header: new Map([...lower, ...type]),
    cookie: new Map(texts.cookie),
    body: body && { mediaType: body.mediaType, value: body.value },
  };
  return { kind: 'drawn', raw, text: body?.text };
}

function bodyWants(needs: readonly Need[]): WantedValue[] {
  return needs.flatMap(({ expression, accepts, value }) =>
    expression.kind === 'body' ? [{ pointer: expression.pointer, accepts, value }] : [],
  );
}

/** Credentials in a body expire; one whose example is in the past would be refused. */
function lastingWants(variant: Variant | undefined, body: unknown): WantedValue[] {
  const additions = variant?.callbacks.flatMap((one) => one.additions) ?? [];
  return additions.flatMap(({ expires }) =>
    expires?.kind === 'body' && valueAt(body, expires.pointer) !== undefined
      ? [{ pointer: expires.pointer, accepts: (value: unknown) => value === never, value: never }]
      : [],
  );
}

const never = '9999-12-31T23:59:59Z';

function reads(expression: Need['expression'], { in: kind, name }: Parameter): boolean {
  if (expression.kind !== kind || !('name' in expression)) return false;
  return expression.name === (kind === 'header' ? name.toLowerCase() : name);
}

function writeWire(
  { method, path }: Operation,
  raw: RawRequest,
): Pick<Extract<RequestSample, { kind: 'sample' }>, 'method' | 'target' | 'headers'> {
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
  };
}

/** The input of expressions, with the answer that the request would get from Ringback. */
function answered(
  variant: Variant,
  { url, request }: { url: string; request: Message },
): Omit<ExpressionInput, 'method'> {
  if (variant.answer === undefined) return { url, request };
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

type DrawnBody = { kind: 'drawn'; body: WrittenBody | undefined } | { kind: 'none'; why: string };

function drawBody(
  body: RequestBody | undefined,
  wanted: readonly WantedValue[],
  { isShown, draw }: { isShown: boolean; draw: Draw },
): DrawnBody {
  if (body === undefined || !isShown) return { kind: 'drawn', body: undefined };
  const types = [...body.content.keys()];
  const chosen = chooseMedia(types);
  if (chosen === undefined) {
    return { kind: 'none', why: `the body is ${types.join(', ')}, expected JSON or a form` };
  }
  const schema = body.content.get(chosen.declared);
  const sample = draw(schema, wanted);
  if (sample.kind === 'none') return { kind: 'none', why: `body: ${sample.why}` };
  const encodings = body.encodings.get(chosen.declared);
  const written = writeBody(chosen.mediaType, sample.value, { schema, encodings });
  return { kind: 'drawn', body: written };
}

/** JSON if the operation accepts it, otherwise fields or parts. `declared`: the type as the document has it. */
function chooseMedia(
  types: readonly string[],
): { mediaType: string; declared: string } | undefined {
  if (types.length === 0) return { mediaType: 'application/json', declared: '' };
  const readable = types.find(isJson) ?? types.find(isRead);
  if (readable === undefined) return undefined;
  const isOpen = /^(?:application|\*)\/\*$/u.test(readable);
  const mediaType = isOpen ? 'application/json' : readable.replace('/*', '/form-data');
  return { mediaType, declared: readable };
}

/** Whether expressions can read a body of this type. */
export function isRead(mediaType: string): boolean {
  return (
    isJson(mediaType) ||
    /^(?:application\/(?:\*|x-www-form-urlencoded)|multipart\/(?:form-data|related|\*)|\*\/\*)$/u.test(
      mediaType,
    )
  );
}

/** With all wanted values if the schema allows them, otherwise with each that it allows, added one by one. */
function fulfil(
  schema: Validator | undefined,
  wanted: readonly WantedValue[],
  work: WorkBudget,
): Sample {
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
