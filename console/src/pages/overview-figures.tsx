// The key metrics at the top of the overview.
import type { JSX } from 'preact';
import { clock } from '../clock.ts';
import { Stat, Stats } from '../components/stat.tsx';
import { count, duration, percent, plural, span } from '../format.ts';
import type { GetStatsAnswer } from '../../../src/client/contract/service.ts';

/** Success rates below these are shown as a warning and as an error. */
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
        note={tries === 0 ? 'No attempts' : '50% were faster'}
      />
      <Stat
        name="Latency p95"
        value={totals.p95Ms === null ? '–' : duration(totals.p95Ms)}
        note={tries === 0 ? 'No attempts' : '95% were faster'}
      />
      <Stat
        name="Pending"
        value={`${count(pending)}${pendingIsCapped ? '+' : ''}`}
        note={<a href="/console/deliveries?state=pending">Queued or in flight</a>}
      />
      <Stat
        name="Oldest pending"
        value={oldestPendingAt === null ? '–' : span(clock.value - Date.parse(oldestPendingAt))}
        note={oldestPendingAt === null ? 'Nothing pending' : 'since the event was published'}
      />
    </Stats>
  );
}

function toneOf(rate: number | null): 'quiet' | 'warn' | 'bad' {
  if (rate === null || rate >= goodRate) return 'quiet';
  return rate >= poorRate ? 'warn' : 'bad';
}
