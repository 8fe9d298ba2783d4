// Whether the responses to the example requests match the schemas that the document declares for them, and whether
// errors do.
import { idOfForm } from '../../core/base/id.ts';
import { pointerTokens, withoutAt } from '../../core/base/pointer.ts';
import { problems, type ProblemCode } from '../../core/errors/problem.ts';
import { isObject } from '../document/document.ts';
import { expressionsOf } from '../expression/template.ts';
import {
  responseKeys,
  type AnswerShape,
  type CallbackDefinition,
  type Contract,
  type Operation,
  type Owner,
} from '../model/contract.ts';
import { composeAnswer, withoutId, withoutSecrets } from '../request/answer.ts';
import { composeError, type ErrorFacts } from '../request/error-body.ts';
import { readRequest } from '../request/request.ts';
import type { RequestSample } from '../sample/sample-request.ts';
import { OutOfWork, type WorkBudget } from '../schema/step-budget.ts';

export interface AnswerFault {
  /** The place of the schema. */
  place: string;
  /** The property in the response, as a JSON pointer. */
  field: string;
  message: string;
}

/** A response, and the example request that it answers. */
export interface SampledAnswer {
  operation: Operation;
  shape: AnswerShape;
  sample: RequestSample;
  /** What the request is, where that is not evident: ` to a request without a callback URL`. */
  to: string;
}

/** The responses that the operation may give; `sample` is a request for the variant, if it has some. */
export function sampledAnswers(
  operation: Operation,
  { sample, variant = '' }: { sample: RequestSample; variant?: string },
): SampledAnswer[] {
  const { role } = operation;
  if (role.kind === 'managed') return [];
  const given = { operation, sample };
  if (role.kind === 'unsubscribe') {
    return role.answer === undefined ? [] : [{ ...given, shape: role.answer, to: '' }];
  }
  return role.variants
    .filter(({ name }) => name === variant)
    .flatMap(({ answer, replaced, callbacks }) => {
      if (answer === undefined) return [];
      const usual = { ...given, shape: answer, to: '' };
      const others = replaced === undefined ? [] : [{ ...given, shape: replaced, to: '' }];
      const brief = withRequiredOnly(operation, { sample, callbacks, variant });
      const bare = withoutUrls(sample, callbacks);
      return [
        usual,
        ...others,
        ...(brief === undefined
          ? []
          : [{ ...usual, sample: brief, to: ' to a request without optional fields' }]),
        ...(bare === undefined
          ? []
          : [
              {
                operation,
                shape: withoutId(answer),
                sample: bare,
                to: ' to a request without a callback URL',
              },
            ]),
      ];
    });
}

const briefTriesMax = 4;

/** The request without the fields that may be absent; those that callback URLs are read from stay. */
function withRequiredOnly(
  operation: Operation,
  {
    sample,
    callbacks,
    variant,
  }: { sample: RequestSample; callbacks: readonly CallbackDefinition[]; variant: string },
): RequestSample | undefined {
  if (sample.kind === 'none') return undefined;
  const { body } = sample.raw;
  if (body === undefined || !isObject(body.value)) return undefined;
  const members = Object.entries(body.value);
  const kept = new Set(
    callbacks
      .flatMap(({ target = [] }) => expressionsOf(target))
      .flatMap((one) => (one.kind === 'body' ? [one.pointer[0] ?? ''] : [])),
  );
  for (let tries = 0; tries < briefTriesMax; tries += 1) {
    const value = Object.fromEntries(members.filter(([name]) => kept.has(name)));
    if (Object.keys(value).length === members.length) return undefined;
    const raw = { ...sample.raw, body: { ...body, value } };
    const reading = readRequest(operation, raw);
    if (reading.kind === 'valid') {
      return reading.variant?.name === variant ? { ...sample, raw } : undefined;
    }
    if (reading.kind !== 'invalid') return undefined;
    const asked = reading.faults.map(
      ({ field }) => pointerTokens(field.replace(/^body#?/u, ''))?.[0] ?? '',
    );
    const before = kept.size;
    for (const name of asked) kept.add(name);
    if (kept.size === before) return undefined;
  }
  return undefined;
}

/** The request that makes no subscription; whether it is valid is not known yet. */
function withoutUrls(
  sample: RequestSample,
  callbacks: readonly CallbackDefinition[],
): RequestSample | undefined {
  const isOptional = callbacks.length > 0 && callbacks.every((one) => one.isOptional);
  if (!isOptional || sample.kind === 'none') return undefined;
  let { query, body } = sample.raw;
  for (const one of callbacks.flatMap(({ target = [] }) => expressionsOf(target))) {
    if (one.kind === 'query') query = query.filter(([name]) => name !== one.name);
    if (one.kind === 'body' && one.from === 'request' && body !== undefined) {
      body = { ...body, value: withoutAt(body.value, one.pointer) };
    }
  }
  return { ...sample, raw: { ...sample.raw, query, body } };
}

export function answerFaults(
  { operation, shape, sample }: SampledAnswer,
  work: WorkBudget,
): AnswerFault[] {
  const { schema } = shape;
  if (schema === undefined || sample.kind === 'none') return [];
  const reading = readRequest(operation, sample.raw);
  if (reading.kind !== 'valid') return [];
  const id = `sub_${idOfForm(shape.idForm, `01${'jc'.repeat(12)}`)}`;
  const url = `http://localhost${sample.target}`;
  const { message, variant } = reading;
  const request = variant === undefined ? message : withoutSecrets(message, variant);
  const { body } = composeAnswer(shape, { request, id, secret: 'whsec_', url });
  if (body === undefined) return [];
  try {
    return schema.check(body, work).map((fault) => ({ place: schema.place, ...fault }));
  } catch (error) {
    if (error instanceof OutOfWork) return [];
    throw error;
  }
}

// Errors.

/** The statuses of errors that Ringback may return, but the operation does not declare. */
export function undeclaredErrors({ owner }: Contract, operation: Operation): number[] {
  const { errors } = operation;
  return [...possibleErrors(owner, operation).keys()].filter(
    (status) => !responseKeys(status).some((key) => errors.has(key)),
  );
}

/** The errors that Ringback may return for the operation, by status. */
function possibleErrors(owner: Owner, operation: Operation): Map<number, ProblemCode[]> {
  return Map.groupBy(possibleCodes(owner, operation), (code) => problems[code].status);
}

function possibleCodes(owner: Owner, { role, body, security }: Operation): ProblemCode[] {
  const isApi = owner === 'api';
  const isSubscribe = role.kind === 'subscribe';
  if (isApi && !isSubscribe) return [];
  const hasKey = security.some(({ schemes }) => schemes.length > 0);
  const isInvalid = !isApi || (isSubscribe && role.takesControls);
  const found: [boolean, ProblemCode[]][] = [
    [isInvalid, ['malformed_request', 'invalid_request', 'no_variant', 'no_callback']],
    [!isApi && hasKey, ['unauthorized', 'missing_scope', 'wrong_app']],
    [role.kind === 'unsubscribe', ['not_found']],
    [body !== undefined, ['body_too_large']],
    [!isApi && body !== undefined, ['unsupported_media_type']],
    [isSubscribe, ['target_refused', 'idempotency_mismatch']],
    [!isApi && isSubscribe, ['quota_exceeded']],
    [true, ['overloaded', 'store_unavailable']],
  ];
  return found.flatMap(([isPossible, codes]) => (isPossible ? codes : []));
}

/** The error responses whose declared schema cannot be filled. */
export function errorFaults({
  owner,
  operations,
}: Contract): Pick<AnswerFault, 'place' | 'message'>[] {
  return operations.flatMap((operation) => {
    const { method, path } = operation;
    const misfits = [...possibleErrors(owner, operation)].flatMap(([status, codes]) => {
      const found = codes.flatMap((code) => {
        const made = composeError(operation, exampleError(code));
        return made?.kind === 'misfit' ? [{ ...made, code }] : [];
      });
      const [first] = found;
      if (first === undefined) return [];
      const { place, faults } = first;
      const why = faults.map(({ field, message }) => `${field} ${message}`.trim()).join(', ');
      const only = found.map(({ code }) => code).join(', ');
      return [{ status: found.length < codes.length ? `${status} (${only})` : status, place, why }];
    });
    const groups = Map.groupBy(misfits, ({ place, why }) => JSON.stringify([place, why]));
    return [...groups.values()].map((group) => {
      const [{ place, why } = { place: '', why: '' }] = group;
      const statuses = group.map(({ status }) => status).join(', ');
      return {
        place,
        message:
          `errors of ${method} ${path} with status ${statuses} are sent as ` +
          `application/problem+json, because the declared schema cannot be filled: ${why}`,
      };
    });
  });
}

function exampleError(code: ProblemCode): ErrorFacts {
  const { status, title, remedy: detail } = problems[code];
  return { type: `/docs#${code}`, title, status, code, detail, requestId: 'req_1' };
}
