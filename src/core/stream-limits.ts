// The limits of the live view; everybody reads them as part of `limits`.

export const streamLimits = {
  /**
   * The live view: frames to one client are at least so far apart, and show so many of the newest
   * changes. A sign of life after so long; a client that does not read is cut off by the server's own
   * time limit, which is longer.
   */
  frameEveryMs: 250,
  frameDeliveriesMax: 20,
  frameSubscriptionsMax: 20,
  frameReplaysMax: 5,
  streamStillHereMs: 15_000,
  streamsPerAppMax: 200,
  streamsMax: 1_000,
  /** A client reconnects after this; a failing store is asked again; a goodbye is waited for so long. */
  streamAgainMs: 1_000,
  streamByeMs: 1_000,
  /** Among several nodes: who watches what is read and renewed so often, and holds for so long. */
  watchLookMs: 1_000,
  watchRenewMs: 10_000,
  watchLeaseMs: 30_000,
  /** What changed is kept so long for clients that come back. Rows of one node: more than that makes. */
  feedKeepMs: 120_000,
  feedRowsMax: 512,
  /** Apps that one edit tells of, and nodes that a cursor names. */
  feedAppsAtOnce: 64,
  feedNodesMax: 64,
} as const;
