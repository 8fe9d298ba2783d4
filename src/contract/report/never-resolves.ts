// Decides from the document alone whether a callback can ever get a URL from a subscriber. A sample
// request cannot decide it: samples contain whatever a callback key reads.
import { valueAt } from '../../core/base/pointer.ts';
import { isList, isObject, own, type JsonObject } from '../document/document.ts';
import { printExpression, type Expression } from '../expression/expression.ts';
import { templateFault } from '../expression/target.ts';
import type { CallbackDefinition, Operation, Variant } from '../model/contract.ts';
import { isRead } from '../sample/sample-request.ts';
import type { Validator } from '../schema/schema.ts';

interface Holder {
  operation: Operation;
  variant: Variant;
}

/** Why no valid request can register the callback; undefined when one can. */
export function neverRegistered(
  { target, inactive }: CallbackDefinition,
  holder: Holder,
): string | undefined {
  if (target === undefined) return inactive;
  const fault = templateFault(target) ?? hostFault(target[0]);
  if (fault !== undefined) return fault;
  for (const [index, part] of target.entries()) {
    if (part.kind === 'text') continue;
    const reason = neverResolves(part.expression, { ...holder, isUrl: index === 0 });
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** `https://$request.query.host/x`: an expression without braces is text, and no host name. */
function hostFault(
  first: NonNullable<CallbackDefinition['target']>[number] | undefined,
): string | undefined {
  if (first?.kind !== 'text') return undefined;
  const host = URL.parse(first.text)?.hostname ?? '';
  return host.includes('$')
    ? `the host is "${host}"; expected an expression in braces, such as "{$request.body#/url}"`
    : undefined;
}

interface Use extends Holder {
  /** The expression is the start of the URL. */
  isUrl: boolean;
}

function neverResolves(expression: Expression, use: Use): string | undefined {
  const { operation, variant, isUrl } = use;
  const source = printExpression(expression);
  const onlyServer =
    `"${source}" is known only to the server; expected a URL that the subscribe request ` +
    'contains, such as "{$request.body#/url}"';
  if (!('from' in expression)) return isUrl ? onlyServer : undefined;
  if (expression.from === 'request') return notInRequest(expression, use);
  if (variant.answer === undefined && expression.kind !== 'path' && expression.kind !== 'query') {
    return undefined; // Only the API knows what it answers.
  }
  if (expression.kind === 'header') {
    if (isUrl) return onlyServer;
    const isMade = expression.name === 'location' && variant.answer?.location !== undefined;
    return isMade ? undefined : `the response has no header "${expression.name}"`;
  }
  if (expression.kind !== 'body' || variant.answer === undefined) {
    return `a response has no ${expression.kind} parameters`;
  }
  const { idPointers, secretPointer, echoes } = variant.answer;
  const isMade = [...idPointers, ...(secretPointer === undefined ? [] : [secretPointer])].some(
    (one) => one.join('/') === expression.pointer.join('/'),
  );
  if (isMade) return isUrl ? onlyServer : undefined;
  const isEchoed = echoes.includes(expression.pointer[0] ?? '');
  if (!isEchoed) return onlyServer;
  const inRequest = { ...expression, from: 'request' } as const;
  return notInRequest(inRequest, { ...use, operation }) === undefined ? undefined : onlyServer;
}

type InRequest = Extract<Expression, { from: string }>;

function notInRequest(expression: InRequest, { operation, isUrl }: Use): string | undefined {
  const { parameters, body } = operation;
  if (expression.kind !== 'body') {
    const { kind, name } = expression;
    if (kind === 'header' && (name === 'accept' || name === 'content-type')) return undefined;
    if (kind === 'path' && name === 'eventType') return undefined;
    const isDeclared = parameters.some(
      (one) => one.in === kind && (kind === 'header' ? one.name.toLowerCase() : one.name) === name,
    );
    const noun = kind === 'header' ? 'header' : `${kind} parameter`;
    return isDeclared ? undefined : `the request has no ${noun} "${name}"`;
  }
  if (body === undefined) return 'the request has no body';
  const content = [...body.content];
  const read = content.filter(([type]) => isRead(type));
  if (content.length > 0 && read.length === 0) {
    const types = content.map(([type]) => type).join(' or ');
    return `the request body is ${types}, and only JSON and forms are read`;
  }
  const { pointer } = expression;
  const reasons = read.map(([, schema]) => schema && undeclared(schema, pointer, isUrl));
  return reasons.includes(undefined) ? undefined : reasons[0];
}

/** Why no valid value of the schema that its author described has a usable value there. */
function undeclared(
  schema: Validator,
  pointer: readonly string[],
  isUrl: boolean,
): string | undefined {
  const { $ref, $defs } = schema.schema();
  let schemas: readonly unknown[] = [{ $ref }];
  for (const token of pointer) {
    const below = schemasBelow(partsOf(schemas, $defs), token);
    if (below === 'any') return undefined;
    if (below.length === 0) {
      const { examples } = schema.described();
      if (examples.some((one) => valueAt(one, pointer) !== undefined)) return undefined;
      return `the schema of the request body declares no property "${token}"`;
    }
    schemas = below;
  }
  const types = partsOf(schemas, $defs).flatMap((part) =>
    [own(part, 'type')].flat().filter((type) => typeof type === 'string'),
  );
  const usable = isUrl ? ['string', 'array'] : ['string', 'array', 'number', 'integer', 'boolean'];
  if (types.length === 0 || types.some((type) => usable.includes(type))) return undefined;
  const what = isUrl ? 'a URL' : 'a text';
  return `the request body has type ${types.join(' or ')} at "/${pointer.join('/')}", expected ${what}`;
}

/** `any`: the schema describes nothing there, or says that anything may be there. */
function schemasBelow(parts: readonly JsonObject[], token: string): readonly unknown[] | 'any' {
  const found: unknown[] = [];
  let isDescribed = false;
  for (const part of parts) {
    for (const keyword of ['properties', 'additionalProperties', 'patternProperties', 'items']) {
      const rule = own(part, keyword);
      if (rule === undefined) continue;
      isDescribed = true;
      if (keyword === 'properties' && isObject(rule)) {
        if (Object.hasOwn(rule, token)) found.push(rule[token]);
      } else if (keyword === 'items') {
        if (/^\d+$/u.test(token)) found.push(rule);
      } else if (rule !== false) {
        if (keyword === 'patternProperties' || !isObject(rule)) return 'any';
        found.push(rule);
      }
    }
    const types = [own(part, 'type') ?? []].flat();
    if (types.length > 0 && !types.includes('object') && !types.includes('array')) {
      isDescribed = true;
    }
  }
  return isDescribed ? found : 'any';
}

/** All schemas that may apply to the same value. Not recursive: there may be thousands. */
function partsOf(
  schemas: readonly unknown[],
  $defs: Readonly<Record<string, unknown>>,
): JsonObject[] {
  const parts = new Set<JsonObject>();
  const waiting = [...schemas];
  while (waiting.length > 0) {
    const schema = waiting.pop();
    if (!isObject(schema) || parts.has(schema)) continue;
    parts.add(schema);
    for (const keyword of ['oneOf', 'anyOf', 'allOf']) {
      const list = own(schema, keyword);
      if (isList(list)) waiting.push(...list);
    }
    waiting.push(own(schema, 'then'), own(schema, 'else'));
    const ref = own(schema, '$ref');
    if (typeof ref === 'string') waiting.push($defs[ref.slice(ref.lastIndexOf('/') + 1)]);
  }
  return [...parts];
}
