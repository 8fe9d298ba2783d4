// The outside world as a value: time, chance and waiting. Everything else takes a World, so that a
// test or a simulation can be the world. Nothing here may know what the program does.
import { randomFillSync } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

export interface World {
  /** Wall clock, milliseconds since 1970. May jump. */
  nowMs(): number;
  /** Monotonic clock in milliseconds. Never goes back; its zero means nothing. */
  monotonicMs(): number;
  /** Cryptographically strong random bytes. */
  randomBytes(count: number): Uint8Array;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export function realWorld(): World {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    randomBytes: (count) => randomFillSync(new Uint8Array(count)),
    sleep: async (ms, signal) => wait(ms, undefined, signal === undefined ? {} : { signal }),
  };
}
