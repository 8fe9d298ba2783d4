// The columns of the replays table.
import type { JSX } from 'preact';
import { StateBadge } from '../components/badge.tsx';
import type { Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { hrefWith } from '../router.ts';
import type { Replay } from '../../../src/client/contract/delivery.ts';
import { FilterSummary } from './filter-summary.tsx';
import { ReplayProgress } from './replay-progress.tsx';

export function replayHref({ id }: Replay): string {
  return hrefWith({ replay: id });
}

export const replayColumns: readonly Column<Replay>[] = [
  { name: 'what', title: 'Deliveries', cell: FilterCell, isWide: true, isHead: true },
  { name: 'state', title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  { name: 'progress', title: 'Progress', cell: (replay) => <ReplayProgress replay={replay} /> },
  {
    name: 'rate',
    title: 'Rate limit',
    cell: ({ ratePerSecond }) => `${ratePerSecond}/s`,
    align: 'end',
  },
  { name: 'age', title: 'Started', cell: ({ createdAt }) => <Time at={createdAt} />, align: 'end' },
];

function FilterCell(replay: Replay): JSX.Element {
  return (
    <a class="clip" href={replayHref(replay)} data-row>
      <FilterSummary filter={replay.filter} />
    </a>
  );
}
