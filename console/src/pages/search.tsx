// Everything with one subject: its subscriptions, events and deliveries.
import './deliveries.css';
import './search.css';
import '../events/events.css';
import '../subscriptions/subscriptions.css';
import type { ComponentChildren, JSX } from 'preact';
import { get, withQuery } from '../api.ts';
import { LinkButton } from '../components/button.tsx';
import { deliveryHref } from '../components/delivery-list.tsx';
import { SubjectField } from '../components/filter-bar.tsx';
import { ListTable } from '../components/list-table.tsx';
import { Empty } from '../components/list-states.tsx';
import { PageHeader, Section } from '../components/page.tsx';
import type { Column } from '../components/table.tsx';
import { deliveryColumns } from '../deliveries/columns.tsx';
import { eventColumns, eventHref } from '../events/columns.tsx';
import { useStates } from '../events/delivery-states.ts';
import type { Frame } from '../frame.ts';
import { limits } from '../limits.ts';
import { useList, type List, type Page } from '../list.ts';
import { param } from '../router.ts';
import { useFrames } from '../stream.ts';
import { subscriptionColumns, subscriptionHref } from '../subscriptions/columns.tsx';
import { useFigures } from '../subscriptions/figures.ts';
import { useThrottled } from '../throttle.ts';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import type { Event as PublishedEvent } from '../../../src/client/contract/event.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';

export function SearchPage(): JSX.Element {
  const subject = param('subject');
  return (
    <>
      <PageHeader title="Search" />
      <div class="filters" role="search" aria-label="Search by subject">
        <SubjectField value={subject} />
      </div>
      {subject === undefined ? (
        <Empty icon="search" title="Enter a subject">
          <p>A subject says what events and subscriptions are about, such as a job or an order.</p>
        </Empty>
      ) : (
        <Found key={subject} subject={subject} />
      )}
    </>
  );
}

function Found({ subject }: { readonly subject: string }): JSX.Element {
  const subscriptions = useFound<Subscription>('subscriptions', subject);
  const events = useFound<PublishedEvent>('events', subject);
  const deliveries = useFound<Delivery>('deliveries', subject);
  const figures = useFigures(subscriptions.items.map(({ id }) => id));
  const states = useStates(events.items, undefined);
  return (
    <>
      <FoundPart what="subscriptions" subject={subject}>
        <ListTable
          list={subscriptions}
          nouns={['subscription', 'subscriptions']}
          columns={withoutSubject(subscriptionColumns(figures.byId, subscriptions.items))}
          hrefOf={subscriptionHref}
          selectedId={undefined}
          empty={<NoneFound what="subscription" />}
        />
      </FoundPart>
      <FoundPart what="events" subject={subject}>
        <ListTable
          list={events}
          nouns={['event', 'events']}
          columns={withoutSubject(eventColumns(states, events.items))}
          hrefOf={eventHref}
          selectedId={undefined}
          empty={<NoneFound what="event" />}
        />
      </FoundPart>
      <FoundPart what="deliveries" subject={subject}>
        <ListTable
          list={deliveries}
          nouns={['delivery', 'deliveries']}
          columns={withoutSubject(deliveryColumns(deliveries.items))}
          hrefOf={({ id }) => deliveryHref(id)}
          selectedId={undefined}
          empty={<NoneFound what="delivery" />}
        />
      </FoundPart>
    </>
  );
}

type What = 'subscriptions' | 'events' | 'deliveries';

/** The newest ones; reloaded when the stream reports a change that may concern them. */
function useFound<T extends { readonly id: string }>(what: What, subject: string): List<T> {
  const list = useList<T>(`${what} ${subject}`, (cursor, signal) => {
    const query = { subject, cursor, limit: limits.foundItems };
    return get<Page<T>>(`/${what}`, { query, ...(signal ? { signal } : {}) });
  });
  const scheduleReload = useThrottled(list.reload, limits.listEveryMs);
  useFrames((frame) => {
    if (frame.isReset || mayConcern(frame, { what, subject })) scheduleReload();
  });
  return list;
}

function mayConcern(
  frame: Frame,
  { what, subject }: { readonly what: What; readonly subject: string },
): boolean {
  if (what === 'subscriptions') return frame.subscriptions.length > 0;
  const isItsDelivery = frame.deliveries.some((one) => one.subject === subject);
  if (what === 'deliveries') return isItsDelivery || frame.more > 0;
  return isItsDelivery || frame.counts.published > 0;
}

/** It is the same in each row. */
function withoutSubject<T>(columns: readonly Column<T>[]): readonly Column<T>[] {
  return columns.filter(({ name }) => name !== 'subject');
}

function FoundPart({
  what,
  subject,
  children,
}: {
  readonly what: What;
  readonly subject: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  const all = (
    <LinkButton size="small" href={withQuery(`/console/${what}`, { subject })}>
      Open list
    </LinkButton>
  );
  return (
    <Section title={titles[what]} actions={all} isFlush>
      <div class={rowsOf[what]}>{children}</div>
    </Section>
  );
}

const titles = {
  subscriptions: 'Subscriptions',
  events: 'Events',
  deliveries: 'Deliveries',
} as const satisfies Record<What, string>;

const rowsOf = {
  subscriptions: 'subscription-rows',
  events: 'event-rows',
  deliveries: 'delivery-rows',
} as const satisfies Record<What, string>;

function NoneFound({ what }: { readonly what: string }): JSX.Element {
  return <p class="soft none-found">No {what} has this subject.</p>;
}
