// A compact list of deliveries, one line each: target, state and next attempt.
import './delivery-list.css';
import type { JSX } from 'preact';
import { withQuery } from '../api.ts';
import { outcomeLabel } from '../outcome-label.ts';
import { plural } from '../format.ts';
import { hrefWith, route } from '../router.ts';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import { shownState, StateBadge } from './badge.tsx';
import { UntrustedText } from './untrusted-text.tsx';
import { Time } from './time.tsx';

export function DeliveryList({
  items,
  label,
  shows,
}: {
  readonly items: readonly Delivery[];
  readonly label: string;
  /**
   * What distinguishes the deliveries: the URL for those of one event, the event for those of one
   * subscription.
   */
  readonly shows: 'url' | 'event';
}): JSX.Element {
  return (
    <ul class="delivery-list" aria-label={label}>
      {items.map((delivery) => (
        <li key={delivery.id}>
          <StateBadge state={shownState(delivery)} />
          <a href={deliveryHref(delivery.id)}>
            <UntrustedText
              text={shows === 'url' ? delivery.callback.url : delivery.event}
              clip
              mono
            />
          </a>
          <span class="delivery-outcome soft">
            <Outcome delivery={delivery} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** On the deliveries page itself, the list behind the drawer keeps its filters. */
export function deliveryHref(id: string): string {
  const page = '/console/deliveries';
  if (route.value.path !== page) return withQuery(page, { delivery: id });
  return hrefWith({ delivery: id, attempt: undefined });
}

function Outcome({ delivery }: { delivery: Delivery }): JSX.Element {
  const { attemptCount, nextAttemptAt, createdAt, endedAt } = delivery;
  const tries = attemptCount > 1 ? plural(attemptCount, 'attempt') : undefined;
  const facts = [outcomeLabel(delivery), tries].filter((fact) => fact !== undefined).join(', ');
  const isNext = endedAt === undefined && nextAttemptAt !== undefined && attemptCount > 0;
  return (
    <>
      {facts === '' ? null : <span>{facts}</span>}
      {isNext ? (
        <span>
          next attempt <Time at={nextAttemptAt} as="countdown" />
        </span>
      ) : (
        <Time at={endedAt ?? createdAt} />
      )}
    </>
  );
}
