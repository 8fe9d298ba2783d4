// Every limit of the program, in one place; six groups have files of their own beside it. A loop, queue,
// body or batch without a name here is a bug.
import { cliLimits } from './cli-limits.ts';
import { controlLimits } from './control-limits.ts';
import { egressLimits } from './egress-limits.ts';
import { loadLimits } from './load-limits.ts';
import { storeLimits } from './store-limits.ts';
import { streamLimits } from './stream-limits.ts';

export const limits = {
  ...cliLimits,
  ...controlLimits,
  ...egressLimits,
  ...loadLimits,
  ...storeLimits,
  ...streamLimits,
  /** One request body. */
  bodyBytesMax: 1_048_576,
  /** Nesting of a JSON body; deeper ones break serialisers further down the road. */
  jsonDepthMax: 64,
  /** Values (objects, arrays, scalars, keys) in one JSON body. */
  jsonNodesMax: 50_000,
  /** Keys outside of opaque members: each is looked up among its neighbours, and again by every schema. */
  jsonKeysMax: 10_000,
  /** Request line and headers together. */
  headBytesMax: 16_384,
  /** A callback URL, as given and as canonicalised. */
  urlBytesMax: 2_048,
  /** Callbacks that one subscribe call may register. */
  callbacksPerSubscriptionMax: 64,
  /** An event name or pattern. */
  eventNameCharsMax: 128,
  /** `traceparent` and `tracestate`, each: W3C Trace Context asks for 512 of the latter. */
  traceCharsMax: 512,
  /** Log lines that wait for a slow reader; more are dropped. How long a stop waits for them. */
  logBytesWaitingMax: 4 * 1_048_576,
  logFlushMs: 1_000,
  /** Lines of requests are written together, so many at the most, after so long. */
  logGatherChars: 65_536,
  logGatherMs: 20,
  /** How long a stop waits for spans that nobody has collected yet. */
  traceFlushMs: 3_000,
  /** Filters of subscriptions that are remembered, in characters: a thousand of the longest. */
  filtersRememberedCharsMax: 4 * 1_048_576,
  /** What a problem says: the name of a field; a message, and the whole. */
  faultFieldCharsMax: 512,
  faultCharsMax: 4_096,
  /** Names of apps and keys. */
  nameCharsMax: 128,
  /** Callbacks that may lead to an event, one after the other. */
  hopsMax: 5,
  /** Idempotency-Key header. */
  idempotencyKeyCharsMax: 255,
  idempotencyKeepMs: 24 * 60 * 60 * 1000,
  /** Lists: items per page, and rows a query may examine to fill one; some rows count for several. */
  pageItemsDefault: 50,
  pageItemsMax: 500,
  rowsExaminedMax: 40_000,
  /** Rows with payloads, and with what is chosen, that a list reads at once, and statements on its way to fill one page. */
  eventsReadAtOnce: 8,
  subscriptionsReadAtOnce: 50,
  pageStatementsMax: 1_000,
  /** A statement of a search: rows that it examines at first and at most, and places it looks at. */
  pieceRowsMin: 64,
  pieceRowsMax: 1_024,
  pieceLooksMax: 64,
  /** What a look costs, in rows examined. */
  lookRows: 10,
  /** So many failures and a search goes through all of them, whatever else it asks for. */
  failuresFewMax: 20_000,
  /**
   * Attempts under way on a node; the part of them that may be claimed; with those whose outcome is not written
   * yet; per lane at first, at most.
   */
  windowMax: 256,
  windowClaimedMax: 192,
  unwrittenMax: 512,
  laneCapStart: 8,
  laneCapMax: 128,
  /** Lanes that a node knows at a time: those under way, and failing ones. */
  lanesRememberedMax: 512,
  /** An idle lane with such a cap or more keeps it, up to this much; and how many of them do. */
  laneCapTrusted: 12,
  laneCapKept: 32,
  lanesTrustedMax: 64,
  /** How many deliveries one look at a lane may take, and lanes one claim may look at. */
  lookRowsMax: 8,
  claimLanesMax: 256,
  /** A claim is made at least this often, whatever woke nobody. */
  claimEveryMs: 10_000,
  /**
   * Targets above which an event is fanned out in steps; callbacks per step, which are as many as there is room,
   * but the least for so long after others have published, unless the payload is so large: each step reads it; fewer
   * where the step goes in one transaction with what they publish; and how often a step waits for more room.
   */
  targetsAtOnceMax: 256,
  fanOutStepMin: 32,
  fanOutStepMax: 128,
  fanOutSharedMs: 250,
  fanOutJoinedStepMax: 16,
  fanOutSharedBytesMax: 65_536,
  fanOutPutOffMax: 2,
  /**
   * Names of which a node of a cluster remembers who hears them, and how many that may be; and how often it was the
   * same before nobody waits to hear it again.
   */
  heardNamesMax: 1_000,
  heardListenersMax: 32,
  heardSteadyTimes: 4,
  /** Fan-outs that cannot go on and are passed over one by one; with more, all up to the newest of them. */
  fanOutsAsideMax: 100,
  /** Events of one batch publish; and how many of them are checked before other requests have their turn. */
  batchEventsMax: 1_000,
  eventsCheckedAtOnce: 100,
  /**
   * What sending needs to know of callbacks, kept in memory: of those that were asked for again, and of those
   * that came anew. The latter are more than can be under way (windowMax): whoever has asked must find it there.
   */
  targetCacheEntriesMax: 10_000,
  targetsSeenOnceMax: 512,
  /** Of very many more as short texts; all go when so many subscriptions have changed. */
  targetsPackedMax: 131_072,
  targetPackedBytesMax: 382,
  targetsChangedMax: 10_000,
  /** A node says that it is there; after a failure it tries again soon. */
  heartbeatEveryMs: 10_000,
  heartbeatAgainMs: 1_000,
  /** So long silent and a node is declared gone. It has stopped by itself some seconds earlier. */
  nodeSilentMs: 30_000,
  nodeFreshMs: 25_000,
  /** How often work of nodes that are gone is looked for. */
  rescueEveryMs: 5_000,
  /**
   * An attempt starts within this time of the moment when the store confirmed that its lane is open.
   * Whoever waits for a connection asks again after `confirmKeepMs`; what was read at most
   * `confirmShareMs` ago serves as an answer. After some tries it goes back and comes again.
   */
  confirmedMs: 1_000,
  confirmKeepMs: 500,
  confirmShareMs: 250,
  confirmTriesMax: 3,
  unconfirmedWaitMs: 1_000,
  /** Offers whose time is remembered: more than are ever under way. */
  offersRememberedMax: 8,
  /** Events published by SQL: entries taken at a time, and for how long they are this node's. */
  inboxEntriesMax: 256,
  inboxHoldMs: 30_000,
  /**
   * How long a caller waits for the store: to find out whose key it is, then for what was asked. The
   * first silence is the answer, so a publish is answered within five seconds.
   */
  keyAnswerMs: 2_000,
  storeAnswerMs: 3_000,
  readyAnswerMs: 2_000,
  /** How long an outcome waits for a store that is away, before it is handed in again. */
  settleAgainMs: 500,
  /** How long a delivery waits after a failure of our own. */
  ownFailureWaitMs: 10_000,
  /** Figures of subscriptions: written this often, so many rows at once; so many wait in memory. */
  figuresEveryMs: 10_000,
  figuresRowsMax: 1_000,
  figuresGatheredMax: 10_000,
  /**
   * Figures of an app are kept by the minute as long as events, but within these bounds; those of a
   * subscription for the shorter time, and by the minute for some hours only.
   */
  figuresFineMs: 2 * 60 * 60 * 1000,
  figuresKeepMs: (7 * 24 + 1) * 60 * 60 * 1000,
  figuresKeepMaxMs: 31 * 24 * 60 * 60 * 1000,
  /** Statistics: subscriptions at once, and what is counted of one that waits: alone, among others. */
  statsSubscriptionsMax: 50,
  pendingCountedMax: 10_000,
  pendingCountedEachMax: 1_000,
  /** A receiver that fails for so long without a success: its subscription is disabled. */
  disableAfterMs: 5 * 24 * 60 * 60 * 1000,
  /**
   * Ringback's own events: notices published at a time; among several nodes, how often each looks for
   * some, and how old they are before another node than their author publishes them.
   */
  noticesAtOnce: 256,
  noticePollMs: 1_000,
  noticePatienceMs: 2_000,
  /** After a failure of the store. */
  noticeAgainMs: 500,
  /** What needs attention, at most. */
  attentionMax: 10,
  /** The keeper: rows and payloads deleted in one step; how long it rests when nothing is left. */
  keeperRowsMax: 500,
  keeperBytesMax: 4 * 1_048_576,
  keeperEveryMs: 60_000,
  /** Among several nodes: what waits for a subscription that ended elsewhere is looked for this often. */
  sweepEveryMs: 5_000,
  /**
   * How much longer than its history a subscription is kept after its end: its idempotency key has
   * lost its power by then, and a clock that was set back less than this cannot part the two.
   */
  subscriptionKeepMs: 24 * 60 * 60 * 1000,
  /** Replays of one app that run at a time; deliveries a second, by default and at most. */
  replaysRunningMax: 20,
  replayRateDefault: 50,
  replayRateMax: 1_000,
  /** A replay goes in steps of about this long, of at most so many deliveries. */
  replayStepMs: 250,
  replayStepMax: 250,
  /** What a late step may catch up with. */
  replayCatchUpMs: 1_000,
  /** Ended deliveries that one step may look at, and running replays a node looks at. */
  replayRowsExaminedMax: 2_000,
  replaysReadAtOnce: 16,
  /** Among several nodes: how often each looks for replays, and how late one may be before others help. */
  replayPollMs: 1_000,
  replayPatienceMs: 2_000,
  /** A replay whose step failed waits this long; after a failure of the store, all do. */
  replayAgainMs: 10_000,
  replayStoreAgainMs: 500,
  /** A dry run counts so many, for so long. */
  dryRunMatchedMax: 10_000,
  dryRunMs: 2_000,
  /** Key cache: how long a revoked key may still be believed on another node. */
  keyCacheMs: 1_000,
  keyCacheEntriesMax: 10_000,
  /**
   * The console: how long a session lives after it was used, how often that is written, how long it can
   * live at all; and how long a link may wait for its one use.
   */
  sessionMs: 12 * 60 * 60 * 1000,
  sessionProlongMs: 10 * 60 * 1000,
  sessionLongestMs: 30 * 24 * 60 * 60 * 1000,
  ticketMs: 60 * 60 * 1000,
  /** Last-used is written at most this often per key. */
  keyTouchMs: 60_000,
  /** Rotation: how long the old key or signing secret stays valid, by default and at most. */
  rotationOverlapMs: 24 * 60 * 60 * 1000,
  rotationOverlapMaxMs: 30 * 24 * 60 * 60 * 1000,
  /** Ed25519 keys that are ready to sign. */
  signingKeysRememberedMax: 4_096,
  /** Files of the console, all of which are kept in memory. */
  consoleFilesMax: 64,
  /**
   * Metrics: label sets of one name. What the store knows is read at most so often, whoever asks, and
   * waited for so long. Lanes are gone through so many at a time, and then not again for so many times
   * as long as it took; a scrape waits so long for it, and otherwise shows the last one. What is due is
   * counted up to a number. The loop's lag is that of the last one to two spans.
   */
  seriesMax: 1_000,
  scrapeKeepMs: 1_000,
  scrapeAnswerMs: 2_000,
  censusRowsMax: 2_000,
  censusRestTimes: 20,
  censusAnswerMs: 50,
  dueCountedMax: 10_000,
  loopSpanMs: 30_000,
  loopResolutionMs: 20,
  /** A key that opened the door to metrics opens it so long while the store does not answer. */
  scrapeKeyMs: 15 * 60_000,
  scrapeKeysMax: 16,
  /** The doctor: how long it waits for an answer on the service's port, and files that it reads through. */
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
   * Requests that are read directly: how large a head may be, in how many pieces one may come, and how long each of
   * them may take. A body that comes in pieces is a small one: nobody knows yet who sends it.
   */
  directHeadBytesMax: 8_192,
  /** One that is kept with its connection, in case the next request repeats it. */
  directRepeatBytesMax: 1_024,
  directLinesMax: 64,
  directPiecesMax: 4,
  directWaitMs: 1_000,
  /** What may come beyond that between two looks: as many as the system keeps in its queue. */
  connectionsSpare: 512,
  /** How often requests that take too long are looked for. */
  connectionsLookMs: 1_000,
  /** Whoever goes on sending after the last answer on a connection is cut off after this. */
  overLingerMs: 2_000,
  overPiecesMax: 16,
  /** How long a stop waits for requests under way. */
  stopTimeoutMs: 10_000,
  /** What a stop waits beyond the longest attempt, so that its outcome is written. */
  stopMarginMs: 1_000,
} as const;
