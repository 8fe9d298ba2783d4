// The deliveries of one event and their states, live.
import type { JSX } from 'preact';
import { withQuery } from '../api.ts';
import { plural } from '../format.ts';
import { limits } from '../limits.ts';
import { useRelatedDeliveries } from '../related-deliveries.ts';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import { LinkButton } from './button.tsx';
import { countStates } from '../count-states.ts';
import { StateBadge } from './badge.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { Failed, Skeleton } from './list-states.tsx';
import { Notice } from './notice.tsx';

export function FanOut({
  eventId,
  expected,
}: {
  readonly eventId: string;
  /** Expected number of deliveries; null while it is not known. */
  readonly expected: number | null;
}): JSX.Element {
  const list = useRelatedDeliveries({ eventId, limit: limits.fanOutItems });
  if (list.state.kind === 'loading') return <Skeleton rows={2} />;
  if (list.state.kind === 'failed') {
    return <Failed problem={list.state.problem} onRetry={list.reload} />;
  }
  const { items } = list;
  if (items.length === 0) return expected === 0 ? <NoSubscribers /> : <DeliveriesPending />;
  const isPart = list.hasMore || items.length < (expected ?? 0);
  return (
    <div class="stack">
      <div class="fan-out-head">
        <StateCounts items={items} />
        <LinkButton size="small" href={withQuery('/console/deliveries', { eventId })}>
          {isPart
            ? `View all ${expected === null ? '' : plural(expected, 'delivery', 'deliveries')}`
            : 'View in Deliveries'}
        </LinkButton>
      </div>
      <DeliveryList items={items} label="Deliveries of this event" shows="url" />
    </div>
  );
}

/** `2 Delivered, 1 Retrying` as badges, announced when they change. */
function StateCounts({ items }: { items: readonly Delivery[] }): JSX.Element {
  return (
    <p class="cluster" role="status">
      {countStates(items).map(({ state, size }) => (
        <StateBadge key={state} state={state} count={size} />
      ))}
    </p>
  );
}

function DeliveriesPending(): JSX.Element {
  return (
    <p class="soft" role="status">
      Creating deliveries. They appear here automatically.
    </p>
  );
}

function NoSubscribers(): JSX.Element {
  return (
    <Notice tone="warn" title="No subscription matches this event">
      <p>
        No deliveries were created. <a href="/console/subscriptions?new=1">Add a subscription</a>,
        then publish the event again.
      </p>
    </Notice>
  );
}
