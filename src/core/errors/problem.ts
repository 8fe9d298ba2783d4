// The table of everything that can go wrong for a caller, and the only error class that carries it.
// A test keeps docs/errors.md equal to the table.
import { limits } from '../limits/limits.ts';
import { printPointer } from '../base/pointer.ts';

export const problems = {
  malformed_request: {
    status: 400,
    title: 'The request cannot be read',
    remedy: 'Send valid HTTP and JSON: UTF-8, at most 64 levels deep, no key twice in an object.',
  },
  invalid_request: {
    status: 400,
    title: 'The request does not match the contract',
    remedy: 'See `errors` for each field that is wrong, and `/docs` for what is expected.',
  },
  no_variant: {
    status: 400,
    title: 'The request matches no variant of the operation, or more than one',
    remedy: 'Send what exactly one variant requires.',
  },
  no_callback: {
    status: 400,
    title: 'No callback URL can be derived from the request',
    remedy: "Send the values that the callback's expressions refer to.",
  },
  unauthorized: {
    status: 401,
    title: 'A valid API key is required',
    remedy:
      'Send a key where `WWW-Authenticate` says. Missing, malformed, unknown, expired and ' +
      'revoked keys all get the same response.',
  },
  missing_scope: {
    status: 403,
    title: 'The API key lacks the scope for this operation',
    remedy: 'Use a key with the scope that `detail` names.',
  },
  wrong_app: {
    status: 403,
    title: 'The app id does not match the API key',
    remedy: 'Send the app id of the key, or a key of that app.',
  },
  bound_key: {
    status: 403,
    title: 'The API key is bound to a customer',
    remedy: 'Leave the customer out, or use a key that is not bound to a customer.',
  },
  cross_origin: {
    status: 403,
    title: 'A cookie key was sent from another origin',
    remedy: "Send the key in the header, or call from the service's own origin.",
  },
  not_found: {
    status: 404,
    title: 'The resource does not exist',
    remedy: 'Check the path and the id. The id of another app is reported as unknown.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not supported at this path',
    remedy: 'Use one of the methods in `Allow`.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    remedy: 'Send the whole request within 15 seconds.',
  },
  conflict: {
    status: 409,
    title: 'The state of the resource does not allow this',
    remedy: 'Read the resource again; `detail` names the conflict.',
  },
  body_too_large: {
    status: 413,
    title: 'The request body is too large',
    remedy: 'Send at most 1 MiB, or the lower limit that `detail` names.',
  },
  url_too_long: {
    status: 414,
    title: 'The request URL is too long',
    remedy: 'Shorten the path.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The request body has an unsupported type',
    remedy: 'Send `Content-Type: application/json`, in UTF-8, without compression.',
  },
  target_refused: {
    status: 422,
    title: 'The callback URL is not allowed',
    remedy: 'See `errors` for the field and the reason.',
  },
  subject_missing: {
    status: 422,
    title: 'The event names no subject, but its subscriptions have one',
    remedy:
      'Name the `subject` of the event, or send `"audience": "all"` to reach all subscriptions.',
  },
  audience_conflict: {
    status: 422,
    title: 'The event is for everyone and for a few at once',
    remedy: 'Send `"audience": "all"` without `subject` and `subscriberId`.',
  },
  event_misspelled: {
    status: 422,
    title: 'The name of the event is nearly that of an event type',
    remedy:
      'Use the name that `detail` suggests, or declare this one with `PUT /event-types/{name}`.',
  },
  payload_refused: {
    status: 422,
    title: 'The payload violates the contract',
    remedy: 'See `errors` for the callback, the location in the payload, and the rule.',
  },
  too_many_hops: {
    status: 422,
    title: 'Too many callbacks led to this event',
    remedy:
      'Callbacks and events form a loop: find the callback URL that leads back to a ' +
      'publish, and break the loop there.',
  },
  idempotency_mismatch: {
    status: 422,
    title: 'The idempotency key was used for another request',
    remedy: 'Repeat the original request, or use a new key.',
  },
  quota_exceeded: {
    status: 429,
    title: 'The quota of the app is used up',
    remedy: 'Remove some of what `detail` names, or ask the operator for a higher quota.',
  },
  rate_limited: {
    status: 429,
    title: 'The app publishes faster than its quota allows',
    remedy: 'Retry after `Retry-After` seconds; `RateLimit` shows what is left.',
  },
  too_many_streams: {
    status: 429,
    title: 'Too many streams are open',
    remedy:
      'Close some, or try again later: the limit per node is 200 for an app and 1,000 for ' +
      'all apps.',
  },
  head_too_large: {
    status: 431,
    title: 'The request head is too large',
    remedy: 'Shorten the URL and headers to at most 16 KiB in total.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    remedy: 'This is a bug: report it with the request id.',
  },
  upgrade_not_supported: {
    status: 501,
    title: 'The connection cannot switch to another protocol',
    remedy: 'Connect to the API without the gateway for WebSocket and other protocols.',
  },
  bad_gateway: {
    status: 502,
    title: 'The API behind the gateway cannot be reached',
    remedy:
      'Check that the API runs at the address in `RINGBACK_UPSTREAM`; `detail` has the reason.',
  },
  gateway_timeout: {
    status: 504,
    title: 'The API behind the gateway did not answer in time',
    remedy: 'Find out why the API is slow, or raise `RINGBACK_UPSTREAM_TIMEOUT`.',
  },
  overloaded: {
    status: 503,
    title: 'The service is overloaded',
    remedy: 'The request was not processed. Retry after `Retry-After` seconds, at a lower rate.',
  },
  store_unavailable: {
    status: 503,
    title: 'The store is unavailable',
    remedy:
      'The request was not confirmed and may have been processed. Retry after `Retry-After` ' +
      'seconds, with the same `Idempotency-Key` where the operation accepts one.',
  },
} as const satisfies Record<string, { status: number; title: string; remedy: string }>;

export type ProblemCode = keyof typeof problems;

/** Where in the request the mistake is: `body#/callbackUrl`, `query.event`, `header.X-APP-ID`. */
export interface Fault {
  field: string;
  message: string;
}

/** The field of a nested value: `body#/headers` and `a/b` make `body#/headers/a~1b`. */
export function fieldIn(field: string, name: string | number): string {
  return field + printPointer([String(name)]);
}

/** A problem for an invalid request; its detail is the first of the faults. */
export function invalidRequest(faults: readonly Fault[]): Problem {
  const [first] = faults;
  const more = faults.length - 1;
  const rest = more > 0 ? `, and ${more} more` : '';
  const field = cut(first?.field ?? 'The request', limits.faultFieldCharsMax);
  const detail = `${field} ${first?.message ?? 'is not valid'}${rest}`;
  return new Problem('invalid_request', detail, { faults });
}

interface ProblemOptions {
  faults?: readonly Fault[];
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** A caller's mistake, or a failure that the caller must know about. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly faults: readonly Fault[];
  /** Extra headers of the response. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(
      cut(detail, limits.faultCharsMax),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'Problem';
    this.code = code;
    this.status = problems[code].status;
    this.faults = (options.faults ?? []).map(cutFault);
    this.headers = options.headers ?? {};
  }
}

/** Names and values of a request can be as long as its body, and the response would repeat them. */
function cutFault({ field, message }: Fault): Fault {
  return {
    field: cut(field, limits.faultFieldCharsMax),
    message: cut(message, limits.faultCharsMax),
  };
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax).toWellFormed()}…`;
}
