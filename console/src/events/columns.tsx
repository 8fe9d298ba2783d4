// The columns of the events table.
import type { JSX } from 'preact';
import { withQuery } from '../api.ts';
import { StateBadge } from '../components/badge.tsx';
import { Id, UntrustedText } from '../components/untrusted-text.tsx';
import { namedColumns } from '../components/subject-customer.tsx';
import type { Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { countStates } from '../count-states.ts';
import { plural } from '../format.ts';
import { hrefWith, route } from '../router.ts';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import type { Event as PublishedEvent } from '../../../src/client/contract/event.ts';

export function eventHref({ id }: PublishedEvent): string {
  const page = '/console/events';
  return route.value.path === page ? hrefWith({ eventId: id }) : withQuery(page, { eventId: id });
}

export function eventColumns(
  states: ReadonlyMap<string, ReadonlyMap<string, Delivery>>,
  items: readonly PublishedEvent[],
): readonly Column<PublishedEvent>[] {
  return [
    {
      name: 'event',
      title: 'Event',
      isWide: true,
      isHead: true,
      cell: (event) => (
        <a href={eventHref(event)} data-row>
          <UntrustedText text={event.event} clip />
        </a>
      ),
    },
    ...namedColumns(items),
    { name: 'id', title: 'ID', cell: ({ id }) => <Id id={id} /> },
    {
      name: 'deliveries',
      title: 'Deliveries',
      isWide: true,
      cell: (event) => (
        <Deliveries event={event} known={[...(states.get(event.id)?.values() ?? [])]} />
      ),
    },
    {
      name: 'age',
      title: 'Published',
      align: 'end',
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
  ];
}

function Deliveries({
  event,
  known,
}: {
  readonly event: PublishedEvent;
  readonly known: readonly Delivery[];
}): JSX.Element {
  const { deliveries, rejected } = event;
  if (rejected !== undefined) return <StateBadge state="rejected" />;
  if (deliveries === 0) return <span class="soft">No subscribers</span>;
  // States of a part of the deliveries would misrepresent the whole.
  if (known.length === 0 || known.length < (deliveries ?? Number.POSITIVE_INFINITY)) {
    return (
      <span>
        {deliveries === null
          ? 'More than 256 deliveries'
          : plural(deliveries, 'delivery', 'deliveries')}
      </span>
    );
  }
  return (
    <span class="event-states">
      {countStates(known).map(({ state, size }) => (
        <StateBadge key={state} state={state} count={size} />
      ))}
    </span>
  );
}
