// Lists of deliveries, newest first, from the queue and the history together. Each filter has the index
// that serves it best; whatever else was asked is looked at row by row, and only so many rows.
import type { DatabaseSync } from 'node:sqlite';
import { belowPosition } from '../cursor.ts';
import type { Delivery, DeliveryFilter } from '../delivery-verbs.ts';
import { prepareDelivery } from './delivery.ts';
import { fillSteps } from './page.ts';
import type { Read } from './verb.ts';
import type { Walk } from './walk.ts';
import type { DeliveryWalk } from './walk-deliveries.ts';
import { prepareWalkDeliveries } from './walk-deliveries.ts';

export function prepareDeliveries(db: DatabaseSync): Read<'deliveries'> {
  const find = prepareDelivery(db);
  const walks = prepareWalkDeliveries(db);
  return ({ appNo, page: { limit, after }, filter }) => {
    const walk = bestWalk(walks, filter);
    return fillSteps({
      steps: walk({ appNo, filter, below: belowPosition(after) }),
      limit,
      toPosition: ({ slice, event, n }) => ({ slice, event, n: n ?? 0 }),
      toItem: ({ event, n }) => {
        const delivery = n === undefined ? undefined : find({ appNo, event, n });
        return delivery !== undefined && fits(delivery, filter) ? delivery : undefined;
      },
      isFull: () => false,
    });
  };
}

function bestWalk(walks: DeliveryWalk, { event, subscription, state }: DeliveryFilter): Walk {
  if (event !== undefined) return walks.ofEvent;
  if (subscription !== undefined) return walks.ofSubscription;
  switch (state) {
    case 'due':
      return walks.live;
    case 'running':
      return walks.running;
    case 'dead':
      return walks.dead;
    case 'delivered':
    case 'cancelled':
    case undefined:
      return walks.byEvents;
  }
}

function fits(delivery: Delivery, { state, name, event, subscription }: DeliveryFilter): boolean {
  return (
    (state === undefined || delivery.state === state) &&
    (name === undefined || delivery.eventName === name) &&
    (event === undefined || delivery.event === event) &&
    (subscription === undefined || delivery.subscription === subscription)
  );
}
