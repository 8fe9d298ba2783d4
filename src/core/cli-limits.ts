// The limits of the command line; everybody reads them as part of `limits`.

export const cliLimits = {
  /** A progress bar is drawn again at most so often. */
  progressEveryMs: 100,
  /** A smaller backup is done before anybody could read a bar. */
  backupShownBytes: 10_000_000,
  /** How often the service is asked about what is waited for: at first, and later. */
  askEveryMs: 250,
  askEveryMaxMs: 2_000,
  /** Tries after the first one: nobody waits long to hear that there is no service; and once it answered. */
  callRetries: 1,
  longRetries: 8,
  /** Whoever leaves `listen` waits so long for the service to hear it. */
  leaveMs: 5_000,
  /** A batch is smaller than a body may be: names, commas and quotes come to it. */
  batchBytesMax: 900_000,
  /** A payload from a file or from standard input; the service says no to much smaller ones. */
  inputBytesMax: 4 * 1_048_576,
  /** Deliveries that `retry` takes at once. */
  retriesAtOnceMax: 1_000,
} as const;
