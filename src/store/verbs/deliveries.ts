// Lists of deliveries, newest first, from the queue and the history together. Each filter has the index
// that serves it best; whatever else was asked is looked at row by row, and only so many rows.
import { belowPosition, cursorAtPosition } from '../cursor.ts';
import type { Delivery, DeliveryFilter } from '../delivery-verbs.ts';
import { deliveriesNamed, nameKey } from './delivery.ts';
import { fillPage } from './fill-page.ts';
import type { Read } from './verb.ts';
import type { WalkDeliveries } from './walk.ts';
import { walkByEvents, walkDead, walkOfEvent, walkRunning } from './walk-deliveries.ts';
import { walkLive, walkOfSubscription } from './walk-slices.ts';

export const deliveries: Read<'deliveries'> = function* ({ appNo, page, filter }) {
  const walk = bestWalk(filter);
  return yield* fillPage({
    walk: walk({ appNo, filter, below: belowPosition(page.after) }),
    limit: page.limit,
    toCursor: ({ slice, event, n }) => cursorAtPosition({ slice, event, n: n ?? 0 }),
    toItems: function* (steps) {
      const names = steps.flatMap(({ event, n }) => (n === undefined ? [] : [{ event, n }]));
      const found = yield* deliveriesNamed(appNo, names);
      return steps.map(({ event, n }) => {
        const one = n === undefined ? undefined : found.get(nameKey({ event, n }));
        return one !== undefined && fits(one, filter) ? one : undefined;
      });
    },
  });
};

function bestWalk({ event, subscription, state }: DeliveryFilter): WalkDeliveries {
  if (event !== undefined) return walkOfEvent;
  if (subscription !== undefined) return walkOfSubscription;
  switch (state) {
    case 'due':
      return walkLive;
    case 'running':
      return walkRunning;
    case 'dead':
      return walkDead;
    case 'delivered':
    case 'cancelled':
    case undefined:
      return walkByEvents;
  }
}

function fits(found: Delivery, { state, name, event, subscription }: DeliveryFilter): boolean {
  return (
    (state === undefined || found.state === state) &&
    (name === undefined || found.eventName === name) &&
    (event === undefined || found.event === event) &&
    (subscription === undefined || found.subscription === subscription)
  );
}
