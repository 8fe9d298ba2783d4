// The one table of what can go wrong for a caller, and the one error class that carries it.
// docs/errors.md lists the same codes; a test holds the two equal.

export const problems = {
  malformed_request: { status: 400, title: 'The request cannot be read' },
  invalid_request: { status: 400, title: 'The request does not fit the contract' },
  no_variant: { status: 400, title: 'The request fits no variant of the operation, or several' },
  no_callback: { status: 400, title: 'No callback target can be made from the request' },
  unauthorized: { status: 401, title: 'A valid API key is required' },
  missing_scope: { status: 403, title: 'The API key lacks the scope for this operation' },
  cross_origin: { status: 403, title: 'A cookie key was sent from another origin' },
  not_found: { status: 404, title: 'There is nothing here' },
  method_not_allowed: { status: 405, title: 'The path does not offer this method' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  conflict: { status: 409, title: 'The resource is in a state that forbids this' },
  body_too_large: { status: 413, title: 'The request body is too large' },
  url_too_long: { status: 414, title: 'The request URL is too long' },
  unsupported_media_type: { status: 415, title: 'The request body has an unsupported type' },
  target_refused: { status: 422, title: 'The callback URL cannot be accepted' },
  payload_refused: { status: 422, title: 'The payload breaks the contract' },
  idempotency_mismatch: { status: 422, title: 'The idempotency key was used for another request' },
  head_too_large: { status: 431, title: 'The request head is too large' },
  internal: { status: 500, title: 'Ringback failed' },
  store_unavailable: { status: 503, title: 'The store is not available' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

/** Where in the request the mistake is: `body#/callbackUrl`, `query.event`, `header.X-APP-ID`. */
export interface Fault {
  field: string;
  message: string;
}

/** A caller's mistake, or a failure that a caller must hear of. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly faults: readonly Fault[];

  constructor(
    code: ProblemCode,
    detail: string,
    options: { faults?: readonly Fault[]; cause?: unknown } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.status = problems[code].status;
    this.faults = options.faults ?? [];
  }
}
