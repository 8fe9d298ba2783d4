// The limits of quotas, of what apps share and of admission: a part of limits.ts, which is where everybody looks for them.

export const loadLimits = {
  /**
   * An app may have so many times as many attempts in flight as slots are free: alone 7/8 of the window. Attempts
   * that may hang get half of what is free, or what earlier ones have earned: one for each answer in time, up to
   * this much; one that hangs, which is in flight for so long, takes some away. What an app may claim, however
   * many others are in flight. Apps whose credit an offer names while they are idle, all that are remembered then, and
   * proven lanes of each.
   */
  appShareTimes: 7,
  appCreditMax: 224,
  appCreditLost: 16,
  attemptHangsMs: 1_000,
  appClaimMin: 16,
  appsIdleNamedMax: 32,
  appsIdleMax: 1_024,
  lanesProvenMax: 256,
  /** Where more lanes are ready than a claim looks at: apps that a claim looks at, lanes of each; and apps that an outlook does. */
  claimAppsMax: 64,
  claimAppLanesMax: 32,
  outlookAppsMax: 1_000,
  /** Quotas of an app: the largest there is; how often a node asks how many others share one. */
  quotaMax: 1_000_000_000,
  quotaSharersMs: 5_000,
  /** Apps whose pace is remembered. */
  pacesRememberedMax: 10_000,
  /** What an app hears that has as many subscriptions as it may have: look again after this. */
  quotaAgainMs: 60_000,
  /**
   * Admission: publishes in progress at first, at least and at most; how long one may take before fewer
   * are let in; how often that is looked at. The same for other changes, by what the store takes for one: a look-up
   * of a receiver's name says nothing of how many there are. What ends something has a quarter more room. Reads, of
   * which one app has half at most.
   */
  publishesUnderWayStart: 256,
  publishesUnderWayMin: 32,
  publishesUnderWayMax: 256,
  publishWaitMs: 1_500,
  admissionLookMs: 100,
  changesUnderWayStart: 256,
  changesUnderWayMin: 32,
  changesUnderWayMax: 512,
  changeWaitMs: 1_500,
  endsRoomTimes: 1.25,
  readsUnderWayMax: 512,
  /** A request whose body is not there after this does not count as work until it is. */
  arrivalMs: 1_000,
  /**
   * Bodies under way, in all, and those that come too slowly to count among them. One that is small is let
   * in whatever the others have: all connections together send 32 MiB of such. Where no key is needed
   * nothing larger is taken, so that nobody without a key has a part in these numbers.
   */
  bytesUnderWayMax: 32 * 1_048_576,
  lateBytesMax: 64 * 1_048_576,
  smallBodyBytes: 16_384,
  /**
   * Answers larger than a small body that nobody has read yet: so many bytes and no more reads are let in,
   * and whoever has not read for so long is cut off. 40 who did not read pages of 10 MB took 282 MiB.
   * Those to callers without a key have room of their own, and nobody is turned away because of them.
   */
  unreadBytesMax: 64 * 1_048_576,
  unreadPublicBytesMax: 16 * 1_048_576,
  unreadMs: 5_000,
  /** Whether the store answers is asked once for all who want to know it within this time. */
  readyKnownMs: 250,
  /** That it takes writes is believed for so long after one. */
  writableKnownMs: 5_000,
  /** Who was turned away is said at most this often. */
  overloadSayMs: 1_000,
} as const;
