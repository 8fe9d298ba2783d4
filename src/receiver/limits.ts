// Every limit of the receiver library. What a stranger may make it do is bounded by these.

export const receiverLimits = {
  /** One callback. Ringback sends no more. */
  bodyBytesMax: 1_048_576,
  /** How far the clocks of sender and receiver may be apart, and how old a repetition may be. */
  toleranceS: 5 * 60,
  /** A `webhook-id`, and what else names something. */
  idCharsMax: 256,
  /** The `webhook-signature`: eight of Ed25519 have 743 characters. */
  signatureCharsMax: 1_024,
  /**
   * Each signature is tried with each secret of its kind, also when one fits: a forged callback of 1 MiB
   * costs so much at most (64 signatures of HMAC took 40 ms, of Ed25519 160).
   */
  signaturesMax: 8,
  secretsMax: 8,
  /** Shared secrets, by Standard Webhooks: at least so many bytes; and what nobody has by intent. */
  secretBytesMin: 24,
  secretBytesMax: 256,
  /** Ids that `rememberIds` keeps unless told otherwise: about 1 MB. */
  idsRememberedMax: 10_000,
} as const;
