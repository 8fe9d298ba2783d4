// So many a second, with a burst of one second: the rule of a virtual schedule (GCRA), which is one
// number. Whoever asks for more than a second's worth at once gets it when nothing is owed, and then owes:
// a quota below the size of a batch would otherwise refuse that batch for ever.

/** When everything that was let in so far is paid for, on a clock that never goes back. */
export type PaidMs = number;

export interface Rate {
  perSecond: number;
  paidMs: PaidMs;
  nowMs: number;
}

export type Taking =
  /** `left`: what could be had now; `wholeMs`: when nothing is owed any more. */
  | { kind: 'taken'; paidMs: PaidMs; left: number; wholeMs: number }
  | { kind: 'refused'; waitMs: number; wholeMs: number };

/** What was let in, at the rate of then. */
export interface Debt {
  perSecond: number;
  paidMs: PaidMs;
}

const burstMs = 1_000;

export function take({ perSecond, paidMs, nowMs }: Rate, count: number): Taking {
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

/** When the rate changes as many are owed as before, but never for longer: nobody waits for a raise. */
export function rescale(debt: Debt, nowMs: number, perSecond: number): Debt {
  const owedMs = Math.max(debt.paidMs - nowMs, 0);
  const paidMs = nowMs + owedMs * Math.min(debt.perSecond / perSecond, 1);
  return { perSecond, paidMs };
}

/** What was let in and came to nothing is owed no more. */
export function giveBack({ perSecond, paidMs }: Debt, count: number): Debt {
  return { perSecond, paidMs: paidMs - (count * 1_000) / perSecond };
}

/** A third of a second three times is not quite a second. */
const roundingMs = 1e-6;
