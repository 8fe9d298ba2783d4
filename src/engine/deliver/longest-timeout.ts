// How long a stop must wait so that no attempt in flight is cut off: each has the timeout that its
// subscription chose.
import type { World } from '../../core/base/world.ts';

export interface Longest {
  /** Call when an attempt begins; the function returned, when it ends. */
  begin(timeoutMs: number): () => void;
  /** The longest timeout of the attempts in flight; 0 if there are none. */
  ms(): number;
}

export function createLongest(): Longest {
  const inFlight = new Map<number, number>();
  const count = (timeoutMs: number, by: number): void => {
    const now = (inFlight.get(timeoutMs) ?? 0) + by;
    if (now === 0) inFlight.delete(timeoutMs);
    else inFlight.set(timeoutMs, now);
  };
  return {
    begin: (timeoutMs) => {
      count(timeoutMs, 1);
      return () => count(timeoutMs, -1);
    },
    ms: () => Math.max(0, ...inFlight.keys()),
  };
}

/** Resolves after `graceMs`, which may grow while it waits, or when aborted. */
export async function waitOut(
  world: Pick<World, 'monotonicMs' | 'sleep'>,
  graceMs: () => number,
  signal: AbortSignal,
): Promise<void> {
  const beganMs = world.monotonicMs();
  for (;;) {
    const leftMs = beganMs + graceMs() - world.monotonicMs();
    if (leftMs <= 0 || signal.aborted) return;
    await world.sleep(leftMs, signal).catch(() => undefined);
  }
}
