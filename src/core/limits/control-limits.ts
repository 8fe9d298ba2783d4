// The limits of what a subscription may choose for itself. Read them as part of `limits`.

export const controlLimits = {
  /** Patterns of a callback, its description and its metadata. */
  patternsPerCallbackMax: 20,
  descriptionCharsMax: 512,
  metadataKeysMax: 50,
  metadataKeyCharsMax: 64,
  metadataValueCharsMax: 512,
  /** All metadata as JSON. Lists show it, and nodes keep it in memory while they send callbacks. */
  metadataBytesMax: 16_384,
  /** Retries and the longest wait between them; the timeout of an attempt; concurrency and rate. */
  retriesMax: 20,
  retryWaitMaxMs: 7 * 24 * 60 * 60 * 1000,
  attemptMinMs: 100,
  attemptMaxMs: 60_000,
  concurrencyMax: 128,
  ratePerSecondMin: 0.001,
  ratePerSecondMax: 1_000,
  /**
   * Headers that a subscription adds to its callbacks: how many, a name, a value, and all together.
   */
  callbackHeadersMax: 20,
  callbackHeaderNameCharsMax: 128,
  callbackHeaderCharsMax: 1_024,
  callbackHeadersBytesMax: 4_096,
  /**
   * Payload filters: pointers, values of each, characters of a pointer, and of the filter as JSON.
   */
  filterPointersMax: 20,
  filterValuesMax: 100,
  filterPointerCharsMax: 256,
  filterCharsMax: 4_096, // A publish reads up to 256 filters.
  /** How long a pattern without any subscriber is kept. */
  patternKeepMs: 60 * 60 * 1000,
  /** Subscriptions that expire in one step. */
  expiringMax: 64,
  /**
   * With several nodes: how often each looks for expired subscriptions; and the wait after a store
   * failure.
   */
  expiryPollMs: 5_000,
  expiryAgainMs: 1_000,
} as const;
