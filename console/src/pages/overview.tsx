// The overview: current health, deliveries over time, and subscriptions that need attention. Until
// there is a first delivery it shows how to get one.
import './overview.css';
import { useSignal, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { get, withQuery } from '../api.ts';
import { clock } from '../clock.ts';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { Notice } from '../components/notice.tsx';
import { PageHeader, Section } from '../components/page.tsx';
import { chosenRange, RangeLinks, rangeLabel, type Range } from '../components/range-links.tsx';
import { StackedBars } from '../components/stacked-bars.tsx';
import { limits } from '../limits.ts';
import { mergeDeliveries } from '../live-deliveries.ts';
import { endMs, hasActivity, withFrame } from '../live-stats.ts';
import { useLoad, type Load } from '../load.ts';
import { navigate } from '../router.ts';
import { can } from '../session.ts';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import type { Page } from '../list.ts';
import type { GetStatsAnswer as Stats } from '../../../src/client/contract/service.ts';
import { useFrames, usePolling } from '../stream.ts';
import { useThrottled } from '../throttle.ts';
import { trackChanges } from '../changes-during-read.ts';
import { AttentionList } from './attention-list.tsx';
import { FirstSteps } from './first-steps.tsx';
import { LatestDeliveries } from './latest-deliveries.tsx';
import { NodeList } from './node-list.tsx';
import { OverviewFigures } from './overview-figures.tsx';

const latestMax = 8;

export function OverviewPage(): JSX.Element {
  const range = chosenRange();
  const stats = useLiveStats(range);
  const latest = useLatest();
  // Decided when the page opens: the steps must not vanish while the user follows them.
  const isFirstRun = useSignal<boolean | undefined>(undefined);
  useEffect(() => {
    if (latest.value !== undefined) isFirstRun.value ??= latest.value.length === 0;
  }, [latest.value]);
  return (
    <>
      <PageHeader title="Overview" note={`Delivery health in ${rangeLabel(range)}`}>
        <RangeLinks />
      </PageHeader>
      {isFirstRun.value === true ? <FirstSteps latest={latest.value ?? []} /> : null}
      <Figures stats={stats} range={range} />
      <div class="overview-halves">
        <AttentionList load={stats} />
        <LatestDeliveries load={latest} />
      </div>
      {can('operator') ? <NodeList /> : null}
    </>
  );
}

function Figures({ stats, range }: { stats: Load<Stats>; range: Range }): JSX.Element {
  const { state, staleProblem, reload } = stats;
  if (state.kind === 'loading') return <Skeleton rows={8} />;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={reload} />;
  const { value } = state;
  return (
    <>
      {staleProblem === undefined ? null : (
        <Notice tone="warn" title="These statistics may be outdated">
          <p>{staleProblem.detail}</p>
        </Notice>
      )}
      <OverviewFigures stats={value} />
      <Section title="Deliveries over time">
        <StackedBars
          steps={value.steps}
          stepSeconds={value.stepSeconds}
          label={`Deliveries in ${rangeLabel(range)}. Press Enter to view the deliveries of the selected range.`}
          onSelect={(chosen) => navigate(withQuery('/console/deliveries', chosen))}
        />
      </Section>
    </>
  );
}

function useLiveStats(range: Range): Load<Stats> {
  const stats = useLoad(range, (signal) => get<Stats>('/stats', { query: { range }, signal }));
  const scheduleReload = useThrottled(stats.reload, limits.statsEveryMs);
  useFrames((frame) => {
    if (frame.isReset) return scheduleReload();
    if (!hasActivity(frame)) return;
    stats.change((value) => withFrame(value, frame));
    scheduleReload();
  });
  usePolling(stats.reload);
  // Start a new step on time, even without new frames.
  const end = useSignal(Number.POSITIVE_INFINITY);
  end.value = stats.value === undefined ? Number.POSITIVE_INFINITY : endMs(stats.value);
  useSignalEffect(() => {
    if (clock.value > end.value) scheduleReload();
  });
  return stats;
}

function useLatest(): Load<readonly Delivery[]> {
  const tracker = useMemo(trackChanges, []);
  const latest = useLoad('latest', (signal) => {
    const query = { limit: latestMax };
    return tracker.read(async () => {
      const page = await get<Page<Delivery>>('/deliveries', { query, signal });
      return page.items;
    }, withNewest);
  });
  const scheduleReload = useThrottled(latest.reload, limits.statsEveryMs);
  useFrames((frame) => {
    tracker.record(frame.deliveries);
    if (frame.isReset) return scheduleReload();
    latest.change((shown) => withNewest(shown, frame.deliveries));
  });
  usePolling(latest.reload);
  return latest;
}

function withNewest(shown: readonly Delivery[], changed: readonly Delivery[]): readonly Delivery[] {
  return mergeDeliveries(shown, changed, { max: latestMax });
}
