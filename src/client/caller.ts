// Calls operations: sends a request, retries it where that is safe, and reads the response. Redirects are never
// followed, because the key would be sent along.
import {
  assertIdempotencyKey,
  type CallOptions,
  type Connection,
  fillPath,
  patience,
  writeQuery,
} from './connection.ts';
import { readText, refusalOf, unreadable } from './answer.ts';
import {
  type Calls,
  members,
  type Operation,
  type OperationId,
  operations,
} from './contract/operations.ts';
import { createEnding, type Ending } from './ending.ts';
import { quote, reasonOf, RingbackError, UnreachableError, withoutKey } from './failure.ts';
import { clientLimits } from './limits.ts';
import { nextTryMs } from './retry.ts';

export interface KeyedOptions extends CallOptions {
  /** Idempotency key: the request takes effect once, however often it is sent. Default: a new one. */
  idempotencyKey?: string | undefined;
}

export interface PublishOptions extends KeyedOptions {
  /**
   * The callback that led to this event, as received from `ringback/receiver`. Its hop count is forwarded, so
   * that Ringback can stop a loop of events and callbacks.
   */
  causedBy?: { readonly hops: number | undefined } | undefined;
}

export interface CallInput {
  path?: Readonly<Record<string, string>>;
  query?: object;
  /** JSON text. */
  text?: string | undefined;
}

export interface Answered {
  /** The response body, unchanged. */
  text: string;
  /**
   * The parsed body. Its type is what the contract declares; at run time, only the required members are
   * checked. Integers beyond 2^53 are rounded, because JavaScript numbers cannot represent them: `text` has
   * the exact digits.
   */
  value: ReturnType<typeof JSON.parse>;
}

export interface Caller {
  connection: Connection;
  send: (id: OperationId, input: CallInput, options?: PublishOptions) => Promise<Answered>;
  call: <Id extends OperationId>(
    id: Id,
    request: Calls[Id]['request'],
    options?: KeyedOptions,
  ) => Promise<Calls[Id]['answer']>;
}

export function createCaller(connection: Connection): Caller {
  const send: Caller['send'] = async (id, input, options = {}) => {
    const request = { ...requestOf(connection, operations[id], input), members: members[id] };
    return tryAndTry(connection, keyed(connection, caused(request, options), options), options);
  };
  return {
    connection,
    send,
    call: async (id, request, options) => {
      const { path, query, body }: { path?: CallInput['path']; query?: object; body?: unknown } =
        request;
      const { value } = await send(
        id,
        {
          ...(path === undefined ? {} : { path }),
          ...(query === undefined ? {} : { query }),
          text: body === undefined ? undefined : JSON.stringify(body),
        },
        options,
      );
      return value;
    },
  };
}

export interface Request {
  operation: Operation;
  /** Members that a JSON response must have. */
  members?: readonly string[] | undefined;
  url: string;
  /** The action, as used in error messages. */
  action: string;
  headers: Readonly<Record<string, string>>;
  text: string | undefined;
}

export function requestOf(connection: Connection, operation: Operation, input: CallInput): Request {
  const path = fillPath(operation.path, input.path ?? {});
  return {
    operation,
    url: connection.url + path + writeQuery(input.query ?? {}, operation.joined ?? []),
    action: withoutKey(`${operation.method} ${quote(path)}`, connection.key),
    headers: {
      ...connection.headers,
      accept: accepted[operation.answer],
      ...(input.text === undefined ? {} : { 'content-type': 'application/json' }),
    },
    text: input.text,
  };
}

const accepted: Readonly<Record<Operation['answer'], string>> = {
  json: 'application/json',
  nothing: 'application/json',
  text: '*/*',
  stream: 'text/event-stream',
};

function caused(request: Request, { causedBy }: PublishOptions): Request {
  if (causedBy?.hops === undefined) return request;
  return { ...request, headers: { ...request.headers, 'ringback-hops': String(causedBy.hops) } };
}

/** With an idempotency key of its own, the same for all attempts. */
function keyed(connection: Connection, request: Request, options: KeyedOptions): Request {
  if (request.operation.repeat !== 'keyed') return request;
  const key = options.idempotencyKey ?? connection.platform.newIdempotencyKey();
  assertIdempotencyKey(key);
  return { ...request, headers: { ...request.headers, 'idempotency-key': key } };
}

async function tryAndTry(
  connection: Connection,
  request: Request,
  options: CallOptions,
): Promise<Answered> {
  const { timeoutMs, retries } = patience(options, connection);
  const { platform } = connection;
  const { repeat } = request.operation;
  const life = createEnding([connection.signal, options.signal]);
  try {
    for (let tries = 1; ; tries += 1) {
      const outcome = await exchange(connection, request, { timeoutMs, life });
      if (!(outcome instanceof Error)) return outcome;
      const refusal = refusedBy(outcome);
      const random = platform.random();
      const waitMs = nextTryMs({ refusal, repeat, tries, retries, random });
      if (waitMs === undefined) throw outcome;
      await life.race(platform.sleep(waitMs, life.signal));
    }
  } finally {
    life.over();
  }
}

function refusedBy(
  outcome: RingbackError | UnreachableError,
): Parameters<typeof nextTryMs>[0]['refusal'] {
  if (!(outcome instanceof RingbackError)) return undefined;
  const { status, code, retryAfterS } = outcome;
  return {
    status,
    code,
    retryAfterMs: retryAfterS === undefined ? undefined : retryAfterS * 1_000,
  };
}

/** One attempt. Throws only if the caller aborted it. */
async function exchange(
  connection: Connection,
  request: Request,
  { timeoutMs, life }: { timeoutMs: number; life: Ending },
): Promise<Answered | RingbackError | UnreachableError> {
  const { action, operation, members: needed = [] } = request;
  // The timeout covers one attempt, not the wait after it or the next attempt.
  const ending = createEnding([life.signal]);
  try {
    ending.within(timeoutMs, connection.platform.sleep);
    const response = await fetchOnce(connection, request, ending);
    const text = await ending.race(readText(response));
    if (text === undefined) {
      const detail = `it is longer than ${clientLimits.answerBytesMax} bytes`;
      return unreadable(connection, { action, response, detail });
    }
    const refusal = refusalOf(response, { action, text, connection });
    if (refusal !== undefined) return refusal;
    if (operation.answer === 'nothing') return { text, value: undefined };
    if (operation.answer !== 'json') return { text, value: text };
    const value = readObject(text);
    const expected = value === undefined ? 'a JSON object' : missingIn(value, needed);
    if (expected === undefined) return { text, value };
    const said = quote(withoutKey(text, connection.key));
    const detail = `the response is "${said}", expected ${expected}`;
    return unreadable(connection, { action, response, detail });
  } catch (error) {
    return unreached(connection, request, { error, ending });
  } finally {
    ending.over();
  }
}

/** The head of the response. */
export async function fetchOnce(
  { platform }: Connection,
  { url, operation, headers, text }: Request,
  ending: Ending,
): Promise<Response> {
  return ending.race(
    platform.fetch(url, {
      method: operation.method,
      headers: { ...headers },
      redirect: 'manual', // Nothing else is set: some platforms refuse `credentials` and `cache`.
      signal: ending.signal,
      ...(text === undefined ? {} : { body: text }),
    }),
  );
}

/** Throws the caller's own abort reason if the caller aborted. */
export function unreached(
  { url, key }: Connection,
  { action }: Request,
  { error, ending }: { error: unknown; ending: Ending },
): UnreachableError {
  if (ending.signal.aborted && !ending.isLate()) throw ending.signal.reason;
  const reason = reasonOf(error);
  const why = ending.isLate() ? 'it took longer than timeoutMs' : withoutKey(reason, key);
  // An error from a custom fetch may contain what was passed to it.
  const isClean = key === undefined || !`${reason}${String(error)}`.includes(key);
  return new UnreachableError(action, { url, why, cause: isClean ? error : undefined });
}

/** Something other than Ringback, such as a proxy, may respond with 200 and a JSON object. */
function missingIn(value: object, needed: readonly string[]): string | undefined {
  const missing = needed.filter((name) => !Object.hasOwn(value, name));
  if (missing.length > 0) return `it to have ${missing.join(', ')}`;
  const isList = !('items' in value) || Array.isArray(value.items);
  return isList ? undefined : 'items to be an array';
}

/** Every JSON response of the contract is an object. */
function readObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
