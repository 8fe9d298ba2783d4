// Every bound of the console in one place, so that a large answer or a busy service never freezes the page.
export const limits = {
  /** A request that takes longer is given up; the service itself answers within 3 s or says 503. */
  requestMs: 15_000,
  pageItems: 50,
  /** An empty page may have a next one; so many are read on before the reader is asked. */
  emptyPagesMax: 5,
  /** Live lists: between two readings; rows that wait while somebody reads, and rows that are shown. */
  listEveryMs: 2_000,
  waitingRowsMax: 200,
  liveRowsMax: 300,
  /** Between two readings of one thing that changes. */
  detailEveryMs: 500,
  /** Code blocks show so much at first, and colour no more than that. */
  codeCharsMax: 16_384,
  codeLinesMax: 400,
  /** Above this even "show all" does not indent. Indenting 1 MiB takes about 40 ms. */
  prettyCharsMax: 4_194_304,
  titleCharsMax: 300,
  toastsMax: 3,
  toastMs: 6_000,
  toastCharsMax: 500,
  /** Between two readings of the figures while frames say that they change. */
  statsEveryMs: 5_000,
  /** Where the stream cannot get through, pages ask instead. */
  pollMs: 5_000,
  streamRetryMinMs: 1_000,
  streamRetryMaxMs: 30_000,
  /** Reading the session prolongs it: so often while somebody uses the page. It lasts 12 hours. */
  renewEveryMs: 3_600_000,
  /** Between two readings of a list while frames say that it changes. */
  refreshMs: 1_000,
  /** Deliveries of one event shown beside it. */
  fanOutItems: 20,
  recentItems: 5,
  /** Deliveries that are read beside a page of events, to say how they went. */
  stateItems: 500,
  /** A schema may be larger than anybody reads, or refer to itself. */
  schemaRowsMax: 150,
  schemaDepthMax: 6,
  flawsMax: 10,
  /** Values of a filter that are said in words; all of them stand in its field. */
  filterValuesShown: 12,
  /** Where a replay from a subscription begins, until somebody chooses otherwise. */
  replaySinceMs: 86_400_000,
  /** Ids in one reading of figures; the service takes no more. */
  figureIdsMax: 50,
  /** Nodes say every 10 s that they are there. */
  nodesEveryMs: 10_000,
  chordMs: 1_500,
  clockSkewMs: 2_000,
} as const;
