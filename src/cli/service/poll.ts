// Polls a service until something is done: at once, then at growing intervals. Ctrl+C ends it at
// once, even while an answer is pending.
import { limits } from '../../core/limits/limits.ts';
import type { CliFailure } from '../terminal/failure.ts';
import { stopSignal, type Terminal } from '../terminal/terminal.ts';

export interface Poll<T> {
  /** Undefined: not done yet. */
  ask: (signal: AbortSignal) => Promise<T | undefined>;
  /** The error when the user stops waiting. */
  left: () => CliFailure;
}

export async function pollUntil<T>(
  { world, stopped }: Pick<Terminal, 'world' | 'stopped'>,
  { ask, left }: Poll<T>,
): Promise<T> {
  const signal = stopSignal({ stopped });
  let waitMs: number = limits.askEveryMs;
  try {
    for (;;) {
      const found = await ask(signal);
      if (found !== undefined) return found;
      await world.sleep(waitMs, signal);
      waitMs = Math.min(waitMs * 1.5, limits.askEveryMaxMs);
    }
  } catch (error) {
    throw signal.aborted ? left() : error;
  }
}
