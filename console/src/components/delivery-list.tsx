// Some deliveries in a small place, one line each: where to, how it stands, and what comes next.
import './delivery-list.css';
import type { JSX } from 'preact';
import { outcomeWords } from '../failure-words.ts';
import { plural } from '../format.ts';
import type { Delivery } from '../shapes.ts';
import { shownState, StateBadge } from './badge.tsx';
import { Outside } from './outside.tsx';
import { Time } from './time.tsx';

export function DeliveryList({
  items,
  label,
  shows,
}: {
  readonly items: readonly Delivery[];
  readonly label: string;
  /** What tells them apart here: of one event where they go, of one subscription what they say. */
  readonly shows: 'url' | 'event';
}): JSX.Element {
  return (
    <ul class="delivery-list" aria-label={label}>
      {items.map((delivery) => (
        <li key={delivery.id}>
          <StateBadge state={shownState(delivery)} />
          <a href={deliveryHref(delivery.id)}>
            <Outside text={shows === 'url' ? delivery.callback.url : delivery.event} clip mono />
          </a>
          <span class="delivery-fate soft">
            <Fate delivery={delivery} />
          </span>
        </li>
      ))}
    </ul>
  );
}

export function deliveryHref(id: string): string {
  return `/console/deliveries?delivery=${encodeURIComponent(id)}`;
}

function Fate({ delivery }: { delivery: Delivery }): JSX.Element {
  const { attemptCount, nextAttemptAt, createdAt, endedAt } = delivery;
  const tries = attemptCount > 1 ? plural(attemptCount, 'attempt') : undefined;
  const facts = [outcomeWords(delivery), tries].filter((fact) => fact !== undefined).join(', ');
  const isNext = endedAt === undefined && nextAttemptAt !== undefined && attemptCount > 0;
  return (
    <>
      {facts === '' ? null : <span>{facts}</span>}
      {isNext ? (
        <span>
          again <Time at={nextAttemptAt} as="countdown" />
        </span>
      ) : (
        <Time at={endedAt ?? createdAt} />
      )}
    </>
  );
}
