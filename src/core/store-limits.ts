// The limits of the store and its databases: a part of limits.ts, which is where everybody looks for them.

export const storeLimits = {
  /** Store batches. */
  batchEditsMax: 512,
  /** PostgreSQL: a batch of edits that are written one after the other begins no other one after this. */
  batchEditsMs: 250,
  editsWaitingMax: 4_096,
  readsWaitingMax: 4_096,
  /** SQLite: lists that are read in turn, each on a connection of its own; one for each app at most. */
  listReadersMax: 3,
  /** Payloads: in one batch, and waiting for one. */
  batchPayloadBytesMax: 4 * 1_048_576,
  payloadBytesWaitingMax: 32 * 1_048_576,
  /** Rows that share a slice number, so that long indexes grow in a few hot pages. */
  sliceRowsMax: 4_096,
  /** How far ahead of its events the span of a slice reaches: as far as it is old, between these. */
  sliceReachMs: 1_000,
  sliceReachMaxMs: 10 * 60_000,
  /** Payloads in one page of events; what is chosen in one of subscriptions. */
  pageBytesMax: 4 * 1_048_576,
  /** SQLite: how long a locked file is waited for, and pages in the log before it is folded in. */
  storeBusyMs: 5_000,
  storeLogPages: 4_000,
  /** PostgreSQL: to connect; one statement; one lock; a transaction that nobody goes on with. */
  databaseConnectMs: 3_000,
  databaseStatementMs: 10_000,
  databaseLockMs: 3_000,
  databaseIdleInTransactionMs: 5_000,
  /** What a node waits beyond the statement's own limit before it takes the connection for dead. */
  databaseSilenceMs: 5_000,
  /** How long a goodbye may take before the connection is left without one. */
  databaseGoodbyeMs: 1_000,
  /** An idle connection is tried this often, so that a vanished database is noticed. */
  databaseKeepAliveMs: 10_000,
  /** A commit whose outcome is unknown: how long the database is asked, and how often. */
  commitUnknownMs: 5_000,
  commitAskMs: 100,
  /** Connections for reads; looks for work though nobody said there is some; the time is read. */
  databaseReadersMax: 4,
  databasePollMs: 250,
  databaseClockMs: 10_000,
  /** On SQLite, what an attempt sent and got back stands in its own row if it is no longer than this. */
  attemptRowBytes: 512,
  /** Outcomes, and the claim that goes with them, wait at most so long for what is published to be written. */
  outcomesBehindMs: 50,
  /** A reading of the database's clock that took longer than this says too little. */
  clockReadingMs: 1_000,
  /** SQLite: a clock that was set back by less than this moves nothing. */
  clockBackMs: 1_000,
  /** Others are told of new work at most this often; a lost ear is mended this often. */
  notifyEveryMs: 10,
  listenAgainMs: 1_000,
  /** A transaction that stood in another's way is run again so many times. */
  transactionTriesMax: 5,
  /** A quiet lane is looked at again after this long, doubling up to that. */
  lingerMs: 50,
  lingerMaxMs: 10_000,
  /**
   * Looks leave out what lies further back than this, except now and then. The dead rows of this long
   * are stepped over at every look while anybody's transaction stays open: 36,000 of them in 99 lanes
   * halved the rate (bench/parts/store-long-transaction.ts). What is committed later than this, which a
   * transaction of ours hardly can be, is found when the floor is dropped.
   */
  floorMs: 5_000,
  floorDropMs: 10_000,
  /** A node takes another number for its slice after this long. */
  sliceAgeMs: 10 * 60_000,
  /** What waits to change the schema waits longer: nobody waits behind it. */
  databaseSchemaLockMs: 60_000,
  /** A migration that stood in somebody's way is tried so many times, and others go first meanwhile. */
  migrationTriesMax: 5,
  migrationPauseMs: 100,
  /** Partitions: days made in advance and at once; how often and how long locks for one are tried. */
  partitionDaysAhead: 3,
  partitionDaysMax: 400,
  partitionTriesMax: 20,
  partitionLockMs: 500,
} as const;
