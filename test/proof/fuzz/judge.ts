// Rules for every response, whatever the request: it must be declared, match its declaration, leak nothing, and not
// grant access to a caller without permission.
import type { Document, Operation, Response } from './document.ts';
import { cut, ofOwners, ofSecrets } from './leaks.ts';
import { isObject, misfits } from './schema-errors.ts';
import type { Pool } from './pool.ts';
import { asJson, isOfSession, mayDo, type FuzzRequest } from './request.ts';
import type { WireAnswer } from './wire.ts';

export interface JudgeDeps {
  document: Document;
  pool: Pool;
}

/** Returns violations, each starting with the rule or invariant that it breaks. */
export function judge(
  deps: JudgeDeps,
  request: FuzzRequest,
  answer: WireAnswer | undefined,
): string[] {
  if (answer === undefined) {
    return request.raw === undefined ? ['no answer: the connection ended'] : [];
  }
  const operation = operationFor(deps.document, request);
  return [
    ...ofStatus(operation, answer),
    ...(operation === undefined ? ofUnrouted(deps, answer) : ofAnswer(deps, operation, answer)),
    ...ofHeaders(answer),
    ...ofIntent(request, operation, answer),
    ...ofSecrets(request, operation, answer),
    ...ofOwners(deps, request, answer),
  ];
}

/** The rules for an operation of another project's document, whose responses openapi.yaml does not declare. */
export function judgeForeign(
  deps: JudgeDeps,
  request: FuzzRequest,
  answer: WireAnswer | undefined,
): string[] {
  if (answer === undefined) {
    return request.raw === undefined ? ['no answer: the connection ended'] : [];
  }
  const { intent } = request;
  const isRefused = intent === 'valid' && answer.status >= 400 && answer.status !== 422;
  return [
    ...ofStatus(undefined, answer),
    ...ofForeignError(deps, answer),
    ...ofHeaders(answer),
    ...(isRefused ? [`refused: a sample got ${answer.status} ${cut(answer.body.toString())}`] : []),
    ...(answer.status >= 400 ? ofSecrets(request, undefined, answer) : []),
  ];
}

/** An error must be a problem document, or JSON in the shape that the contract declares for its errors. */
function ofForeignError(deps: JudgeDeps, answer: WireAnswer): string[] {
  const type = answer.header('content-type')?.split(';')[0] ?? '';
  const isOwnShape =
    type !== 'application/problem+json' && /^application\/(?:.+\+)?json$/.test(type);
  if (!isOwnShape) return ofUnrouted(deps, answer);
  const { status, body } = answer;
  const isRead = status < 400 || body.length === 0 || asJson(body) !== undefined;
  return isRead ? [] : [`no JSON: status ${status} ${cut(body.toString())}`];
}

/** The operation that a request addresses; undefined if that is unknown. */
export function operationFor(document: Document, request: FuzzRequest): Operation | undefined {
  const { intent, operation, method, path, raw } = request;
  if (intent !== 'wild') return operation;
  if (raw !== undefined || !/^\/[\w/-]*$/.test(path)) return undefined;
  const asked = method === 'HEAD' ? 'GET' : method;
  const found = document.operations.filter(
    (one) =>
      one.method === asked &&
      new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  return found.find((one) => one.path === path) ?? found[0];
}

function ofStatus(operation: Operation | undefined, { status, body }: WireAnswer): string[] {
  if (status < 500) return [];
  const isDeclared =
    operation?.responses[status] !== undefined && /^\/(?:console|portal)/.test(operation.path);
  return isDeclared ? [] : [`5xx: answered ${status} ${cut(body.toString())}`];
}

/** For requests to no known operation. */
function ofUnrouted(deps: JudgeDeps, answer: WireAnswer): string[] {
  return answer.status >= 400 ? ofProblem(deps, answer) : [];
}

function ofAnswer(deps: JudgeDeps, operation: Operation, answer: WireAnswer): string[] {
  const { status } = answer;
  const { responses } = operation;
  const isGood = status < 400;
  const declared = responses[status] ?? (isGood ? undefined : responses['default']);
  if (declared === undefined) {
    // Node's own parser and the router speak before any operation does.
    return [`undeclared: status ${status} ${cut(answer.body.toString())}`];
  }
  return ofDeclared(deps, declared, answer);
}

function ofDeclared(
  { document }: JudgeDeps,
  { content = {}, headers = {} }: Response,
  answer: WireAnswer,
): string[] {
  const { body, header, status } = answer;
  const missing = Object.entries(headers)
    .filter(([name, { required }]) => required === true && header(name.toLowerCase()) === undefined)
    .map(([name]) => `undeclared: status ${status} without the header ${name}`);
  const type = header('content-type')?.split(';')[0];
  if (body.length === 0) return missing; // No body, or a response to HEAD.
  const offered = Object.keys(content);
  const isAny = offered.includes('*/*');
  if (type === undefined || !(offered.includes(type) || isAny)) {
    return [
      ...missing,
      `undeclared: status ${status} as ${type}, expected ${offered.join() || 'no body'}`,
    ];
  }
  if (!type.endsWith('json') || isAny) return missing;
  const value = asJson(body);
  if (value === undefined)
    return [...missing, `undeclared: status ${status}, no JSON: ${cut(body.toString())}`];
  const schema = content[type]?.schema ?? {};
  const flaws = misfits(document, schema, value, 'nothing undeclared');
  const own = status >= 400 ? ofProblemBody(value, status) : [];
  return [...missing, ...[...flaws, ...own].map((flaw) => `undeclared: status ${status}, ${flaw}`)];
}

function ofProblem({ document }: JudgeDeps, answer: WireAnswer): string[] {
  const { body, header, status } = answer;
  if (body.length === 0) return []; // A response to HEAD.
  if (header('content-type')?.split(';')[0] !== 'application/problem+json') {
    return [`no problem: status ${status} as ${header('content-type')}: ${cut(body.toString())}`];
  }
  const value = asJson(body);
  const schema = { $ref: '#/components/schemas/Problem' };
  const flaws = misfits(document, schema, value, 'nothing undeclared');
  return [...flaws, ...ofProblemBody(value, status)].map((flaw) => `no problem: ${flaw}`);
}

/** An error must say what was wrong and, for an invalid request, where. */
function ofProblemBody(value: unknown, status: number): string[] {
  if (!isObject(value)) return [];
  const { code, detail, errors } = value;
  const isPlaced = code !== 'invalid_request' || (Array.isArray(errors) && errors.length > 0);
  return [
    ...(value['status'] === status ? [] : [`says ${String(value['status'])}`]),
    ...(typeof detail === 'string' && detail.length > 10 ? [] : ['says nothing']),
    ...(isPlaced ? [] : ['does not say where']),
  ];
}

const usualHeaders = new Set([
  'cache-control',
  'content-security-policy',
  'referrer-policy',
  'x-content-type-options',
  'vary',
  'x-request-id',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'date',
  'connection',
  'keep-alive',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'allow',
  'etag',
  'location',
  'set-cookie',
  'www-authenticate',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'x-accel-buffering',
]);

function ofHeaders({ headers, header }: WireAnswer): string[] {
  const unusual = headers.filter(([name]) => !usualHeaders.has(name)).map(([name]) => name);
  const lacking = ['x-request-id', 'cache-control', 'x-content-type-options'].filter(
    (name) => header(name) === undefined,
  );
  return [
    ...unusual.map((name) => `undeclared: header ${name}`),
    ...lacking.map((name) => `headers: without ${name}`),
  ];
}

/** The status must agree with the intent of the request. */
function ofIntent(
  request: FuzzRequest,
  operation: Operation | undefined,
  { status, body }: WireAnswer,
): string[] {
  const { intent, isForeign, rule } = request;
  if (operation === undefined)
    return status < 400 && intent !== 'wild' ? ['no such operation'] : [];
  const refusal = refusalFor(request, operation);
  if (intent === 'wild') {
    const isLetIn = refusal !== undefined && status < 300 && request.raw === undefined;
    return isLetIn && !request.rule.includes('another key')
      ? [`I17: let in, expected ${refusal}`]
      : [];
  }
  if (refusal !== undefined)
    return status === refusal ? [] : [`I17: answered ${status}, expected ${refusal}`];
  if (intent === 'broken') return status < 400 ? [`accepted: ${rule}, answered ${status}`] : [];
  if (isForeign && intent === 'valid' && status !== 404) {
    return [`I17: answered ${status} to another app's id, expected 404`];
  }
  const isRefused =
    [400, 405, 414, 415, 431].includes(status) ||
    (status === 401 &&
      !['signIn', 'openPortal'].includes(operation.operationId) &&
      !isOfSession(request)) ||
    (status === 403 && !mayForbid(operation));
  return intent === 'valid' && isRefused
    ? [`refused: a valid request got ${status} ${cut(body.toString())}`]
    : [];
}

/** Only operators may create or rotate keys with the operator scope, so these may get 403. */
function mayForbid({ operationId }: Operation): boolean {
  return ['createKey', 'rotateKey', 'signIn', 'createPortalLink'].includes(operationId);
}

/** The expected status, 401 or 403, if the caller has no permission for the operation. */
export function refusalFor(
  request: Pick<FuzzRequest, 'caller' | 'carrier'>,
  operation: Operation,
): number | undefined {
  // A session may have ended, and the fuzzer does not know whose key it belongs to.
  if (operation.isOpen || isOfSession(request)) return undefined;
  const { caller, carrier } = request;
  if (
    caller === undefined ||
    carrier === 'none' ||
    caller.isDead === true ||
    operation.session !== undefined
  )
    return 401;
  const { scope } = operation;
  return scope === undefined || mayDo(caller, scope) ? undefined : 403;
}
