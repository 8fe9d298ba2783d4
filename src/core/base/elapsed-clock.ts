// A clock that measures how long ago the store confirmed something. The monotonic clock stops while
// the machine is suspended, and the wall clock can be set, so neither is enough alone. This one
// counts time that either of them has counted.

interface Clocks {
  nowMs: () => number;
  monotonicMs: () => number;
}

/**
 * The wall clock counts whole milliseconds and is slewed by NTP; a smaller gain is not a
 * suspension.
 */
const noiseMs = 20;

/**
 * Advances with the monotonic clock, plus whatever the wall clock has gained on it since the last
 * reading. Setting the wall clock back takes nothing away. Setting it forward makes earlier
 * readings look older, which costs one more read.
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
