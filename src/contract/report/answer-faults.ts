// Whether the response to the example request matches the schema that the document declares for it.
import type { Operation, Variant } from '../model/contract.ts';
import { composeAnswer } from '../request/answer.ts';
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

export function answerFaults(
  operation: Operation,
  { answer }: Variant,
  { sample, work }: { sample: RequestSample; work: Work },
): AnswerFault[] {
  const { schema } = answer;
  if (schema === undefined || sample.kind === 'none') return [];
  const reading = readRequest(operation, sample.raw);
  if (reading.kind !== 'valid') return [];
  const id = `sub_01${'jc'.repeat(12)}`;
  const url = `http://localhost${sample.target}`;
  const { body } = composeAnswer(answer, { request: reading.message, id, secret: 'whsec_', url });
  if (body === undefined) return [];
  try {
    return schema.check(body, work).map((fault) => ({ place: schema.place, ...fault }));
  } catch (error) {
    if (error instanceof OutOfWork) return [];
    throw error;
  }
}
