// Everything with one subject, and everything of one customer: subscriptions, events and deliveries. A text is looked for
// as both, because a name does not tell which it is.
import './deliveries.css';
import './search.css';
import '../events/events.css';
import '../subscriptions/subscriptions.css';
import type { ComponentChildren, JSX } from 'preact';
import { get, withQuery } from '../api.ts';
import { LinkButton } from '../components/button.tsx';
import { deliveryHref } from '../components/delivery-list.tsx';
import { TextField } from '../components/field.tsx';
import { ListTable } from '../components/list-table.tsx';
import { Empty, Skeleton } from '../components/list-states.tsx';
import { PageHeader, Section } from '../components/page.tsx';
import type { Column } from '../components/table.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { deliveryColumns } from '../deliveries/columns.tsx';
import { eventColumns, eventHref } from '../events/columns.tsx';
import { useStates } from '../events/delivery-states.ts';
import type { Frame } from '../frame.ts';
import { limits } from '../limits.ts';
import { useList, type List, type Page } from '../list.ts';
import { customerCharsMax, subjectCharsMax } from '../path-of-id.ts';
import { param, setParams } from '../router.ts';
import { useFrames } from '../stream.ts';
import { subscriptionColumns, subscriptionHref } from '../subscriptions/columns.tsx';
import { useFigures } from '../subscriptions/figures.ts';
import { useThrottled } from '../throttle.ts';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import type { Event as PublishedEvent } from '../../../src/client/contract/event.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';

export function SearchPage(): JSX.Element {
  const text = param('text');
  return (
    <>
      <PageHeader title="Search" />
      <div class="filters" role="search" aria-label="Search by subject or customer">
        <TextField
          label="Subject or customer"
          value={text ?? ''}
          placeholder="job_17"
          isMono
          maxLength={subjectCharsMax}
          onChange={(value) => setParams({ text: value.trim() })}
        />
      </div>
      {text === undefined ? (
        <Empty icon="search" title="Enter a subject or a customer">
          <p>
            A subject says what events and subscriptions are about, such as a job or an order. A
            customer says whose they are.
          </p>
        </Empty>
      ) : (
        <Results key={text} text={text} />
      )}
    </>
  );
}

function Results({ text }: { readonly text: string }): JSX.Element {
  const found = [useFoundBy('subject', text), useFoundBy('customer', text)];
  if (found.some(({ isLoading }) => isLoading)) return <Skeleton rows={8} />;
  const shown = found.filter(({ isEmpty }) => !isEmpty);
  if (shown.length === 0) {
    return (
      <Empty icon="search" title="Nothing found">
        <p>
          No subject and no customer is called <UntrustedText text={text} mono />. Names are
          compared exactly.
        </p>
      </Empty>
    );
  }
  return (
    <>
      {shown.map((one) => (
        <FoundParts key={one.by} found={one} />
      ))}
    </>
  );
}

type By = 'subject' | 'customer';
type What = 'subscriptions' | 'events' | 'deliveries';

type Found = {
  readonly by: By;
  readonly text: string;
  readonly subscriptions: List<Subscription>;
  readonly events: List<PublishedEvent>;
  readonly deliveries: List<Delivery>;
  /** For the first time. */
  readonly isLoading: boolean;
  readonly isEmpty: boolean;
};

function useFoundBy(by: By, text: string): Found {
  const subscriptions = useFound<Subscription>('subscriptions', { by, text });
  const events = useFound<PublishedEvent>('events', { by, text });
  const deliveries = useFound<Delivery>('deliveries', { by, text });
  const all = [subscriptions, events, deliveries];
  return {
    by,
    text,
    subscriptions,
    events,
    deliveries,
    isLoading: all.some(({ state }) => state.kind === 'loading'),
    isEmpty: all.every(
      ({ state, items, hasMore }) => state.kind === 'ready' && items.length === 0 && !hasMore,
    ),
  };
}

type Sought = { readonly by: By; readonly text: string };

/** The newest ones; reloaded when the stream reports a change that may concern them. */
function useFound<T extends { readonly id: string }>(what: What, { by, text }: Sought): List<T> {
  const list = useList<T>(`${what} ${by} ${text}`, async (cursor, signal) => {
    // The service refuses a name that no customer can have.
    const isTooLong = by === 'customer' && Array.from(text).length > customerCharsMax;
    if (isTooLong) return { items: [], nextCursor: null };
    const query = { [by]: text, cursor, limit: limits.foundItems };
    return get<Page<T>>(`/${what}`, { query, ...(signal ? { signal } : {}) });
  });
  const scheduleReload = useThrottled(list.reload, limits.listEveryMs);
  useFrames((frame) => {
    if (frame.isReset || mayConcern(frame, { what, by, text })) scheduleReload();
  });
  return list;
}

function mayConcern(frame: Frame, { what, by, text }: Sought & { readonly what: What }): boolean {
  if (what === 'subscriptions') return frame.subscriptions.length > 0;
  const isItsDelivery = frame.deliveries.some((one) => one[by] === text);
  if (what === 'deliveries') return isItsDelivery || frame.more > 0;
  return isItsDelivery || frame.counts.published > 0;
}

function FoundParts({ found }: { readonly found: Found }): JSX.Element {
  const { by, subscriptions, events, deliveries } = found;
  const figures = useFigures(subscriptions.items.map(({ id }) => id));
  const states = useStates(events.items, undefined);
  return (
    <>
      <FoundPart what="subscriptions" sought={found}>
        <ListTable
          list={subscriptions}
          nouns={['subscription', 'subscriptions']}
          columns={without(by, subscriptionColumns(figures.byId, subscriptions.items))}
          hrefOf={subscriptionHref}
          selectedId={undefined}
          empty={<NoneFound what="subscriptions" by={by} />}
        />
      </FoundPart>
      <FoundPart what="events" sought={found}>
        <ListTable
          list={events}
          nouns={['event', 'events']}
          columns={without(by, eventColumns(states, events.items))}
          hrefOf={eventHref}
          selectedId={undefined}
          empty={<NoneFound what="events" by={by} />}
        />
      </FoundPart>
      <FoundPart what="deliveries" sought={found}>
        <ListTable
          list={deliveries}
          nouns={['delivery', 'deliveries']}
          columns={without(by, deliveryColumns(deliveries.items))}
          hrefOf={({ id }) => deliveryHref(id)}
          selectedId={undefined}
          empty={<NoneFound what="deliveries" by={by} />}
        />
      </FoundPart>
    </>
  );
}

/** It is the same in each row. */
function without<T>(by: By, columns: readonly Column<T>[]): readonly Column<T>[] {
  return columns.filter(({ name }) => name !== by);
}

function FoundPart({
  what,
  sought: { by, text },
  children,
}: {
  readonly what: What;
  readonly sought: Sought;
  readonly children: ComponentChildren;
}): JSX.Element {
  const all = (
    <LinkButton size="small" href={withQuery(`/console/${what}`, { [by]: text })}>
      Open list
    </LinkButton>
  );
  return (
    <Section title={titles[by][what]} actions={all} isFlush>
      <div class={rowsOf[what]}>{children}</div>
    </Section>
  );
}

const titles = {
  subject: {
    subscriptions: 'Subscriptions with this subject',
    events: 'Events with this subject',
    deliveries: 'Deliveries with this subject',
  },
  customer: {
    subscriptions: 'Subscriptions of this customer',
    events: 'Events to this customer',
    deliveries: 'Deliveries to this customer',
  },
} as const satisfies Record<By, Record<What, string>>;

const none = {
  subject: {
    subscriptions: 'No subscription has this subject.',
    events: 'No event has this subject.',
    deliveries: 'No delivery has this subject.',
  },
  customer: {
    subscriptions: 'This customer has no subscription.',
    events: 'No event was published to this customer alone.',
    deliveries: 'Nothing was sent to this customer.',
  },
} as const satisfies Record<By, Record<What, string>>;

const rowsOf = {
  subscriptions: 'subscription-rows',
  events: 'event-rows',
  deliveries: 'delivery-rows',
} as const satisfies Record<What, string>;

function NoneFound({ what, by }: { readonly what: What; readonly by: By }): JSX.Element {
  return <p class="soft none-found">{none[by][what]}</p>;
}
