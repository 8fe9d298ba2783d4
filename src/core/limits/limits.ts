// Every limit of the program; four groups have files of their own beside this one. A loop, queue,
// body or batch whose bound has no name here is a bug.
import { accessLimits } from './access-limits.ts';
import { admissionLimits } from './admission-limits.ts';
import { storeLimits } from './store-limits.ts';
import { streamLimits } from './stream-limits.ts';

// The limits of requests to receivers. Read them as part of `limits`.

const egressLimits = {
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

// The limits of what a subscription may choose for itself. Read them as part of `limits`.

const controlLimits = {
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
  /** The value of a header that a document declares for a callback. Access tokens can be long. */
  declaredHeaderCharsMax: 8_192,
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

// The limits of the command line. Read them as part of `limits`.

const cliLimits = {
  /** Shortest time between two redraws of a progress bar. */
  progressEveryMs: 100,
  /** A smaller backup finishes too fast for a progress bar to be worth showing. */
  backupShownBytes: 10_000_000,
  /** How often the CLI polls the service while it waits for a result: at first, and later. */
  askEveryMs: 250,
  askEveryMaxMs: 2_000,
  /**
   * Retries of a call before the service has answered once, where a fast failure is better; and
   * after it has.
   */
  callRetries: 1,
  longRetries: 8,
  /** How long `listen` waits on exit for the service to end its subscription. */
  leaveMs: 5_000,
  /** Smaller than the largest request body: names, commas and quotes are added to the events. */
  batchBytesMax: 900_000,
  /** A payload from a file or standard input. The service refuses much smaller ones itself. */
  inputBytesMax: 4 * 1_048_576,
  /** Deliveries that one `retry` sends at a time. */
  retriesAtOnceMax: 1_000,
} as const;

export const limits = {
  ...cliLimits,
  ...controlLimits,
  ...egressLimits,
  ...accessLimits,
  ...admissionLimits,
  ...storeLimits,
  ...streamLimits,
  /** Bytes of a request body. */
  bodyBytesMax: 1_048_576,
  /** Nesting of a JSON body; deeper ones can crash parsers and serialisers of receivers. */
  jsonDepthMax: 64,
  /** Values (objects, arrays, scalars, keys) in one JSON body. */
  jsonNodesMax: 50_000,
  /**
   * Keys outside opaque members: each is compared with its siblings, and checked again by every
   * schema.
   */
  jsonKeysMax: 10_000,
  /** Request line and headers together. */
  headBytesMax: 16_384,
  /** A callback URL, as given and as canonicalised. */
  urlBytesMax: 4_096,
  /** Callbacks that one subscribe request may register. */
  callbacksPerSubscriptionMax: 64,
  /** Code points of an event name or pattern. */
  eventNameCharsMax: 256,
  /**
   * Event types that an app declares: how many, characters of one schema and of one example, of a description, and of
   * all of them together.
   */
  eventTypesMax: 1_000,
  eventTypeSchemaCharsMax: 65_536,
  eventTypeExampleCharsMax: 65_536,
  eventTypeDescriptionCharsMax: 1_000,
  eventTypesCharsMax: 4 * 1_048_576,
  /** Compared in a publish to find misspelled names; what is left after that is not looked for. */
  spellingCharsMax: 1_000_000,
  /** A node remembers the names of as many apps, and parsed schemas of so many characters. */
  eventTypeAppsKeptMax: 1_000,
  eventTypeCharsKeptMax: 4 * 1_048_576,
  /** Code points of a subject, and of a customer. */
  subjectCharsMax: 256,
  customerCharsMax: 128,
  /** The longest time that a document may let a subscription live (`x-ringback-expires`). */
  expiresMaxMs: 3_650 * 24 * 60 * 60_000,
  /** How long a subscription with a subject lives, unless it says otherwise. */
  subjectKeepMs: 30 * 24 * 60 * 60_000,
  /** How long a subscription may stay unconfirmed. */
  confirmWithinMs: 24 * 60 * 60_000,
  /** How long the gateway waits after a store failure before it registers again what the API has answered. */
  exchangeAgainMs: 250,
  /** So many at once: each keeps its request in memory. */
  exchangesAgainMax: 200,
  /**
   * Characters of `traceparent` and of `tracestate`; W3C Trace Context requires 512 of the latter.
   */
  traceCharsMax: 512,
  /**
   * Log bytes buffered for a slow reader; further lines are dropped. How long a shutdown waits for
   * them.
   */
  logBytesWaitingMax: 4 * 1_048_576,
  logFlushMs: 1_000,
  /**
   * Request log lines are written together: at most this many characters, after at most this time.
   */
  logGatherChars: 65_536,
  logGatherMs: 20,
  /** How long a shutdown waits for spans to be exported. */
  traceFlushMs: 3_000,
  /** Characters of parsed subscription filters that are cached: a thousand of the longest. */
  filtersRememberedCharsMax: 4 * 1_048_576,
  /** Text of a problem: the name of a field, and a message. */
  faultFieldCharsMax: 512,
  faultCharsMax: 4_096,
  /** Names of apps and keys. */
  nameCharsMax: 128,
  /** Redirects that one attempt follows. */
  redirectsMax: 3,
  /** Callbacks in the chain that led to an event. */
  hopsMax: 5,
  /** Length of an Idempotency-Key header, and how long a key is kept. */
  idempotencyKeyCharsMax: 255,
  idempotencyKeepMs: 24 * 60 * 60 * 1000,
  /** Lists: items per page, and rows that a query may examine to fill one; some count as several. */
  pageItemsDefault: 50,
  pageItemsMax: 500,
  rowsExaminedMax: 40_000,
  /** Skipped callbacks of an event that a response shows. */
  skippedShownMax: 5,
  /**
   * What a list reads at a time: rows with payloads, subscriptions with their settings; and
   * statements it may run to fill one page.
   */
  eventsReadAtOnce: 8,
  subscriptionsReadAtOnce: 50,
  pageStatementsMax: 1_000,
  /**
   * A statement of a search: rows it examines at first and at most, and index positions it probes.
   */
  searchRowsMin: 64,
  searchRowsMax: 1_024,
  searchRangesMax: 64,
  /**
   * Subscriptions of a customer that a list of customers counts, and that its statistics sum up: a
   * sum of 1,000 takes up to 0.7 s of CPU.
   */
  customerSubscriptionsMax: 1_000,
  customerSummedMax: 200,
  /** A search that names more lanes checks each match instead. */
  searchLanesMax: 256,
  /** Cost of one index probe, in rows examined. */
  indexProbeRows: 10,
  /**
   * With at most this many failures, a search examines all of them, whatever its other conditions.
   */
  failuresFewMax: 20_000,
  /**
   * The dispatch window of a node: attempts in flight; the part of them that may be claimed;
   * attempts in flight or with an unwritten outcome; the cap of a lane at first and at most.
   */
  windowMax: 256,
  windowClaimedMax: 192,
  unwrittenMax: 512,
  laneCapStart: 8,
  laneCapMax: 128,
  /** Lanes that a node remembers: those in flight, and failing ones. */
  lanesRememberedMax: 512,
  /**
   * An idle lane whose cap is at least this many times that of a new lane keeps it, up to the
   * second number; and how many lanes do.
   */
  laneTrustedTimes: 1.5,
  laneCapKept: 32,
  lanesTrustedMax: 64,
  /** Deliveries that a claim takes from one lane, and lanes that it looks at. */
  lookRowsMax: 8,
  claimLanesMax: 256,
  /** A claim runs at least this often, even without a wake-up. */
  claimEveryMs: 10_000,
  /**
   * Large fan-outs: targets above which an event is fanned out in steps, and callbacks per step. A
   * step takes as many as there is room for. It takes only the minimum for `fanOutSharedMs` after
   * another publish, unless the payload is larger than `fanOutSharedBytesMax` (each step reads it),
   * and fewer still where the step shares the transaction with publishes. A step waits for room at
   * most `fanOutPutOffMax` times.
   */
  targetsAtOnceMax: 256,
  fanOutStepMin: 32,
  fanOutStepMax: 128,
  fanOutSharedMs: 250,
  fanOutJoinedStepMax: 16,
  fanOutSharedBytesMax: 65_536,
  fanOutPutOffMax: 2,
  /**
   * On PostgreSQL a node remembers which subscriptions match an event name: for `listenerCacheNamesMax`
   * names, with at most `listenerCacheListenersMax` subscriptions each. After `listenerCacheSteadyTimes` unchanged
   * matches, a publish no longer waits for the result of the match.
   */
  listenerCacheNamesMax: 1_000,
  listenerCacheListenersMax: 32,
  listenerCacheSteadyTimes: 4,
  /**
   * Stuck fan-outs that are skipped one by one; with more, all up to the newest of them are
   * skipped.
   */
  stalledFanOutsMax: 100,
  /** Events in one batch publish; and how many are checked before other requests get a turn. */
  batchEventsMax: 1_000,
  eventsCheckedAtOnce: 100,
  /**
   * The cache of callback targets: those that were asked for again, and those seen once. The latter
   * must exceed the attempts in flight (`windowMax`), since a sender must still find the target it
   * asked for.
   */
  targetCacheEntriesMax: 10_000,
  targetsSeenOnceMax: 512,
  /** How often a node renews its heartbeat, and how soon it retries after a failure. */
  heartbeatEveryMs: 10_000,
  heartbeatAgainMs: 1_000,
  /** A node that is silent this long is declared gone. It stops itself some seconds earlier. */
  nodeSilentMs: 30_000,
  nodeFreshMs: 25_000,
  /** How often leases of gone nodes are released. */
  rescueEveryMs: 5_000,
  /**
   * An attempt starts within `confirmedMs` of the moment when the store confirmed that its lane is
   * open. An attempt that waits for a connection asks again after `confirmKeepMs`; a read at most
   * `confirmShareMs` old serves as the answer. After `confirmTriesMax` tries the delivery is
   * released and becomes due again later.
   */
  confirmedMs: 1_000,
  confirmKeepMs: 500,
  confirmShareMs: 250,
  confirmTriesMax: 3,
  unconfirmedWaitMs: 1_000,
  /** Offers of free slots whose time is remembered: more than are ever in flight. */
  offersRememberedMax: 8,
  /** Events published by SQL: entries claimed at a time, and how long this node holds them. */
  inboxEntriesMax: 256,
  inboxHoldMs: 30_000,
  /**
   * How long upkeep waits for the store. Callers wait for a time that is a setting, within these
   * bounds: a share of it for the lookup of their key, then all of it for the operation. The first
   * timeout is the answer, so by default a publish is answered within five seconds.
   */
  storeAnswerMs: 3_000,
  storeTimeoutMinMs: 1_000,
  storeTimeoutMaxMs: 60_000,
  keyTimeoutShare: 2 / 3,
  readyAnswerMs: 2_000,
  /** How long an outcome waits after a store failure before it is submitted again. */
  settleAgainMs: 500,
  /** How long a delivery waits after an internal error. */
  ownFailureWaitMs: 10_000,
  /**
   * Statistics of subscriptions: how often they are written, rows per write, and lanes held in
   * memory.
   */
  statisticsEveryMs: 10_000,
  statisticsRowsMax: 1_000,
  pendingStatisticsMax: 10_000,
  /**
   * Statistics of an app are kept by the minute as long as its events, but within these bounds.
   * Those of a subscription are kept for the shorter time, and by the minute only for
   * `statisticsFineMs`.
   */
  statisticsFineMs: 2 * 60 * 60 * 1000,
  statisticsKeepMs: (7 * 24 + 1) * 60 * 60 * 1000,
  statisticsKeepMaxMs: 31 * 24 * 60 * 60 * 1000,
  /**
   * Statistics: subscriptions in one request; and pending deliveries counted for a single one, or
   * for each of several.
   */
  statsSubscriptionsMax: 50,
  pendingCountedMax: 10_000,
  pendingCountedEachMax: 1_000,
  /** A receiver that fails this long without a success: its subscription is disabled. */
  disableAfterMs: 5 * 24 * 60 * 60 * 1000,
  /**
   * Ringback's own events: notices published at a time. With several nodes: how often each looks
   * for notices, and how old one must be before a node other than its author publishes it.
   */
  noticesAtOnce: 256,
  noticePollMs: 1_000,
  noticePatienceMs: 2_000,
  /** Wait after a failure of the store. */
  noticeAgainMs: 500,
  /** Items of the attention list. */
  attentionMax: 10,
  /**
   * Retention: rows and payload bytes deleted in one step; its pause when nothing is left to
   * delete.
   */
  retentionRowsMax: 500,
  retentionBytesMax: 4 * 1_048_576,
  retentionEveryMs: 60_000,
  /**
   * With several nodes: how often pending deliveries of subscriptions that ended elsewhere are
   * looked for.
   */
  sweepEveryMs: 5_000,
  /**
   * How much longer than its history an ended subscription is kept. By then its idempotency key has
   * expired, and a clock that was set back by less than this cannot make one outlive the other.
   */
  subscriptionKeepMs: 24 * 60 * 60 * 1000,
  /** Running replays of one app; deliveries per second, by default and at most. */
  replaysRunningMax: 20,
  replayRateDefault: 50,
  replayRateMax: 1_000,
  /** Length of a replay step, and deliveries in one. */
  replayStepMs: 250,
  replayStepMax: 250,
  /** How much lost time a late step may catch up with. */
  replayCatchUpMs: 1_000,
  /**
   * Ended deliveries that one step may examine, and running replays that a node reads at a time.
   */
  replayRowsExaminedMax: 2_000,
  replaysReadAtOnce: 16,
  /**
   * With several nodes: how often each looks for replays, and how late a step must be before
   * another node takes it.
   */
  replayPollMs: 1_000,
  replayPatienceMs: 2_000,
  /** Wait of a replay whose step failed; and of all replays after a failure of the store. */
  replayAgainMs: 10_000,
  replayStoreAgainMs: 500,
  /** A dry run counts up to this many matches, for at most this time. */
  dryRunMatchedMax: 10_000,
  dryRunMs: 2_000,
  /** Files of the console; all are kept in memory. */
  consoleFilesMax: 64,
  /**
   * Metrics: label sets per name. Values from the store are read at most every `scrapeKeepMs`, and
   * a scrape waits `scrapeAnswerMs` for them. The scan of lanes reads `laneScanRowsMax` at a time,
   * then pauses `laneScanRestTimes` times as long as it took; a scrape waits `laneScanAnswerMs` for it
   * and otherwise shows the previous one. Due deliveries are counted up to `dueCountedMax`. The
   * event-loop lag covers the last one to two spans.
   */
  seriesMax: 1_000,
  scrapeKeepMs: 1_000,
  scrapeAnswerMs: 2_000,
  laneScanRowsMax: 2_000,
  laneScanRestTimes: 20,
  laneScanAnswerMs: 50,
  dueCountedMax: 10_000,
  loopSpanMs: 30_000,
  loopResolutionMs: 20,
  /**
   * How long a key that was admitted to /metrics stays admitted while the store does not answer.
   */
  scrapeKeyMs: 15 * 60_000,
  scrapeKeysMax: 16,
  /**
   * The doctor: how long it waits for an answer on the service's port, and the size up to which it
   * checks a database file for damage.
   */
  doctorAnswerMs: 3_000,
  doctorFileBytesMax: 2 ** 30,
  /** Inbound connections. */
  requestTimeoutMs: 15_000,
  headersTimeoutMs: 10_000,
  connectionTimeoutMs: 20_000,
  keepAliveTimeoutMs: 72_000,
  requestsPerSocketMax: 1_000,
  connectionsMax: 2_048,
  /**
   * Requests that the direct path reads: bytes and lines of a head, TCP chunks per request, and
   * time for each. A body that arrives in several chunks must be small, since its sender is not
   * authenticated yet.
   */
  directHeadBytesMax: 8_192,
  /**
   * A head of at most this size is kept with its connection, in case the next request repeats it.
   */
  directRepeatBytesMax: 1_024,
  directLinesMax: 64,
  directPiecesMax: 4,
  directWaitMs: 1_000,
  /**
   * Connections beyond the limit that may arrive between two checks: the length of the listen
   * queue.
   */
  connectionsSpare: 512,
  /** The head of an answer of the API behind the gateway, and the longest time until it begins. */
  upstreamHeadBytesMax: 65_536,
  upstreamTimeoutMaxMs: 60 * 60_000,
  /** Bodies of requests that are registered on their way to the API. */
  exchangeBytesMax: 64 * 1_048_576,
  /** How often slow requests are looked for. */
  connectionsLookMs: 1_000,
  /**
   * How long, and how many chunks, a client may keep sending after the last response before it is
   * cut off.
   */
  overLingerMs: 2_000,
  overPiecesMax: 16,
  /** How long a shutdown waits for requests in flight. */
  stopTimeoutMs: 10_000,
  /** How much longer than the longest attempt a shutdown waits, so that its outcome is written. */
  stopMarginMs: 1_000,
} as const;
