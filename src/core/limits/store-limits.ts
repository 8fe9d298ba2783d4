// The limits of the store and its databases. Read them as part of `limits`.

export const storeLimits = {
  /**
   * Store batches: edits in one, of them of one app while others wait (an event of a publish counts
   * as an edit), and edits and reads that may be queued.
   */
  batchEditsMax: 512,
  batchEditsOfAppMax: 128,
  /** PostgreSQL: a batch of edits that are written one after the other begins no other one after this. */
  batchEditsMs: 250,
  editsWaitingMax: 4_096,
  readsWaitingMax: 4_096,
  /** SQLite: lists read at a time, each on a connection of its own; at most one per app. */
  listReadersMax: 3,
  /** Payload bytes: in one batch, and queued. */
  batchPayloadBytesMax: 4 * 1_048_576,
  payloadBytesWaitingMax: 32 * 1_048_576,
  /** Rows that share a slice number, so that large indexes grow in a few hot pages. */
  sliceRowsMax: 4_096,
  /**
   * How far beyond its events the span of a slice reaches: as far as the slice is old, between
   * these two.
   */
  sliceReachMs: 1_000,
  sliceReachMaxMs: 10 * 60_000,
  /** Payload bytes in one page of events; bytes of settings in one page of subscriptions. */
  pageBytesMax: 4 * 1_048_576,
  /** SQLite: how long to wait for a locked file, and WAL pages before a checkpoint. */
  storeBusyMs: 5_000,
  storeLogPages: 4_000,
  /** PostgreSQL timeouts: connecting; a statement; a lock; an idle transaction. */
  databaseConnectMs: 3_000,
  databaseStatementMs: 10_000,
  databaseLockMs: 3_000,
  databaseIdleInTransactionMs: 5_000,
  /** How long after the statement timeout a silent connection counts as dead. */
  databaseSilenceMs: 5_000,
  /** How long closing a connection may take before its socket is destroyed. */
  databaseGoodbyeMs: 1_000,
  /** Keep-alive of idle connections, so that a vanished database is noticed. */
  databaseKeepAliveMs: 10_000,
  /** A commit whose outcome is unknown: how long and how often the database is asked. */
  commitUnknownMs: 5_000,
  commitAskMs: 100,
  /**
   * Connections for reads; how often a node polls for work without a notification; how often it
   * reads the time.
   */
  databaseReadersMax: 4,
  databasePollMs: 250,
  databaseClockMs: 10_000,
  /**
   * SQLite: an attempt's request and response are stored in its own row if they are no longer than
   * this.
   */
  attemptRowBytes: 512,
  /** How long outcomes, and the claim that goes with them, may wait for publishes to be written. */
  outcomesBehindMs: 50,
  /** A reading of the database's clock that took longer than this is too inaccurate to use. */
  clockReadingMs: 1_000,
  /** SQLite: a clock that was set back by less than this changes nothing. */
  clockBackMs: 1_000,
  /**
   * Other nodes are notified of new work at most this often; a lost listening connection is
   * reopened this often.
   */
  notifyEveryMs: 10,
  listenAgainMs: 1_000,
  /** How often a transaction is run again after a deadlock or serialization failure. */
  transactionTriesMax: 5,
  /** How soon an idle lane is looked at again; the wait grows up to the second number. */
  lingerMs: 50,
  lingerMaxMs: 10_000,
  /**
   * Looks skip rows older than this, except now and then. Otherwise every look would step over the
   * dead rows of that time while any transaction stays open, which can halve the rate
   * (bench/parts/store-long-transaction.ts). A row that is committed even later, which our own
   * transactions rule out, is found when the floor is dropped.
   */
  floorMs: 5_000,
  floorDropMs: 10_000,
  /** How long a node uses one slice number. */
  sliceAgeMs: 10 * 60_000,
  /** Schema changes wait longer for locks: no request queues behind them. */
  databaseSchemaLockMs: 60_000,
  /**
   * Attempts at a migration that conflicts with other transactions, and the pause that lets those
   * go first.
   */
  migrationTriesMax: 5,
  migrationPauseMs: 100,
  /**
   * Partitions: days created in advance and at a time; attempts to lock one, and the timeout of
   * each.
   */
  partitionDaysAhead: 3,
  partitionDaysMax: 400,
  partitionTriesMax: 20,
  partitionLockMs: 500,
} as const;
