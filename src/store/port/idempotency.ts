// How a repeated request is recognised.

/** `key` and `print` are digests: of operation and Idempotency-Key, and of the request. */
export interface Idempotency {
  key: Uint8Array;
  print: Uint8Array;
}
