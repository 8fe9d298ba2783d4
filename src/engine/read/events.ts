// Listing and reading events.
import { customerOf, isVisible, type Actor } from '../../core/domain/app.ts';
import type { Event } from '../../core/domain/event.ts';
import { withoutPrefix } from '../../core/base/id.ts';
import { Problem } from '../../core/errors/problem.ts';
import type { EventFilter } from '../../store/port/delivery-verbs.ts';
import type { Page, PageInput } from '../../store/port/store.ts';
import type { Context } from '../context.ts';

export async function listEvents(
  { store }: Context,
  app: Actor,
  query: EventFilter & { page: PageInput },
): Promise<Page<Event>> {
  const customer = customerOf(app, query.customer, 'query.customer');
  return store.read('events', { appNo: app.no, ...query, customer });
}

export async function getEvent({ store }: Context, app: Actor, id: string): Promise<Event> {
  const bare = withoutPrefix('evt', id);
  const found =
    bare === undefined ? undefined : await store.read('event', { appNo: app.no, id: bare });
  if (found !== undefined && isVisible(app, found)) return found;
  // How many deliveries it has in all, and why callbacks were skipped, concerns other customers.
  if (found !== undefined && (await hasReached(store, app, found))) {
    return { ...found, deliveries: undefined, skipped: undefined };
  }
  throw new Problem('not_found', `There is no event ${JSON.stringify(id)}`);
}

/** Whether a subscription of the customer received an event that was published to all. */
async function hasReached(
  store: Context['store'],
  { no: appNo, customer }: Actor,
  event: Event,
): Promise<boolean> {
  if (event.customer !== undefined) return false;
  const filter = { customer, event: event.id, name: undefined };
  const { items } = await store.read('deliveries', {
    appNo,
    page: { limit: 1, after: undefined },
    filter: { ...filter, state: undefined, subscription: undefined },
  });
  return items.length > 0;
}
