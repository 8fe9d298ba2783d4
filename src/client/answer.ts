// Interprets a response: its text, or an error with everything a caller may need.
import type { Problem } from './contract/service.ts';
import type { Connection } from './connection.ts';
import { quote, withoutKey, RingbackError, type OwnCode } from './failure.ts';
import { clientLimits } from './limits.ts';
import { readRetryAfterMs } from './retry.ts';

/** The whole body as text. Undefined if it is longer than any Ringback response. */
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

/** Undefined if the response is a success. */
export function refusalOf(
  response: Response,
  { action, text, connection }: { action: string; text: string; connection: Connection },
): RingbackError | undefined {
  if (response.ok) return undefined;
  const { status } = response;
  const { key } = connection;
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const target = response.headers.get('location');
    const where =
      target === null ? 'elsewhere' : `to "${quote(withoutKey(withoutQuery(target), key))}"`;
    return refuse(connection, {
      action,
      response,
      code: 'redirected',
      detail:
        `the server redirects ${where}; redirects are not followed, so that the key is never ` +
        'sent elsewhere. Expected the URL of the service itself',
    });
  }
  const problem = readProblem(text, key);
  const waitMs = readRetryAfterMs(response.headers.get('retry-after'), connection.platform.now());
  if (problem === undefined) {
    const said = quote(withoutKey(text, key));
    const detail = `not a Ringback response: ${said === '' ? 'it is empty' : `"${said}"`}`;
    return refuse(connection, { action, response, code: 'unreadable_answer', detail, waitMs });
  }
  const { code, detail } = problem;
  return refuse(connection, { action, response, code, detail, problem, waitMs });
}

/** A 2xx response whose body does not match the contract. */
export function unreadable(
  connection: Connection,
  said: { action: string; response: Response; detail: string },
): RingbackError {
  const code: OwnCode = 'unreadable_answer';
  return refuse(connection, { ...said, code });
}

interface Said {
  action: string;
  response: Response;
  code: string;
  detail: string;
  problem?: Problem;
  waitMs?: number | undefined;
}

/** The only place that creates RingbackError. The key is removed wherever the response contained it. */
function refuse({ key }: Connection, said: Said): RingbackError {
  const { action, response, code, detail, problem, waitMs } = said;
  const requestId = problem?.requestId ?? response.headers.get('x-request-id');
  return new RingbackError(action, {
    status: response.status,
    code: withoutKey(code, key),
    detail: withoutKey(detail, key),
    requestId: requestId === null ? undefined : withoutKey(requestId, key),
    retryAfterS: waitMs === undefined ? undefined : Math.ceil(waitMs / 1_000),
    problem,
  });
}

function readProblem(text: string, key: string | undefined): Problem | undefined {
  try {
    // Redact the parsed values rather than the text, where escapes could hide the key.
    const value: Partial<Problem> | null = JSON.parse(text, (_, one: unknown) => hidden(one, key));
    if (typeof value !== 'object' || value === null) return undefined;
    const { type = '', title = '', status = 0, code, detail, requestId = '' } = value;
    if (typeof code !== 'string' || typeof detail !== 'string') return undefined;
    return { ...value, type, title, status, code, detail, requestId };
  } catch {
    return undefined;
  }
}

/** Redacts each value, innermost first: strings and member names. */
function hidden(value: unknown, key: string | undefined): unknown {
  if (typeof value === 'string') return withoutKey(value, key);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [withoutKey(name, key), one]),
  );
}

function withoutQuery(target: string): string {
  return target.replace(/[?#].*$/s, '');
}
