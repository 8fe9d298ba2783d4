// The event of a delivery: its payload, and where else it goes.
import type { JSX } from 'preact';
import { get } from '../api.ts';
import { shownState, StateBadge } from '../components/badge.tsx';
import { Code } from '../components/code.tsx';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { Id, Outside } from '../components/outside.tsx';
import { Time } from '../components/time.tsx';
import { useLoad, type Load } from '../load.ts';
import type { Delivery, Page } from '../shapes.ts';
import { hrefOfDelivery } from './columns.tsx';

const othersMax = 20;

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
        <a href={`/console/events?eventId=${eventId}`}>
          <Id id={eventId} />
        </a>{' '}
        <span class="soft">
          published <Time at={createdAt} />
        </span>
      </p>
      <section class="stack-small">
        <h3>Payload</h3>
        <Payload payload={payload} />
      </section>
      <section class="stack-small">
        <h3>Other deliveries of this event</h3>
        <Others delivery={delivery} />
      </section>
    </>
  );
}

function Payload({ payload: { state, reload } }: { payload: Load<string> }): JSX.Element {
  if (state.kind === 'loading') return <Skeleton rows={3} />;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={reload} />;
  return <Code text={state.value} label="payload" />;
}

function Others({ delivery: { id, eventId } }: { delivery: Delivery }): JSX.Element {
  const load = useLoad(eventId, (signal) =>
    get<Page<Delivery>>('/deliveries', { query: { eventId, limit: othersMax + 1 }, signal }),
  );
  const { state } = load;
  if (state.kind === 'loading') return <Skeleton rows={2} />;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={load.reload} />;
  const others = state.value.items.filter((one) => one.id !== id).slice(0, othersMax);
  if (others.length === 0) return <p class="soft">It goes nowhere else.</p>;
  return (
    <>
      <ul class="others">
        {others.map((one) => (
          <li key={one.id}>
            <StateBadge state={shownState(one)} />
            <a href={hrefOfDelivery(one.id)}>
              <Outside text={one.callback.url} clip mono />
            </a>
          </li>
        ))}
      </ul>
      {state.value.nextCursor === null && state.value.items.length <= othersMax ? null : (
        <p>
          <a href={`/console/deliveries?eventId=${eventId}`}>All deliveries of this event</a>
        </p>
      )}
    </>
  );
}
