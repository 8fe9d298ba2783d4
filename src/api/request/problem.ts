// Problems on the wire: application/problem+json (RFC 9457), including Fastify's own errors.
import { limits } from '../../core/limits/limits.ts';
import type { Operation } from '../../contract/model/contract.ts';
import { errorBody } from '../../contract/request/error-body.ts';
import { Problem, problems, type ProblemCode } from '../../core/errors/problem.ts';
import { StoreTimedOut } from '../../engine/store-timeout.ts';
import { StoreUnavailable } from '../../store/port/store.ts';
import { note, type LoggedRequest } from './request-log.ts';

export const problemMediaType = 'application/problem+json';

export interface ProblemBody {
  type: string;
  title: string;
  status: number;
  code: ProblemCode;
  detail: string;
  requestId: string;
  errors?: readonly { field: string; message: string }[];
}

export function problemBody(problem: Problem, requestId: string): ProblemBody {
  const { code, status, message, faults } = problem;
  const body: ProblemBody = {
    type: `/docs#${code}`,
    title: problems[code].title,
    status,
    code,
    detail: message,
    requestId,
  };
  return faults.length === 0 ? body : { ...body, errors: faults };
}

export interface ProblemReply {
  status: number;
  headers: Record<string, string>;
  mediaType: string;
  body: string;
}

/** The answer for a problem, as its operation declares it; code and cause are noted for the log. */
export function problemReply(
  problem: Problem,
  request: LoggedRequest & { id: string },
  operation?: Operation,
): ProblemReply {
  const { status, code } = problem;
  note(request, { code });
  // Refusals for lack of room are logged together (api/server/refuse-overload.ts).
  if (status >= 500 && problem.code !== 'overloaded')
    note(request, { err: problem.cause ?? problem });
  const headers = { ...problem.headers, ...(status === 503 && { 'retry-after': '1' }) };
  const body = problemBody(problem, request.id);
  const declared = operation && errorBody(operation, { ...body });
  const { mediaType, body: sent } = declared ?? { mediaType: problemMediaType, body };
  return { status, headers, mediaType, body: JSON.stringify(sent) };
}

/**
 * Turns any error into a Problem. An unforeseen error is an internal one and reveals nothing.
 * `bodyBytesMax`: the limit to name if the body is too large.
 */
export function toProblem(error: unknown, bodyBytesMax: number = limits.bodyBytesMax): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StoreTimedOut) {
    const advice = error.mayHappen
      ? 'The request may still be processed: check before you try again.'
      : 'Nothing was changed: try again.';
    const detail = `The store did not respond in time. ${advice}`;
    return new Problem('store_unavailable', detail, { cause: error });
  }
  if (error instanceof StoreUnavailable) {
    const detail = 'The store is unreachable or full. The request was not accepted: try again.';
    return new Problem('store_unavailable', detail, { cause: error });
  }
  const known =
    error instanceof Error && 'code' in error ? fastifyProblem(error, bodyBytesMax) : undefined;
  if (known !== undefined) return new Problem(known.code, known.detail, { cause: error });
  const detail = 'An unexpected error occurred. Find it in the log by the request id.';
  return new Problem('internal', detail, { cause: error });
}

/** A body that the gateway would have to keep in memory. */
export function bodyTooLarge(): Problem {
  return new Problem('body_too_large', bodyDetail(limits.bodyBytesMax));
}

function bodyDetail(bytes: number): string {
  const size = bytes === limits.bodyBytesMax ? '1 MiB' : `${bytes / 1024} KiB`;
  const where = bytes === limits.bodyBytesMax ? '' : ' without a key';
  return (
    `The request body is larger than ${size} (${bytes.toLocaleString('en')} bytes), the ` +
    `maximum${where}`
  );
}

function fastifyProblem(
  error: Error & { code: unknown },
  bodyBytesMax: number,
): { code: ProblemCode; detail: string } | undefined {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return { code: 'body_too_large', detail: bodyDetail(bodyBytesMax) };
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return {
        code: 'malformed_request',
        detail: 'The length of the body does not match Content-Length',
      };
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_ASYNC_CONSTRAINT':
      return {
        code: 'malformed_request',
        detail: 'The request path is not validly percent-encoded',
      };
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return { code: 'url_too_long', detail: 'A part of the request path is too long' };
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return {
        code: 'unsupported_media_type',
        detail: 'Cannot read the body: Content-Type is not a media type, expected application/json',
      };
    default:
      return isCallersMistake(error)
        ? { code: 'malformed_request', detail: 'The request is not valid HTTP' }
        : undefined;
  }
}

/** Fastify has too many codes to list, but gives each one a status. */
function isCallersMistake(error: Error & { code: unknown }): boolean {
  const isFastifys = typeof error.code === 'string' && error.code.startsWith('FST_');
  if (!isFastifys || !('statusCode' in error) || typeof error.statusCode !== 'number') return false;
  return error.statusCode >= 400 && error.statusCode < 500;
}
