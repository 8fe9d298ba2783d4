// Whether the responses to the example requests match the schemas that the document declares for them.
import { idOfForm } from '../../core/base/id.ts';
import { withoutAt } from '../../core/base/pointer.ts';
import { expressionsOf } from '../expression/template.ts';
import type { AnswerShape, CallbackDefinition, Operation } from '../model/contract.ts';
import { composeAnswer, withoutId } from '../request/answer.ts';
import { readRequest } from '../request/request.ts';
import type { RequestSample } from '../sample/sample-request.ts';
import { OutOfWork, type Work } from '../schema/meter.ts';

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
  if (role.kind === 'unsubscribe') return [{ ...given, shape: role.answer, to: '' }];
  return role.variants
    .filter(({ name }) => name === variant)
    .flatMap(({ answer, replaced, callbacks }) => {
      const usual = { ...given, shape: answer, to: '' };
      const others = replaced === undefined ? [] : [{ ...given, shape: replaced, to: '' }];
      const bare = withoutUrls(sample, callbacks);
      const to = ' to a request without a callback URL';
      return [
        usual,
        ...others,
        ...(bare === undefined ? [] : [{ operation, shape: withoutId(answer), sample: bare, to }]),
      ];
    });
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
  work: Work,
): AnswerFault[] {
  const { schema } = shape;
  if (schema === undefined || sample.kind === 'none') return [];
  const reading = readRequest(operation, sample.raw);
  if (reading.kind !== 'valid') return [];
  const id = `sub_${idOfForm(shape.idForm, `01${'jc'.repeat(12)}`)}`;
  const url = `http://localhost${sample.target}`;
  const { body } = composeAnswer(shape, { request: reading.message, id, secret: 'whsec_', url });
  if (body === undefined) return [];
  try {
    return schema.check(body, work).map((fault) => ({ place: schema.place, ...fault }));
  } catch (error) {
    if (error instanceof OutOfWork) return [];
    throw error;
  }
}
