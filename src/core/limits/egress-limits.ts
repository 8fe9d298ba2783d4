// The limits of requests to receivers. Read them as part of `limits`.

export const egressLimits = {
  /** Guard: one DNS lookup, and how many addresses it may return. */
  dnsTimeoutMs: 2_000,
  dnsAddressesMax: 16,
  connectTimeoutMs: 5_000,
  /**
   * Responses to callbacks: bytes of the head and everything after it on the wire; headers that are
   * kept of the head; how long the body is read after the head.
   */
  responseHeadBytesMax: 16_384,
  responseHeadLinesMax: 512,
  responseRestBytesMax: 20_480,
  responseHeadersMax: 50,
  responseHeaderNameCharsMax: 128,
  responseHeaderCharsMax: 1_024,
  responseReadMs: 1_000,
  /** Interim responses (103 and the like) before the final one. */
  responsesInterimMax: 100,
  /** Connections to receivers: per origin, idle in total, and how long an idle one is kept. */
  connectionsPerOriginMax: 128,
  connectionsIdleMax: 512,
  connectionIdleMs: 4_000,
  /** Close an idle connection this much earlier than the receiver announced. */
  connectionIdleMarginMs: 2_000,
  connectionAgeMs: 60_000,
  /**
   * Connections to one origin that are opened on demand; beyond that, only for requests that waited
   * this long.
   */
  connectionsEagerMax: 8,
  connectionPatienceMs: 10,
  /** A reused connection that closes within this time of the request was stale. */
  connectionStaleMs: 1_000,
  /** Parsed callback URLs that are cached. */
  urlsRememberedMax: 4_096,
  /** Response bodies: bytes read, and bytes kept of a success. */
  responseBytesMax: 16_384,
  responseKeptOfSuccessBytes: 1_024,
} as const;
