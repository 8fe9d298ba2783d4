// All limits of the receiver library. They bound the work that an unauthenticated sender can cause.

export const receiverLimits = {
  /** Maximum body size of a callback. Ringback never sends more. */
  bodyBytesMax: 1_048_576,
  /** Maximum clock difference between sender and receiver, and maximum age of a resent callback. */
  toleranceS: 5 * 60,
  /** Length of a `webhook-id` and of other names. */
  idCharsMax: 256,
  /** Length of `ringback-event`: 256 characters of four percent-encoded bytes each. */
  eventCharsMax: 3_072,
  /** Length of `webhook-signature`: eight Ed25519 signatures have 743 characters. */
  signatureCharsMax: 1_024,
  /**
   * Each signature is tried with each secret of its kind, even after one matches. Eight forged ones over 1 MiB
   * cost 12 ms of CPU with one shared secret and 28 with one public key, with four 41 and 116.
   */
  signaturesMax: 8,
  secretsMax: 4,
  /** Length of shared secrets: the minimum of Standard Webhooks, and a maximum beyond any real secret. */
  secretBytesMin: 24,
  secretBytesMax: 256,
  /** Number of ids that `rememberIds` keeps by default: about 1 MB. */
  idsRememberedMax: 10_000,
} as const;
