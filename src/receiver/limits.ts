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
   * Each signature is tried with each secret of its kind, also when one fits. Eight forged ones over 1 MiB
   * cost 12 ms of CPU with one shared secret and 28 with one public key, with four 41 and 116.
   */
  signaturesMax: 8,
  secretsMax: 4,
  /** Shared secrets, by Standard Webhooks: at least so many bytes; and what nobody has by intent. */
  secretBytesMin: 24,
  secretBytesMax: 256,
  /** Ids that `rememberIds` keeps unless told otherwise: about 1 MB. */
  idsRememberedMax: 10_000,
} as const;
