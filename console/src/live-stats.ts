// Keeps statistics current with the stream: counts are added at once, percentiles need a reload.
import type { Counts, Frame } from './frame.ts';
import type {
  GetStatsAnswer as Stats,
  StatsStep as Step,
} from '../../src/client/contract/service.ts';

const names = ['published', 'delivered', 'retried', 'dead', 'cancelled'] as const;

export function withFrame(stats: Stats, { counts, pending }: Frame): Stats {
  const last = stats.steps.at(-1);
  if (last === undefined) return { ...stats, pending };
  const steps: Step[] = [...stats.steps.slice(0, -1), { ...last, ...sum(last, counts) }];
  const totals = { ...stats.totals, ...sum(stats.totals, counts) };
  const tries = totals.delivered + totals.retried + totals.dead;
  return {
    ...stats,
    steps,
    totals: { ...totals, successRate: tries === 0 ? null : totals.delivered / tries },
    pending,
    oldestPendingAt: pending === 0 ? null : stats.oldestPendingAt,
  };
}

/** When the current step ends and a new one must be loaded. */
export function endMs({ steps, stepSeconds }: Stats): number {
  const last = steps.at(-1);
  return last === undefined ? Number.POSITIVE_INFINITY : Date.parse(last.at) + stepSeconds * 1_000;
}

export function hasActivity({ counts }: Frame): boolean {
  return names.some((name) => counts[name] > 0);
}

function sum(one: Counts, other: Counts): Counts {
  return {
    published: one.published + other.published,
    delivered: one.delivered + other.delivered,
    retried: one.retried + other.retried,
    dead: one.dead + other.dead,
    cancelled: one.cancelled + other.cancelled,
  };
}
