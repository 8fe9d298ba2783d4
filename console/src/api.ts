// The only way to the service: same origin, JSON in and out, failures as ApiProblem. It keeps no state but
// the note that the session is over.
import { signal } from '@preact/signals';
import { noteServiceTime } from './clock.ts';
import type { Problem } from '../../src/client/contract/problem.ts';
import type { FieldError } from './field-error.ts';
import { limits } from './limits.ts';

/** Raised by each answer that says 401: whoever shows pages must ask for a key again. */
export const signedOutCount = signal(0);

export type Query = Readonly<Record<string, string | number | undefined>>;

type ProblemInit = Omit<Problem, 'type' | 'requestId'> & { readonly requestId?: string };

/** What went wrong, in the words of the service where it said some. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  readonly requestId: string | undefined;

  constructor(problem: ProblemInit) {
    super(problem.detail);
    this.name = 'ApiProblem';
    this.status = problem.status;
    this.code = problem.code;
    this.title = problem.title;
    this.detail = problem.detail;
    this.errors = problem.errors ?? [];
    this.requestId = problem.requestId;
  }

  /** What is wrong with one field: `body#/callbackUrl`, `query.event`. */
  of(field: string): string | undefined {
    return this.errors.find((one) => one.field === field)?.message;
  }
}

export async function get<T>(
  path: string,
  { query = {}, signal: stop }: { query?: Query; signal?: AbortSignal } = {},
): Promise<T> {
  const response = await request(withQuery(path, query), { method: 'GET' }, stop);
  return await read(() => response.json());
}

/** The answer as it was written, for numbers that JavaScript cannot hold. */
export async function getText(path: string, stop?: AbortSignal): Promise<string> {
  const response = await request(path, { method: 'GET' }, stop);
  return await read(() => response.text());
}

export type SendOptions = {
  readonly body?: unknown;
  /** Instead of a body: JSON that is already written, and must stay so. */
  readonly json?: string;
  readonly query?: Query;
  /** Makes a repeated click or a lost answer harmless. See newIdempotencyKey. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
};

/** POST, PATCH and DELETE. The answer of a 204 is undefined: ask for `void` there. */
export async function send<T>(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  { body, json, query = {}, idempotencyKey, signal: stop }: SendOptions = {},
): Promise<T> {
  const text = json ?? (body === undefined ? undefined : JSON.stringify(body));
  const headers = {
    ...(text === undefined ? {} : { 'content-type': 'application/json' }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
  const init = { method, headers, ...(text === undefined ? {} : { body: text }) };
  const response = await request(withQuery(path, query), init, stop);
  return await read(() => (response.status === 204 ? undefined : response.json()));
}

/** One for each thing that the reader wants done, not for each request. */
export function newIdempotencyKey(): string {
  // Not randomUUID: browsers have it on https and localhost only.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Anything that was thrown, as a problem that can be shown. */
export function problemOf(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new ApiProblem({ title: 'The console failed', status: 0, code: 'console', detail });
}

export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export function withQuery(path: string, query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

async function request(
  path: string,
  init: RequestInit,
  stop: AbortSignal | undefined,
): Promise<Response> {
  const timeout = AbortSignal.timeout(limits.requestMs);
  const aborts = stop === undefined ? timeout : AbortSignal.any([stop, timeout]);
  const answer = fetch(path, { ...init, signal: aborts, credentials: 'same-origin' });
  const response = await answer.catch((error: unknown) => {
    throw isAborted(error) ? error : unreachable(timeout.aborted);
  });
  noteServiceTime(response.headers.get('date'));
  if (response.ok) return response;
  if (response.status === 401) signedOutCount.value += 1;
  throw await problemIn(response);
}

function unreachable(isLate: boolean): ApiProblem {
  return new ApiProblem({
    title: 'The service does not answer',
    status: 0,
    code: 'unreachable',
    detail: isLate
      ? `No answer within ${limits.requestMs / 1_000} seconds. Look whether the service is busy, then try again.`
      : 'The connection failed. Look whether the service is running and reachable, then try again.',
  });
}

async function problemIn(response: Response): Promise<ApiProblem> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/problem+json')) {
    const problem: Problem = await read(() => response.json());
    return new ApiProblem(problem);
  }
  // A proxy in between answers in its own words; they are not ours to show.
  return new ApiProblem({
    title: `Something in between answered ${response.status}`,
    status: response.status,
    code: 'in_between',
    detail: 'The answer is none of the service. Look at the proxy in front of it.',
  });
}

async function read<T>(body: () => T | Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (isAborted(error)) throw error;
    throw unreachable(false);
  }
}
