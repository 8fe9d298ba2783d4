// Why a callback was rejected. The reason is for the receiver's own log: the sender never sees it, and no message
// repeats text from an unverified request.

/**
 * - `header_missing`: `webhook-id`, `webhook-timestamp` or `webhook-signature` is missing
 * - `header_repeated`: a header is present more than once
 * - `header_malformed`: a header is too long or malformed
 * - `too_old`, `too_new`: the timestamp differs from the current time by more than the tolerance
 * - `signature_wrong`: no signature matches one of the secrets for this id, time and body
 * - `body_too_large`: more than `bodyBytesMax`
 * - `body_cut`: the connection ended before the body was complete
 */
export type ForgeryCode =
  | 'header_missing'
  | 'header_repeated'
  | 'header_malformed'
  | 'too_old'
  | 'too_new'
  | 'signature_wrong'
  | 'body_too_large'
  | 'body_cut';

export class ForgeryError extends Error {
  override readonly name = 'ForgeryError';
  readonly code: ForgeryCode;

  constructor(code: ForgeryCode, message: string) {
    super(message);
    this.code = code;
  }
}
