// All limits of the client. Callers can set `timeoutMs` and `retries`; the others are fixed.

export const clientLimits = {
  /** One attempt, from the first byte sent to the last byte read. */
  timeoutMs: 30_000,
  timeoutMsMax: 600_000,
  /** Retries after the first attempt. */
  retries: 4,
  retriesMax: 20,
  /** Delays between attempts double between these two; half of each delay is random. */
  waitMs: 250,
  waitMsMax: 8_000,
  /** If the service asks for a longer wait than this, the call fails instead of waiting. */
  retryAfterMsMax: 60_000,
  /** A page of 500 items has a few MiB at most. */
  answerBytesMax: 64 * 1024 * 1024,
  /** How much of a path, or of an unreadable response, a message quotes. */
  quoteCharsMax: 200,
  idempotencyKeyCharsMax: 255,
  /** The service sends something every 15 seconds, so a stream that is silent for this long is dead. */
  streamSilenceMs: 45_000,
  /** Delay before reconnecting, unless the service sets it; delays double up to the second value. */
  streamAgainMs: 1_000,
  /** Lower bound, whatever the service sends: `retry: 0` and a closed stream made 800 connections in 3 s. */
  streamAgainMsMin: 500,
  streamAgainMsMax: 30_000,
  /** One server-sent event: with at most 20 deliveries, it stays far below this. */
  sentEventCharsMax: 4 * 1024 * 1024,
  lastEventIdCharsMax: 8_192,
} as const;
