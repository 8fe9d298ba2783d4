// The outside world as a value: time, chance and waiting. Everything else takes a World, so that a
// test or a simulation can be the world. Nothing here may know what the program does.
import { randomFillSync } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { elapsedClock } from './elapsed-clock.ts';

export interface World {
  /** Wall clock, milliseconds since 1970. May jump. */
  nowMs(): number;
  /** Monotonic clock in milliseconds. Never goes back; its zero means nothing. */
  monotonicMs(): number;
  /**
   * Monotonic as well, and counts the time in which the machine was suspended. For what the store said a moment ago;
   * not for timeouts, because a wall clock that is set forward moves it, too.
   */
  elapsedMs(): number;
  /** Cryptographically strong random bytes. */
  randomBytes(count: number): Uint8Array;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** From this size on bytes become secrets, which stand nowhere but where they are wanted. */
const secretBytesMin = 16;
const drawnBytes = 4_096;

/** Ids and dice want a few bytes thousands of times a second: 0.1 µs out of many, 3.7 for each alone. */
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
