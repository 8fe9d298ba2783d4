// The table of everything that can go wrong for a caller, and the only error class that carries it.
// A test keeps docs/errors.md equal to the table.
import { limits } from './limits.ts';
import { printPointer } from './pointer.ts';

export const problems = {
  malformed_request: {
    status: 400,
    title: 'The request cannot be read',
    remedy: 'Send valid HTTP and JSON: UTF-8, at most 64 levels deep, no key twice in an object.',
  },
  invalid_request: {
    status: 400,
    title: 'The request does not fit the contract',
    remedy: 'See `errors`; `/docs` says what is expected.',
  },
  no_variant: {
    status: 400,
    title: 'The request fits no variant of the operation, or several',
    remedy: 'Send what exactly one variant needs.',
  },
  no_callback: {
    status: 400,
    title: 'No callback target can be made from the request',
    remedy: "Send the values that the callback's expressions name.",
  },
  unauthorized: {
    status: 401,
    title: 'A valid API key is required',
    remedy:
      'Send a key where `WWW-Authenticate` says. Missing, malformed, unknown, expired and revoked ' +
      'keys get the same answer.',
  },
  missing_scope: {
    status: 403,
    title: 'The API key lacks the scope for this operation',
    remedy: 'Use a key with the scope that `detail` names.',
  },
  wrong_app: {
    status: 403,
    title: 'The app id that was sent is not that of the API key',
    remedy: 'Send the id of the app that the key belongs to, or a key of the app that you mean.',
  },
  cross_origin: {
    status: 403,
    title: 'A cookie key was sent from another origin',
    remedy: "Send the key in the header, or call from the service's own origin.",
  },
  not_found: {
    status: 404,
    title: 'There is nothing here',
    remedy: "Check the path and the id. Another app's id looks like an unknown one.",
  },
  method_not_allowed: {
    status: 405,
    title: 'The path does not offer this method',
    remedy: 'Use one of the methods in `Allow`.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    remedy: 'Send the whole request within 15 seconds.',
  },
  conflict: {
    status: 409,
    title: 'The resource is in a state that forbids this',
    remedy: 'Read it again; `detail` says what stands in the way.',
  },
  body_too_large: {
    status: 413,
    title: 'The request body is too large',
    remedy: 'Send at most 1 MiB, or what `detail` names where the operator allows less.',
  },
  url_too_long: {
    status: 414,
    title: 'The request URL is too long',
    remedy: 'Shorten the path.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The request body has an unsupported type',
    remedy: 'Send `Content-Type: application/json`, UTF-8, not compressed.',
  },
  target_refused: {
    status: 422,
    title: 'The callback URL cannot be accepted',
    remedy: '`errors` names the field and says why.',
  },
  payload_refused: {
    status: 422,
    title: 'The payload breaks the contract',
    remedy: 'See `errors`: the callback, the place in the payload, and the rule.',
  },
  too_many_hops: {
    status: 422,
    title: 'Too many callbacks led to this event, one after the other',
    remedy:
      'Callbacks and events form a loop: look for a callback URL that leads back to a publish, and end it there.',
  },
  idempotency_mismatch: {
    status: 422,
    title: 'The idempotency key was used for another request',
    remedy: 'Repeat the same request, or use a new key.',
  },
  quota_exceeded: {
    status: 429,
    title: 'The app has as many as its quota allows',
    remedy: 'End some, or ask the operator for more; `detail` says of what, and how many.',
  },
  rate_limited: {
    status: 429,
    title: 'The app publishes faster than its quota allows',
    remedy: 'Publish again after `Retry-After` seconds; `RateLimit` says what is left.',
  },
  too_many_streams: {
    status: 429,
    title: 'Too many streams are open',
    remedy: 'Close some, or try again later: an app may have 200 at a node, all apps 1,000.',
  },
  head_too_large: {
    status: 431,
    title: 'The request head is too large',
    remedy: 'Send less in headers and URL: 16 KiB in all.',
  },
  internal: {
    status: 500,
    title: 'Ringback failed',
    remedy: 'A bug: report it with the request id.',
  },
  overloaded: {
    status: 503,
    title: 'There is more to do than can be done',
    remedy: 'Nothing was done. Try again after `Retry-After` seconds, and then more slowly.',
  },
  store_unavailable: {
    status: 503,
    title: 'The store is not available',
    remedy:
      'Nothing was promised. Try again after `Retry-After` seconds, with the same ' +
      '`Idempotency-Key` where one is taken: what was asked may have happened.',
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
