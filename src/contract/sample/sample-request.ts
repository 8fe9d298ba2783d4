// A valid request for an operation, made so that as many of its callbacks as possible resolve: the
// places that callback keys read hold the given URL. It carries no credentials; the caller has them.
import { isEventName } from '../../core/domain/pattern.ts';
import { isList } from '../document/document.ts';
import { evaluate, type ExpressionInput, type Message } from '../expression/evaluate.ts';
import type { Expression } from '../expression/expression.ts';
import { buildTargets } from '../expression/target.ts';
import { expressionsOf, type Template } from '../expression/template.ts';
import type { CallbackDefinition, Operation, Parameter, Variant } from '../model/contract.ts';
import { composeAnswer, messageOf } from '../request/answer.ts';
import { readRequest, type RawRequest } from '../request/request.ts';
import type { Work } from '../schema/meter.ts';
import { drawBody, fulfil, writeBody } from './sample-body.ts';
import { contractWork } from './sample.ts';
import { writeTexts } from './write-text.ts';

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
  const drawn = drawRaw(operation, { needs, variant, work });
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

type Drawn = { kind: 'drawn'; raw: RawRequest } | { kind: 'none'; why: string };

interface Asked {
  needs: readonly Need[];
  variant: Variant | undefined;
  work: Work;
}

function drawRaw({ parameters, body }: Operation, { needs, variant, work }: Asked): Drawn {
  const texts: Record<Parameter['in'], [string, string][]> = {
    path: [],
    query: [],
    header: [],
    cookie: [],
  };
  for (const parameter of parameters) {
    const { in: kind, name, schema, required } = parameter;
    const own = needs.filter(({ expression }) => reads(expression, parameter));
    if (!required && own.length === 0) continue;
    // A parameter without a declared type is read as text.
    const isFree = (schema?.shape().types.size ?? 0) === 0;
    const asked = own.length === 0 && isFree ? [plain] : own;
    const wishes = asked.map(({ accepts, value }) => ({ pointer: [], accepts, value }));
    const sample = fulfil(schema, wishes, work);
    if (sample.kind === 'none') return { kind: 'none', why: `${kind} ${name}: ${sample.why}` };
    texts[kind].push(...writeTexts(parameter, sample.value));
  }
  const bodyWishes = needs.flatMap(({ expression, accepts, value }) =>
    expression.kind === 'body' ? [{ pointer: expression.pointer, accepts, value }] : [],
  );
  const drawn = drawBody(body, bodyWishes, { variant, work });
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
  const id = 'sub_00000000000000000000000000';
  const answer = composeAnswer(variant.answer, { request, id, secret: '' });
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
