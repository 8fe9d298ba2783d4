// What an app may use at most. The operator sets defaults for all apps in the settings, and
// overrides for single apps.

export interface Quotas {
  /** Subscriptions that have not ended. */
  subscriptions: number | undefined;
  eventsPerSecond: number | undefined;
  /** Bytes of one event. */
  payloadBytes: number | undefined;
}

export const noQuotas: Quotas = {
  subscriptions: undefined,
  eventsPerSecond: undefined,
  payloadBytes: undefined,
};

/** The app's own quotas take precedence. */
export function quotasOf(own: Quotas, fallback: Quotas): Quotas {
  return {
    subscriptions: own.subscriptions ?? fallback.subscriptions,
    eventsPerSecond: own.eventsPerSecond ?? fallback.eventsPerSecond,
    payloadBytes: own.payloadBytes ?? fallback.payloadBytes,
  };
}

// A rate limit with a burst of one second: virtual scheduling (GCRA), whose state is one number. A
// request for more than a burst is granted when nothing is owed, and leaves a debt. Otherwise a
// quota below the size of a batch would refuse that batch forever.

/** When everything granted so far is paid off, on a clock that never goes back. */
export type PaidMs = number;

export interface Rate {
  perSecond: number;
  paidMs: PaidMs;
  nowMs: number;
}

export type QuotaDecision =
  /** `left`: how many would be granted now; `wholeMs`: when the debt is paid off. */
  | { kind: 'taken'; paidMs: PaidMs; left: number; wholeMs: number }
  | { kind: 'refused'; waitMs: number; wholeMs: number };

/** The debt, and the rate it was made at. */
export interface Debt {
  perSecond: number;
  paidMs: PaidMs;
}

const burstMs = 1_000;

export function takeFromQuota({ perSecond, paidMs, nowMs }: Rate, count: number): QuotaDecision {
  const owedMs = Math.max(paidMs - nowMs, 0);
  const costMs = (count * 1_000) / perSecond;
  const isWithin = owedMs + costMs <= burstMs + roundingMs;
  if (owedMs > 0 && !isWithin) {
    const waitMs = costMs > burstMs ? owedMs : owedMs + costMs - burstMs;
    return { kind: 'refused', waitMs, wholeMs: owedMs };
  }
  const wholeMs = owedMs + costMs;
  const left = Math.max(Math.floor(((burstMs - wholeMs + roundingMs) * perSecond) / 1_000), 0);
  return { kind: 'taken', paidMs: nowMs + wholeMs, left, wholeMs };
}

/**
 * When the rate changes, the same count is owed, but never for longer: a raised rate shortens the
 * wait.
 */
export function rescale(debt: Debt, nowMs: number, perSecond: number): Debt {
  const owedMs = Math.max(debt.paidMs - nowMs, 0);
  const paidMs = nowMs + owedMs * Math.min(debt.perSecond / perSecond, 1);
  return { perSecond, paidMs };
}

/** Returns the cost of granted items that were not used. */
export function refund({ perSecond, paidMs }: Debt, count: number): Debt {
  return { perSecond, paidMs: paidMs - (count * 1_000) / perSecond };
}

/** Three thirds of a second sum to slightly less than a second. */
const roundingMs = 1e-6;
