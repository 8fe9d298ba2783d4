// The only way to the service: same origin, JSON in and out, failures as ApiProblem.
import { signal } from '@preact/signals';
import { base } from './base.ts';
import { noteServiceTime } from './clock.ts';
import type { Problem } from '../../src/client/contract/service.ts';
import type { FieldError } from './field-error.ts';
import { limits } from './limits.ts';
import { words } from './words.ts';

/** Incremented by every 401 response. The session module then shows the sign-in page. */
export const signedOutCount = signal(0);

/** Undefined: the session is in a cookie. */
let sessionHeaders: Readonly<Record<string, string>> | undefined;

/**
 * For the portal, whose session is in a header, because it may be in a frame of another site. Then no cookie is sent:
 * one of the console would give other rights.
 */
export function sendSessionIn(headers: Readonly<Record<string, string>>): void {
  sessionHeaders = headers;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

type ProblemInit = Omit<Problem, 'type' | 'requestId'> & { readonly requestId?: string };

/** What went wrong, in the words of the service where it responded with a problem document. */
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

  /** The error of one field: `body#/callbackUrl`, `query.event`. */
  of(field: string): string | undefined {
    return this.errors.find((one) => one.field === field)?.message;
  }
}

export async function get<T>(
  path: string,
  { query = {}, signal: stop }: { query?: Query; signal?: AbortSignal | undefined } = {},
): Promise<T> {
  const response = await request(withQuery(path, query), { method: 'GET' }, stop);
  return await read(() => response.json());
}

/** The raw response text, because numbers may be larger than JavaScript can represent. */
export async function getText(path: string, stop?: AbortSignal): Promise<string> {
  const response = await request(path, { method: 'GET' }, stop);
  return await read(() => response.text());
}

export type SendOptions = {
  readonly body?: unknown;
  /** Serialized JSON to send unchanged, in place of `body`. */
  readonly json?: string;
  readonly query?: Query;
  /** Makes a repeated request harmless. See newIdempotencyKey. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
};

/** POST, PATCH and DELETE. A 204 response yields undefined: use `void` as the type. */
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

/** Create one per user action, not per request. */
export function newIdempotencyKey(): string {
  // Not randomUUID: browsers provide it on https and localhost only.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Converts anything that was thrown into a problem that can be shown. */
export function problemOf(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new ApiProblem({ title: words().problems.failed, status: 0, code: 'console', detail });
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

type Init = {
  readonly method: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
};

async function request(path: string, init: Init, stop: AbortSignal | undefined): Promise<Response> {
  const timeout = AbortSignal.timeout(limits.requestMs);
  const aborts = stop === undefined ? timeout : AbortSignal.any([stop, timeout]);
  const answer = fetch(base + path, {
    ...init,
    headers: { ...init.headers, ...sessionHeaders },
    signal: aborts,
    credentials: sessionHeaders === undefined ? 'same-origin' : 'omit',
  });
  const response = await answer.catch((error: unknown) => {
    throw isAborted(error) ? error : unreachable(timeout.aborted);
  });
  noteServiceTime(response.headers.get('date'));
  if (response.ok) return response;
  if (response.status === 401) signedOutCount.value += 1;
  throw await problemIn(response);
}

function unreachable(isLate: boolean): ApiProblem {
  const { problems } = words();
  return new ApiProblem({
    title: problems.unreachable,
    status: 0,
    code: 'unreachable',
    detail: isLate ? problems.late(limits.requestMs / 1_000) : problems.disconnected,
  });
}

async function problemIn(response: Response): Promise<ApiProblem> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/problem+json')) {
    const problem: Problem = await read(() => response.json());
    return new ApiProblem(problem);
  }
  // A proxy responded. Its body is not ours to show.
  return new ApiProblem({
    title: words().problems.proxy(response.status),
    status: response.status,
    code: 'in_between',
    detail: words().problems.proxyDetail,
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
