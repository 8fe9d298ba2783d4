// The figures on top of the overview.
import type { JSX } from 'preact';
import { clock } from '../clock.ts';
import { Stat, Stats } from '../components/stat.tsx';
import { count, duration, percent, plural, span } from '../format.ts';
import type { GetStatsAnswer } from '../../../src/client/contract/stats.ts';

/** Below these the rate is worth a look, and a worry. */
const goodRate = 0.99;
const poorRate = 0.9;

export function OverviewFigures({ stats }: { stats: GetStatsAnswer }): JSX.Element {
  const { totals, pending, pendingIsCapped, oldestPendingAt } = stats;
  const tries = totals.delivered + totals.retried + totals.dead;
  return (
    <Stats>
      <Stat
        name="Success rate"
        value={totals.successRate === null ? '–' : percent(totals.successRate)}
        tone={toneOf(totals.successRate)}
        note={tries === 0 ? 'No attempts' : `of ${plural(tries, 'attempt')}`}
      />
      <Stat
        name="Latency p50"
        value={totals.p50Ms === null ? '–' : duration(totals.p50Ms)}
        note={tries === 0 ? 'No attempts' : 'Half were faster'}
      />
      <Stat
        name="Latency p95"
        value={totals.p95Ms === null ? '–' : duration(totals.p95Ms)}
        note={tries === 0 ? 'No attempts' : '1 of 20 was slower'}
      />
      <Stat
        name="Pending"
        value={`${count(pending)}${pendingIsCapped ? '+' : ''}`}
        note={<a href="/console/deliveries?state=pending">Waiting or running now</a>}
      />
      <Stat
        name="Oldest pending"
        value={oldestPendingAt === null ? '–' : span(clock.value - Date.parse(oldestPendingAt))}
        note={oldestPendingAt === null ? 'Nothing waits' : 'since its event was published'}
      />
    </Stats>
  );
}

function toneOf(rate: number | null): 'quiet' | 'warn' | 'bad' {
  if (rate === null || rate >= goodRate) return 'quiet';
  return rate >= poorRate ? 'warn' : 'bad';
}
