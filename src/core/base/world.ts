// The outside world as a value: time, randomness and sleep. All other code takes a World, so that a
// test or a simulation can replace it. Nothing here may depend on the rest of the program.
import { randomFillSync } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

export interface World {
  /** Wall clock, milliseconds since 1970. May jump. */
  nowMs(): number;
  /** Monotonic clock in milliseconds. Never goes back; its zero is arbitrary. */
  monotonicMs(): number;
  /**
   * Monotonic too, but includes time in which the machine was suspended. Use it for the age of what
   * the store confirmed, not for timeouts: setting the wall clock forward advances it.
   */
  elapsedMs(): number;
  /** Cryptographically strong random bytes. */
  randomBytes(count: number): Uint8Array;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** From this size on the bytes become secrets, so they must not pass through the shared buffer. */
const secretBytesMin = 16;
const drawnBytes = 4_096;

/**
 * Ids and jitter need a few random bytes thousands of times a second: drawing many at once is far
 * cheaper.
 */
function drawer(): World['randomBytes'] {
  const drawn = new Uint8Array(drawnBytes);
  let used = drawnBytes;
  return (count) => {
    if (count >= secretBytesMin) return randomFillSync(new Uint8Array(count));
    if (used + count > drawnBytes) {
      randomFillSync(drawn);
      used = 0;
    }
    used += count;
    return drawn.slice(used - count, used);
  };
}

export function realWorld(): World {
  const clocks = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
  return {
    ...clocks,
    elapsedMs: elapsedClock(clocks),
    randomBytes: drawer(),
    sleep: async (ms, signal) => wait(ms, undefined, signal === undefined ? {} : { signal }),
  };
}

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
