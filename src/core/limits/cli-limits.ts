// The limits of the command line. Read them as part of `limits`.

export const cliLimits = {
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
