// Statistics of one subscription over the last 24 hours.
import type { JSX } from 'preact';
import { get } from '../api.ts';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { DrawerSection } from '../components/drawer-section.tsx';
import { StackedBars } from '../components/stacked-bars.tsx';
import { Stat, Stats as StatRow } from '../components/stat.tsx';
import { compactCount, duration, percent } from '../format.ts';
import { limits } from '../limits.ts';
import { useLoad } from '../load.ts';
import type { GetStatsAnswer as Stats } from '../../../src/client/contract/service.ts';
import { useFrames } from '../stream.ts';
import { useThrottled } from '../throttle.ts';

export function DayFigures({ id }: { id: string }): JSX.Element {
  const load = useLoad(id, (signal) =>
    get<Stats>('/stats', { query: { subscriberId: id, range: '24h' }, signal }),
  );
  const scheduleReload = useThrottled(load.reload, limits.statsEveryMs);
  useFrames(({ deliveries, more, isReset }) => {
    if (isReset || more > 0 || deliveries.some((one) => one.subscriberId === id)) scheduleReload();
  });
  const { state } = load;
  return (
    <DrawerSection title="Last 24 hours">
      {state.kind === 'loading' ? <Skeleton rows={4} /> : null}
      {state.kind === 'failed' ? <Failed problem={state.problem} onRetry={load.reload} /> : null}
      {state.kind === 'ready' ? <Figures stats={state.value} /> : null}
    </DrawerSection>
  );
}

function Figures({ stats }: { stats: Stats }): JSX.Element {
  const { totals, pending, pendingIsCapped, steps, stepSeconds } = stats;
  const { successRate, p50Ms, p95Ms, delivered, dead } = totals;
  return (
    <>
      <StatRow>
        <Stat
          name="Success rate"
          value={successRate === null ? '–' : percent(successRate)}
          note="of attempts"
        />
        <Stat
          name="Latency p95"
          value={p95Ms === null ? '–' : duration(p95Ms)}
          note={p50Ms === null ? 'no attempts' : `p50 ${duration(p50Ms)}`}
        />
        <Stat
          name="Delivered"
          value={compactCount(delivered)}
          note={`${compactCount(dead)} dead`}
        />
        <Stat
          name="Pending"
          value={`${compactCount(pending)}${pendingIsCapped ? '+' : ''}`}
          note="queued or in flight"
        />
      </StatRow>
      <StackedBars
        steps={steps}
        stepSeconds={stepSeconds}
        size="small"
        label="Deliveries of this subscription in the last 24 hours"
      />
    </>
  );
}
