// The limits of what a subscription may choose for itself; everybody reads them as part of `limits`.

export const controlLimits = {
  /** What a subscription chooses for itself: patterns of a callback, text for people, metadata. */
  patternsPerCallbackMax: 20,
  descriptionCharsMax: 512,
  metadataKeysMax: 50,
  metadataKeyCharsMax: 64,
  metadataValueCharsMax: 512,
  /** All of it, as JSON: a list shows it, and whoever sends a callback keeps it in memory. */
  metadataBytesMax: 16_384,
  /** Retries: how many, and the longest wait; the time of an attempt; attempts at once and a second. */
  retriesMax: 20,
  retryWaitMaxMs: 7 * 24 * 60 * 60 * 1000,
  attemptMinMs: 100,
  attemptMaxMs: 60_000,
  concurrencyMax: 128,
  ratePerSecondMin: 0.001,
  ratePerSecondMax: 1_000,
  /** Headers that it adds to its callbacks: how many, a name, a value, and all in all. */
  callbackHeadersMax: 20,
  callbackHeaderNameCharsMax: 128,
  callbackHeaderCharsMax: 1_024,
  callbackHeadersBytesMax: 4_096,
  /** Payload filters: places, values for each, characters of a pointer, and of the whole as JSON. */
  filterPointersMax: 20,
  filterValuesMax: 100,
  filterPointerCharsMax: 256,
  filterCharsMax: 4_096, // A publish reads 256 of them.
  /** Patterns that nobody hears by any more are kept so long. */
  patternKeepMs: 60 * 60 * 1000,
  /** Subscriptions that end by themselves, in one step. */
  expiringMax: 64,
  /** Among several nodes: how often each looks for them; and after a failure of the store. */
  expiryPollMs: 5_000,
  expiryAgainMs: 1_000,
} as const;
