// The columns of the deliveries table.
import type { JSX } from 'preact';
import { shownState, StateBadge } from '../components/badge.tsx';
import { deliveryHref } from '../components/delivery-list.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { namedColumns } from '../components/subject-customer.tsx';
import type { Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { count } from '../format.ts';
import { outcomeLabel } from '../outcome-label.ts';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import { NextAttempt } from './next-attempt.tsx';

/** With subject and customer, if any of the items has one. */
export function deliveryColumns(items: readonly Delivery[]): readonly Column<Delivery>[] {
  return [...leading, ...namedColumns(items), ...trailing];
}

const leading: readonly Column<Delivery>[] = [
  {
    name: 'state',
    title: 'State',
    isHead: true,
    cell: (delivery) => <StateBadge state={shownState(delivery)} />,
  },
  {
    name: 'event',
    title: 'Event',
    isWide: true,
    isHead: true,
    cell: ({ id, event }) => (
      <a data-row href={deliveryHref(id)}>
        <UntrustedText text={event} clip />
      </a>
    ),
  },
];

const trailing: readonly Column<Delivery>[] = [
  {
    name: 'target',
    title: 'Endpoint',
    isWide: true,
    cell: ({ callback }) => <UntrustedText text={callback.url} clip mono />,
  },
  { name: 'result', title: 'Result', cell: (delivery) => <Result delivery={delivery} /> },
  {
    name: 'attempts',
    title: 'Attempts',
    align: 'end',
    cell: ({ attemptCount }) => count(attemptCount),
  },
  { name: 'next', title: 'Next attempt', align: 'end', cell: nextAttempt },
  { name: 'age', title: 'Age', align: 'end', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

function Result({ delivery }: { delivery: Delivery }): JSX.Element {
  const words = outcomeLabel(delivery);
  if (words === undefined) return <None />;
  return <span class={delivery.error === undefined ? undefined : 'result-failed'}>{words}</span>;
}

function nextAttempt({ state, nextAttemptAt }: Delivery): JSX.Element {
  if (state === 'running') return <span class="soft">in flight</span>;
  if (state !== 'due' || nextAttemptAt === undefined) return <None />;
  return <NextAttempt at={nextAttemptAt} />;
}

function None(): JSX.Element {
  return (
    <span class="soft none">
      <span aria-hidden="true">–</span>
      <span class="off-screen">none</span>
    </span>
  );
}
