// The limits of quotas, of sharing between apps and of admission. Read them as part of `limits`.

export const admissionLimits = {
  /**
   * The share of one app. It may have `appShareTimes` times as many attempts in flight as there are
   * free slots: alone, 7/8 of the window. Attempts that may hang get half of the free slots, or the
   * credit that earlier ones earned: one per timely answer, up to `appCreditMax`; an attempt that
   * hangs for `attemptHangsMs` costs `appCreditLost`. An app may always claim up to `appClaimMin`.
   * An offer names the credit of `appsIdleNamedMax` idle apps; a node remembers `appsIdleMax` of
   * them, and `lanesProvenMax` proven lanes of each app.
   */
  appShareTimes: 7,
  appCreditMax: 224,
  appCreditLost: 16,
  attemptHangsMs: 1_000,
  appClaimMin: 16,
  appsIdleNamedMax: 32,
  appsIdleMax: 1_024,
  lanesProvenMax: 256,
  /**
   * When more lanes are ready than a claim can look at: apps that it looks at, lanes of each, and
   * apps that are considered to find the next ready lane. While an app is full, it may have hundreds of ready lanes, so
   * only `claimLanesBesideFull` are looked at before.
   */
  claimLanesBesideFull: 16,
  claimAppsMax: 64,
  claimAppLanesMax: 32,
  nextWorkAppsMax: 1_000,
  /** Quotas of an app: the largest allowed; how often a node counts the nodes that share one. */
  quotaMax: 1_000_000_000,
  quotaSharersMs: 5_000,
  /** Apps whose publish rate is tracked. */
  pacesRememberedMax: 10_000,
  /** The Retry-After of an app that has as many subscriptions as its quota allows. */
  quotaAgainMs: 60_000,
  /**
   * Admission: publishes of an app in progress, at least and at most; how long one may take before fewer
   * are let in; how often that is looked at. The same for other changes, by what the store takes for one: a look-up
   * of a receiver's name says nothing of how many there are. What ends something has a quarter more room. Reads, of
   * which one app has half at most.
   */
  publishesInFlightMin: 32,
  publishesInFlightMax: 256,
  publishWaitMs: 1_500,
  /** A publish with a large body, usually a batch, counts as so many. */
  publishPlacesOfLarge: 4,
  /** Publishes on new connections, whose key is being checked: no store holds them up for long. */
  publishesUnknownMax: 1_024,
  admissionLookMs: 100,
  changesInFlightStart: 256,
  changesInFlightMin: 32,
  changesInFlightMax: 512,
  changeWaitMs: 1_500,
  endsRoomTimes: 1.25,
  /**
   * While publishes go on, one change begins after so many of them or after so long, whichever comes first, and at
   * most so many at once. Publishes go on until none has been in progress for `publishQuietMs`, longer than the main
   * thread may be too busy with new connections to read the next one. A change that has not begun after
   * `changeTurnMs` is refused. A subscribe takes the CPU time of two to five publishes.
   */
  publishesPerChange: 10,
  changeEveryMs: 16,
  changesAtOnceMax: 16,
  publishQuietMs: 100,
  changeTurnMs: 5_000,
  readsInFlightMax: 512,
  /** A request whose body has not arrived after this time does not count as work until it has. */
  arrivalMs: 1_000,
  /**
   * Bytes of request bodies in flight, and those among them that arrive too slowly. A small body is
   * always admitted: all connections together can send 32 MiB of them. Where no key is needed, only
   * small bodies are accepted, so that callers without a key cannot fill these budgets.
   */
  bytesInFlightMax: 32 * 1_048_576,
  lateBytesMax: 64 * 1_048_576,
  smallBodyBytes: 16_384,
  /**
   * Response bytes that clients have not read yet, beyond small bodies: at this many, no further
   * reads are admitted, and a client that reads nothing for `unreadMs` is cut off. Without this
   * bound, a few dozen clients that do not read large pages take hundreds of megabytes. Responses
   * to callers without a key have a budget of their own, so they never cause a refusal.
   */
  unreadBytesMax: 64 * 1_048_576,
  unreadPublicBytesMax: 16 * 1_048_576,
  unreadMs: 5_000,
  /** One readiness check of the store serves every caller within this time. */
  readyKnownMs: 250,
  /** How long after a write the store counts as writable. */
  writableKnownMs: 5_000,
  /**
   * Refusals by admission: so many are answered at once, further ones one in every `refusalEveryMs`, and none later
   * than after `refusalDelayMaxMs`. A refusal takes a tenth of a millisecond of the main thread, so that clients that
   * try again at once would otherwise take all of it.
   */
  refusalsAtOnceMax: 256,
  refusalEveryMs: 4,
  refusalDelayMaxMs: 1_000,
  /** Refusals by admission are logged at most this often. */
  overloadSayMs: 1_000,
} as const;
