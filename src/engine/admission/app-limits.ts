// An adaptive limit for each app: what takes long for one app lowers its own limit, and no other's.
import type { LimitRange } from '../../core/load/request-limit.ts';
import { createLimit, type AdaptiveLimit } from './adaptive-limit.ts';

/** Undefined: requests whose app is not known. */
type AppNo = number | undefined;

export class AppLimits {
  readonly #range: LimitRange;
  /** Of apps that have requests in progress, or a lowered limit. */
  readonly #byApp = new Map<AppNo, AdaptiveLimit>();

  constructor(range: LimitRange) {
    this.#range = range;
  }

  of(appNo: AppNo): AdaptiveLimit {
    let limit = this.#byApp.get(appNo);
    if (limit === undefined) {
      limit = createLimit(this.#range.most, this.#range);
      this.#byApp.set(appNo, limit);
    }
    return limit;
  }

  limit(appNo: AppNo): number {
    return this.#byApp.get(appNo)?.limit() ?? this.#range.most;
  }

  lowest(): number {
    const limits = this.#byApp.values().map((each) => each.limit());
    return limits.reduce((least, each) => Math.min(least, each), this.#range.most);
  }

  decide(nowMs: number, passedMs: number): void {
    for (const [appNo, limit] of this.#byApp) {
      limit.decide(nowMs, passedMs);
      if (limit.limit() === this.#range.most && limit.isIdle()) this.#byApp.delete(appNo);
    }
  }
}
