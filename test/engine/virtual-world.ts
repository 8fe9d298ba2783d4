// A world whose clock the test moves and whose randomness is seeded: the same seed gives the same
// run.
import { elapsedClock, type World } from '../../src/core/base/world.ts';

export interface VirtualWorld extends World {
  /** Lets time pass, firing every timer in order, with everything that follows from it. */
  pass(ms: number): Promise<void>;
  /** Time passes, but nothing runs: the process is frozen, and timers fire late. */
  freeze(ms: number): void;
  /**
   * The machine is suspended: only the wall clock advances. A negative time sets that clock back.
   */
  suspend(ms: number): void;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
  /** A seeded number in [0, 1). */
  random(): number;
}

interface Timer {
  atMs: number;
  order: number;
  ring: () => void;
}

export function virtualWorld(
  options: { startMs?: number; seed?: number; byte?: number } = {},
): VirtualWorld {
  const { startMs = 1_800_000_000_000, seed = 1, byte } = options;
  const random = mulberry32(seed);
  const timers = new Set<Timer>();
  let nowMs = startMs;
  let suspendedMs = 0;
  const clocks = { nowMs: () => nowMs + suspendedMs, monotonicMs: () => nowMs - startMs };
  let orders = 0;

  const settle = async (): Promise<void> => {
    // Several turns of the event loop: for promises, and for replies of the in-process store to
    // batches that each wait for a whole turn.
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  return {
    ...clocks,
    elapsedMs: elapsedClock(clocks),
    randomBytes: (count) =>
      Uint8Array.from({ length: count }, (_, at) =>
        byte === undefined
          ? Math.floor(random() * 256)
          : at === 0
            ? byte
            : byte === 0xff
              ? 0xff
              : 0,
      ),
    random,
    settle,
    freeze: (ms) => {
      nowMs += ms;
    },
    suspend: (ms) => {
      suspendedMs += ms;
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(signal.reason as Error);
          return;
        }
        const giveUp = (): void => {
          if (timers.delete(timer)) reject(signal?.reason as Error);
        };
        const ring = (): void => {
          // Otherwise a signal that lives for days would accumulate a listener per sleep.
          signal?.removeEventListener('abort', giveUp);
          resolve();
        };
        const timer = { atMs: nowMs + Math.max(ms, 0), order: (orders += 1), ring };
        timers.add(timer);
        signal?.addEventListener('abort', giveUp, { once: true });
      }),
    pass: async (ms) => {
      const untilMs = nowMs + ms;
      await settle();
      for (;;) {
        const next = [...timers]
          .filter(({ atMs }) => atMs <= untilMs)
          .sort((a, b) => a.atMs - b.atMs || a.order - b.order)[0];
        if (next === undefined) break;
        timers.delete(next);
        nowMs = Math.max(nowMs, next.atMs);
        next.ring();
        await settle();
      }
      nowMs = untilMs;
    },
  };
}

export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
