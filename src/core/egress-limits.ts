// The limits of requests to receivers; everybody reads them as part of `limits`.

export const egressLimits = {
  /** Guard: one look-up, and the addresses it may answer. */
  dnsTimeoutMs: 2_000,
  dnsAddressesMax: 16,
  connectTimeoutMs: 5_000,
  /**
   * Responses to callbacks, as they come over the wire: the head, all after it; what is kept of
   * the head, and how long the body is read after it.
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
  /** Connections to receivers: to one origin, idle in all, and how long one is kept. */
  connectionsPerOriginMax: 128,
  connectionsIdleMax: 512,
  connectionIdleMs: 4_000,
  /** So much earlier than the receiver says is it closed from here. */
  connectionIdleMarginMs: 2_000,
  connectionAgeMs: 60_000,
  /** To one origin, opened as they are needed; beyond that, a few for those who have waited so long for one. */
  connectionsEagerMax: 8,
  connectionPatienceMs: 10,
  /** A request on a used connection that is closed within this time met a stale one. */
  connectionStaleMs: 1_000,
  /** Callback URLs whose reading is remembered. */
  urlsRememberedMax: 4_096,
  /** Responses: bytes read, and bytes kept of a success. */
  responseBytesMax: 16_384,
  responseKeptOfSuccessBytes: 1_024,
} as const;
