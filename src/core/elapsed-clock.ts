// A clock for one question: how long ago did the store say so? The monotonic clock stops while the machine is
// suspended and the wall clock can be set, so neither of them is enough. This one counts what either has counted.

interface Clocks {
  nowMs: () => number;
  monotonicMs: () => number;
}

/** The wall clock has whole milliseconds and is slewed by NTP; less than this is no suspension. */
const noiseMs = 20;

/**
 * Advances with the monotonic clock, and by as much more as the wall clock has gained on it since the last reading.
 * A wall clock that is set back takes nothing away; one that is set forward makes what was read before look older,
 * which costs another read.
 */
export function elapsedClock({ nowMs, monotonicMs }: Clocks): () => number {
  let suspendedMs = 0;
  let aheadMs = nowMs() - monotonicMs();
  return () => {
    const passedMs = monotonicMs();
    const gainedMs = nowMs() - passedMs - aheadMs;
    if (gainedMs > noiseMs) suspendedMs += gainedMs;
    if (gainedMs > noiseMs || gainedMs < 0) aheadMs += gainedMs;
    return passedMs + suspendedMs;
  };
}
