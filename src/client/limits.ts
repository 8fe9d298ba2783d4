// Every bound of the client. Callers may set `timeoutMs` and `retries`; the rest is as it is here.

export const clientLimits = {
  /** One try, from the first byte sent to the last byte read. */
  timeoutMs: 30_000,
  timeoutMsMax: 600_000,
  /** Tries after the first one. */
  retries: 4,
  retriesMax: 20,
  /** Waits between tries double from here to there; half of each is left to chance. */
  waitMs: 250,
  waitMsMax: 8_000,
  /** A service that asks for more patience than this is not asked again: the caller hears of it. */
  retryAfterMsMax: 60_000,
  /** A page of 500 items is a few MiB at the very most. */
  answerBytesMax: 64 * 1024 * 1024,
  /** What a message repeats of an answer that cannot be read, and of a path. */
  quoteCharsMax: 200,
  idempotencyKeyCharsMax: 255,
  /** The service says something every 15 seconds, so a stream that is silent for so long is dead. */
  streamSilenceMs: 45_000,
  /** Reconnecting, unless the service says otherwise; waits double up to the second one. */
  streamAgainMs: 1_000,
  /** However little the service says: `retry: 0` and an end made 800 connections in 3 s. */
  streamAgainMsMin: 500,
  streamAgainMsMax: 30_000,
  /** One server-sent event: at most 20 deliveries, far below this. */
  sentEventCharsMax: 4 * 1024 * 1024,
  lastEventIdCharsMax: 8_192,
} as const;
