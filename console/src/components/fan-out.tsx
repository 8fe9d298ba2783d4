// Where one event goes: its deliveries with their states, live.
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
  /** How many there should be; null while that is not known. */
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
            ? `Show all ${expected === null ? '' : plural(expected, 'delivery', 'deliveries')}`
            : 'Open in Deliveries'}
        </LinkButton>
      </div>
      <DeliveryList items={items} label="Deliveries of this event" shows="url" />
    </div>
  );
}

/** `2 Delivered, 1 Retrying`, as badges; said to readers when it changes. */
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
      Its deliveries are being made. They appear here by themselves.
    </p>
  );
}

function NoSubscribers(): JSX.Element {
  return (
    <Notice tone="warn" title="Nobody hears this event">
      <p>
        No active subscription listens to this name, so nothing is sent.{' '}
        <a href="/console/subscriptions?new=1">Subscribe a URL</a> or resume one.
      </p>
    </Notice>
  );
}
