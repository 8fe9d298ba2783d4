// What to do about each problem, for the page that every problem links to. docs/errors.md says the
// same; a test holds the two equal.
import type { ProblemCode } from '../../core/problem.ts';

export const remedies = {
  malformed_request:
    'Send valid HTTP and JSON: UTF-8, at most 64 levels deep, no key twice in an object.',
  invalid_request: 'See `errors`; `/docs` says what is expected.',
  no_variant: 'Send what exactly one variant needs.',
  no_callback: "Send the values that the callback's expressions name.",
  unauthorized:
    'Send a key where `WWW-Authenticate` says. Missing, malformed, unknown, expired and revoked ' +
    'keys get the same answer.',
  missing_scope: 'Use a key with the scope that `detail` names.',
  cross_origin: "Send the key in the header, or call from the service's own origin.",
  not_found: "Check the path and the id. Another app's id looks like an unknown one.",
  method_not_allowed: 'Use one of the methods in `Allow`.',
  request_timeout: 'Send the whole request within 15 seconds.',
  conflict: 'Read it again; `detail` says what stands in the way.',
  body_too_large: 'Send at most 1 MiB.',
  url_too_long: 'Shorten the path.',
  unsupported_media_type: 'Send `Content-Type: application/json`, UTF-8, not compressed.',
  target_refused: '`errors` names the field and says why.',
  payload_refused: 'See `errors`: the callback, the place in the payload, and the rule.',
  idempotency_mismatch: 'Repeat the same request, or use a new key.',
  head_too_large: 'Send less in headers and URL: 16 KiB in all.',
  internal: 'A bug: report it with the request id.',
  store_unavailable: 'Nothing was kept. Try again after `Retry-After` seconds.',
} as const satisfies Record<ProblemCode, string>;
