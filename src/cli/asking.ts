// The rhythm of asking a service how far something is: at once, then less and less often, until it is there.
// Ctrl+C ends it at once, also while an answer is waited for.
import { limits } from '../core/limits.ts';
import type { CliFailure } from './failure.ts';
import { stopSignal } from './stop-signal.ts';
import type { Terminal } from './terminal.ts';

export interface Asking<T> {
  /** Undefined: not yet. */
  ask: (signal: AbortSignal) => Promise<T | undefined>;
  /** What is said to whoever does not wait for it. */
  left: () => CliFailure;
}

export async function askUntil<T>(
  { world, stopped }: Pick<Terminal, 'world' | 'stopped'>,
  { ask, left }: Asking<T>,
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
