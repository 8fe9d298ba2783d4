// The event of a delivery: its payload and its other deliveries.
import type { JSX } from 'preact';
import { withQuery } from '../api.ts';
import { Code } from '../components/code.tsx';
import { DeliveryList } from '../components/delivery-list.tsx';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { Id, UntrustedText } from '../components/untrusted-text.tsx';
import { DrawerSection, Facts } from '../components/drawer-section.tsx';
import { NamedFacts } from '../components/subject-customer.tsx';
import { Time } from '../components/time.tsx';
import { useRelatedDeliveries } from '../related-deliveries.ts';
import { limits } from '../limits.ts';
import type { Load } from '../load.ts';
import type { Delivery } from '../../../src/client/contract/delivery.ts';

export function EventTab({
  delivery,
  payload,
}: {
  readonly delivery: Delivery;
  readonly payload: Load<string>;
}): JSX.Element {
  const { event, subject, customer, eventId, createdAt } = delivery;
  return (
    <>
      <p>
        <strong>
          <UntrustedText text={event} />
        </strong>{' '}
        <a href={withQuery('/console/events', { eventId })}>
          <Id id={eventId} />
        </a>{' '}
        <span class="soft">
          published <Time at={createdAt} />
        </span>
      </p>
      {subject === undefined && customer === undefined ? null : (
        <Facts>
          <NamedFacts subject={subject} customer={customer} />
        </Facts>
      )}
      <DrawerSection title="Payload">
        <Payload payload={payload} />
      </DrawerSection>
      <Others delivery={delivery} />
    </>
  );
}

function Payload({ payload: { state, reload } }: { payload: Load<string> }): JSX.Element {
  if (state.kind === 'loading') return <Skeleton rows={3} />;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={reload} />;
  return <Code text={state.value} label="payload" />;
}

const title = 'Other deliveries of this event';

function Others({ delivery: { id, eventId } }: { delivery: Delivery }): JSX.Element {
  const list = useRelatedDeliveries({ eventId, limit: limits.fanOutItems });
  const others = list.items.filter((one) => one.id !== id);
  const all = <a href={withQuery('/console/deliveries', { eventId })}>View all</a>;
  return (
    <DrawerSection title={title} actions={list.hasMore ? all : undefined}>
      {list.state.kind === 'loading' ? (
        <Skeleton rows={2} />
      ) : list.state.kind === 'failed' ? (
        <Failed problem={list.state.problem} onRetry={list.reload} />
      ) : others.length === 0 ? (
        <p class="soft">None.</p>
      ) : (
        <DeliveryList items={others} label={title} shows="url" />
      )}
    </DrawerSection>
  );
}
