// Delays refusals once there are many, so that clients that try again as soon as they are refused do not fill the
// main thread with refusals. Only the answer waits: whether a request is admitted has been decided before.
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';

const { refusalsAtOnceMax, refusalEveryMs, refusalDelayMaxMs } = limits;

export class RefusalPace {
  readonly #world: Pick<World, 'monotonicMs' | 'sleep'>;
  /** When the next refusal may be sent. */
  #nextMs = -Infinity;

  constructor(world: Pick<World, 'monotonicMs' | 'sleep'>) {
    this.#world = world;
  }

  /** Resolves when the refusal may be sent. Undefined: now. */
  wait(): Promise<void> | undefined {
    const nowMs = this.#world.monotonicMs();
    // Time without refusals lets as many be sent at once, up to a limit.
    const earliestMs = nowMs - (refusalsAtOnceMax - 1) * refusalEveryMs;
    const dueMs = Math.min(Math.max(this.#nextMs, earliestMs), nowMs + refusalDelayMaxMs);
    this.#nextMs = dueMs + refusalEveryMs;
    return dueMs > nowMs ? this.#world.sleep(dueMs - nowMs) : undefined;
  }
}
