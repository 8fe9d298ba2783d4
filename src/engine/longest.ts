// How long a stop must wait so that no attempt under way is cut off: each has the time that its
// subscription chose for it.
import type { World } from '../core/world.ts';

export interface Longest {
  /** An attempt of so long begins; call what it gives when it is over. */
  begin(timeoutMs: number): () => void;
  /** The longest of those under way; zero without any. */
  ms(): number;
}

export function createLongest(): Longest {
  const underWay = new Map<number, number>();
  const count = (timeoutMs: number, by: number): void => {
    const now = (underWay.get(timeoutMs) ?? 0) + by;
    if (now === 0) underWay.delete(timeoutMs);
    else underWay.set(timeoutMs, now);
  };
  return {
    begin: (timeoutMs) => {
      count(timeoutMs, 1);
      return () => count(timeoutMs, -1);
    },
    ms: () => Math.max(0, ...underWay.keys()),
  };
}

/** Resolves when that time is over, which may grow meanwhile, or when it is aborted. */
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
