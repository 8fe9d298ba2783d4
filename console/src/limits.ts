// All limits of the console in one place, so that a large response or a busy service never freezes
// the page.
export const limits = {
  /** Requests are aborted after this time. The service itself responds within 3 s, or with 503. */
  requestMs: 15_000,
  pageItems: 50,
  /** Characters of a description beside a suggested event name. */
  suggestionCharsMax: 80,
  /** Empty pages that are skipped before the user is asked to load more. */
  emptyPagesMax: 5,
  /** Live lists: time between two reloads, rows held back while the user interacts, rows shown. */
  listEveryMs: 2_000,
  waitingRowsMax: 200,
  liveRowsMax: 300,
  /** Between two reloads of one open delivery. */
  detailEveryMs: 500,
  /** Code blocks initially show this much, and highlight no more than that. */
  codeCharsMax: 16_384,
  codeLinesMax: 400,
  /** Larger texts are never indented. Indenting 1 MiB takes about 40 ms. */
  prettyCharsMax: 4_194_304,
  titleCharsMax: 300,
  toastsMax: 3,
  toastMs: 6_000,
  toastCharsMax: 500,
  /** Between two reloads of statistics while the stream reports changes. */
  statsEveryMs: 5_000,
  /** Pages poll at this interval while the stream is down. */
  pollMs: 5_000,
  streamRetryMinMs: 1_000,
  streamRetryMaxMs: 30_000,
  /** Reading the session renews it. An active page does so this often; a session lasts 12 hours. */
  renewEveryMs: 3_600_000,
  /** Between two reloads of a list while the stream reports changes. */
  refreshMs: 1_000,
  /** Deliveries listed under one event. */
  fanOutItems: 20,
  recentItems: 5,
  /** Items of each kind that a search shows at first. */
  foundItems: 10,
  /** Deliveries loaded with a page of events, to show their states. */
  stateItems: 500,
  /** A schema may be very large, or recursive. */
  schemaRowsMax: 150,
  schemaDepthMax: 6,
  payloadErrorsMax: 10,
  /** Filter values listed in the settings summary. The form field has all of them. */
  filterValuesShown: 12,
  /** Default start of a replay that is opened from a subscription, before now. */
  replaySinceMs: 86_400_000,
  /** IDs per statistics request; the service accepts no more. */
  figureIdsMax: 50,
  /** Nodes report every 10 s that they are alive. */
  nodesEveryMs: 10_000,
  chordMs: 1_500,
  clockSkewMs: 2_000,
} as const;
