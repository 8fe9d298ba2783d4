// The event of a delivery: its payload, and where else it goes.
import type { JSX } from 'preact';
import { withQuery } from '../api.ts';
import { Code } from '../components/code.tsx';
import { DeliveryList } from '../components/delivery-list.tsx';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { Id, Outside } from '../components/outside.tsx';
import { Part } from '../components/part.tsx';
import { Time } from '../components/time.tsx';
import { useDeliveriesOf } from '../deliveries-of.ts';
import { limits } from '../limits.ts';
import type { Load } from '../load.ts';
import type { Delivery } from '../shapes.ts';

export function EventTab({
  delivery,
  payload,
}: {
  readonly delivery: Delivery;
  readonly payload: Load<string>;
}): JSX.Element {
  const { event, eventId, createdAt } = delivery;
  return (
    <>
      <p>
        <strong>
          <Outside text={event} />
        </strong>{' '}
        <a href={withQuery('/console/events', { eventId })}>
          <Id id={eventId} />
        </a>{' '}
        <span class="soft">
          published <Time at={createdAt} />
        </span>
      </p>
      <Part title="Payload">
        <Payload payload={payload} />
      </Part>
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
  const list = useDeliveriesOf({ eventId, limit: limits.fanOutItems });
  const others = list.items.filter((one) => one.id !== id);
  const all = <a href={withQuery('/console/deliveries', { eventId })}>All of them</a>;
  return (
    <Part title={title} aside={list.hasMore ? all : undefined}>
      {list.state.kind === 'loading' ? (
        <Skeleton rows={2} />
      ) : list.state.kind === 'failed' ? (
        <Failed problem={list.state.problem} onRetry={list.reload} />
      ) : others.length === 0 ? (
        <p class="soft">It goes nowhere else.</p>
      ) : (
        <DeliveryList items={others} label={title} shows="url" />
      )}
    </Part>
  );
}
