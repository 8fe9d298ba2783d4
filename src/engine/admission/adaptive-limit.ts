// The current limit of requests of one kind: collects how long they take, and lets core/load/request-limit.ts decide.
import { nextLimit, type LimitRange } from '../../core/load/request-limit.ts';
import { LinkedList, type Link } from '../../core/base/linked-list.ts';

/** A request in progress. */
export interface Measured extends Link<Measured> {
  readonly sinceMs: number;
}

export interface AdaptiveLimit {
  limit(): number;
  took(tookMs: number): void;
  /** A request began, whose time is measured here until `ended`. */
  began(one: Measured): void;
  ended(one: Measured, nowMs: number): void;
  turnedAway(): void;
  /** Sets the limit by what was observed since the last call. */
  decide(nowMs: number, passedMs: number): void;
  /** Whether nothing is in progress that is measured here. */
  isIdle(): boolean;
}

export function createLimit(start: number, range: LimitRange): AdaptiveLimit {
  // In the order in which they began.
  const working = new LinkedList<Measured>();
  let limit = start;
  let seen = { longestMs: 0, refused: 0 };
  const took = (tookMs: number): void => {
    seen.longestMs = Math.max(seen.longestMs, tookMs);
  };
  return {
    limit: () => limit,
    took,
    began: (one) => working.add(one),
    ended: (one, nowMs) => {
      if (working.remove(one)) took(nowMs - one.sinceMs);
    },
    turnedAway: () => {
      seen.refused += 1;
    },
    decide: (nowMs, passedMs) => {
      const { first: oldest } = working;
      if (oldest !== undefined) took(nowMs - oldest.sinceMs);
      limit = nextLimit(limit, { ...seen, passedMs }, range);
      seen = { longestMs: 0, refused: 0 };
    },
    isIdle: () => working.first === undefined,
  };
}

/** Undefined: requests whose app is not known. */
type AppNo = number | undefined;

/** A limit for each app: what takes long for one app lowers its own limit, and no other's. */
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
