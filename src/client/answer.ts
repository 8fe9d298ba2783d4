// What an answer means: text, or a refusal with all that a caller may want to know of it.
import type { Problem } from './contract/problem.ts';
import type { Connection } from './connection.ts';
import { quote, withoutKey, RingbackError, type OwnCode } from './failure.ts';
import { clientLimits } from './limits.ts';
import { readRetryAfterMs } from './retry.ts';

/** The whole body as text. Undefined when it is longer than any answer of Ringback. */
export async function readText(response: Response): Promise<string | undefined> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > clientLimits.answerBytesMax) {
      await reader.cancel().catch(() => undefined);
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Undefined when the answer is what was asked for. */
export function refusalOf(
  response: Response,
  { action, text, connection }: { action: string; text: string; connection: Connection },
): RingbackError | undefined {
  if (response.ok) return undefined;
  const { status } = response;
  const hide = (given: string): string => withoutKey(given, connection.key);
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const target = response.headers.get('location');
    const where = target === null ? 'elsewhere' : `to "${quote(hide(withoutQuery(target)))}"`;
    return refuse(action, response, {
      code: 'redirected',
      detail: `it sends us ${where}, where a key is never sent: expected the service itself as url`,
    });
  }
  const problem = readProblem(text);
  const waitMs = readRetryAfterMs(response.headers.get('retry-after'), connection.platform.now());
  if (problem === undefined) {
    const said = quote(hide(text));
    const detail = `not an answer of Ringback: ${said === '' ? 'it is empty' : `"${said}"`}`;
    return refuse(action, response, { code: 'unreadable_answer', detail, waitMs });
  }
  const { code } = problem;
  return refuse(action, response, { code, detail: hide(problem.detail), problem, waitMs });
}

/** A 2xx whose body is not what the contract says. */
export function unreadable(action: string, response: Response, detail: string): RingbackError {
  const code: OwnCode = 'unreadable_answer';
  return refuse(action, response, { code, detail });
}

function refuse(
  action: string,
  response: Response,
  said: { code: string; detail: string; problem?: Problem; waitMs?: number | undefined },
): RingbackError {
  const { code, detail, problem, waitMs } = said;
  return new RingbackError(action, {
    status: response.status,
    code,
    detail,
    requestId: problem?.requestId ?? response.headers.get('x-request-id') ?? undefined,
    retryAfterS: waitMs === undefined ? undefined : Math.ceil(waitMs / 1_000),
    problem,
  });
}

function readProblem(text: string): Problem | undefined {
  try {
    const value: Partial<Problem> | null = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { type = '', title = '', status = 0, code, detail, requestId = '' } = value;
    if (typeof code !== 'string' || typeof detail !== 'string') return undefined;
    return { ...value, type, title, status, code, detail, requestId };
  } catch {
    return undefined;
  }
}

function withoutQuery(target: string): string {
  return target.replace(/[?#].*$/s, '');
}
