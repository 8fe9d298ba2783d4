// The limits of the live view. Read them as part of `limits`.

export const streamLimits = {
  /**
   * Frames to one client are at least `frameEveryMs` apart and list that many of the newest
   * changes. A keep-alive is sent after `streamStillHereMs`. A client that does not read is cut off
   * by the server's own timeout, which is longer.
   */
  frameEveryMs: 250,
  frameDeliveriesMax: 20,
  frameSubscriptionsMax: 20,
  frameReplaysMax: 5,
  streamStillHereMs: 15_000,
  streamsPerAppMax: 200,
  streamsMax: 1_000,
  /**
   * How soon a client reconnects or a failed store is read again; how long closing a stream may
   * take.
   */
  streamAgainMs: 1_000,
  streamByeMs: 1_000,
  /**
   * With several nodes: how often the list of watched apps is read and renewed, and how long an
   * entry is valid.
   */
  watchLookMs: 1_000,
  watchRenewMs: 10_000,
  watchLeaseMs: 30_000,
  /**
   * How long changes are kept for clients that reconnect; rows of one node that are read, more than
   * it writes in that time.
   */
  feedKeepMs: 120_000,
  feedRowsMax: 512,
  /** Apps in one edit of the feed, and nodes in one cursor. */
  feedAppsAtOnce: 64,
  feedNodesMax: 64,
} as const;
