// Attempts over time above the list. Selecting a range filters both the list and the chart.
import { useSignal, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { get, withQuery, type Query } from '../api.ts';
import { clock } from '../clock.ts';
import { LinkButton } from '../components/button.tsx';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { Section } from '../components/page.tsx';
import { chosenRange, RangeLinks, rangeLabel } from '../components/range-links.tsx';
import { rangeText, StackedBars } from '../components/stacked-bars.tsx';
import { dateTime } from '../format.ts';
import { isFiltered } from '../is-filtered.ts';
import { limits } from '../limits.ts';
import { endMs, hasActivity, withFrame } from '../live-stats.ts';
import { useLoad, type Load } from '../load.ts';
import { hrefWith, setParams } from '../router.ts';
import type { GetStatsAnswer as Stats } from '../../../src/client/contract/service.ts';
import { useFrames } from '../stream.ts';
import { useThrottled } from '../throttle.ts';
import type { DeliveryFilter } from './filter.ts';

export function Histogram({ filter }: { filter: DeliveryFilter }): JSX.Element {
  const stats = useStats(filter);
  const isNarrowed = filter.from !== undefined || filter.until !== undefined;
  const when = isNarrowed ? chosenTime(filter) : `in ${rangeLabel(chosenRange())}`;
  const aside = isNarrowed ? (
    <LinkButton size="small" icon="close" href={hrefWith({ from: undefined, until: undefined })}>
      Any time
    </LinkButton>
  ) : (
    <RangeLinks />
  );
  return (
    <Section title={`Attempts ${when}`} actions={aside}>
      <Chart stats={stats} when={when} />
      {hasOtherFilters(filter) ? (
        <p class="soft histogram-note">
          The chart includes all deliveries
          {filter.subscriberId === undefined ? '' : ' of this subscription'}. Only the time and
          subscription filters apply to it.
        </p>
      ) : null}
    </Section>
  );
}

function Chart({ stats, when }: { stats: Load<Stats>; when: string }): JSX.Element {
  const { state, reload } = stats;
  if (state.kind === 'loading') return <Skeleton rows={5} />;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={reload} />;
  return (
    <StackedBars
      size="small"
      steps={state.value.steps}
      stepSeconds={state.value.stepSeconds}
      label={`Attempts ${when}. Use the arrow keys to move, Shift+arrow to select a range, and Enter to filter the list by it.`}
      onSelect={({ from, until }) => setParams({ from, until })}
    />
  );
}

/** Statistics of a range that ends now follow the stream; those of the past do not change. */
function useStats(filter: DeliveryFilter): Load<Stats> {
  const query = queryOf(filter);
  const stats = useLoad(withQuery('', query), (signal) => get<Stats>('/stats', { query, signal }));
  const scheduleReload = useThrottled(stats.reload, limits.statsEveryMs);
  const isOver = filter.until !== undefined && Date.parse(filter.until) < clock.peek();
  useFrames((frame) => {
    if (isOver || (!frame.isReset && !hasActivity(frame))) return;
    // Frames count for the whole app and the current time.
    const isAll = filter.subscriberId === undefined && query.range !== undefined;
    if (isAll && !frame.isReset) stats.change((value) => withFrame(value, frame));
    scheduleReload();
  });
  const end = useSignal(Number.POSITIVE_INFINITY);
  const isCurrent = stats.value !== undefined && query.range !== undefined;
  end.value =
    isCurrent && stats.value !== undefined ? endMs(stats.value) : Number.POSITIVE_INFINITY;
  useSignalEffect(() => {
    if (clock.value > end.value) scheduleReload();
  });
  return stats;
}

const dayMs = 86_400_000;
const minuteMs = 60_000;

/** With one end only, the other is now or a day earlier. */
function queryOf({ from, until, subscriberId }: DeliveryFilter): Query & { range?: string } {
  if (from === undefined && until === undefined) return { range: chosenRange(), subscriberId };
  const endsMs = until === undefined ? nextMinuteMs() : Date.parse(until);
  const beginsMs = from === undefined ? endsMs - dayMs : Date.parse(from);
  return { from: isoOf(beginsMs, from), until: isoOf(endsMs, until), subscriberId };
}

function nextMinuteMs(): number {
  return Math.ceil((clock.peek() + 1) / minuteMs) * minuteMs;
}

/** An invalid time is passed on, so that the service reports it. */
function isoOf(ms: number, given: string | undefined): string {
  return Number.isNaN(ms) ? (given ?? '') : new Date(ms).toISOString();
}

function chosenTime({ from, until }: DeliveryFilter): string {
  if (from !== undefined && until !== undefined) return `from ${rangeText({ from, until })}`;
  if (from !== undefined) return `since ${dateTime(Date.parse(from))}`;
  return `in the 24 hours before ${dateTime(Date.parse(until ?? ''))}`;
}

function hasOtherFilters(filter: DeliveryFilter): boolean {
  const { subscriberId: _subscriberId, from: _from, until: _until, ...others } = filter;
  return isFiltered(others);
}
