// Why a callback was refused. The reason is for the receiver's own log: whoever sent it learns nothing of
// it, and no message repeats what a stranger wrote.

/**
 * - `header_missing`: one of `webhook-id`, `webhook-timestamp`, `webhook-signature` is not there
 * - `header_repeated`: a header is there more than once
 * - `header_malformed`: a header is too long, or not of the shape that a sender gives it
 * - `too_old`, `too_new`: the timestamp is further from now than the tolerance
 * - `signature_wrong`: no signature is by one of the secrets, over this id, time and body
 * - `body_too_large`: more than `bodyBytesMax`
 * - `body_cut`: the connection ended before the body did
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
