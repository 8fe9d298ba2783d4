// Listing and reading deliveries, and sending them again.
import { customerOf, isVisible, type Actor } from '../../core/domain/app.ts';
import type { Attempt } from '../../core/domain/attempt.ts';
import { deliveryId, parseDeliveryId, type DeliveryName } from '../../core/domain/delivery.ts';
import { withoutPrefix, type IdPrefix } from '../../core/base/id.ts';
import { Problem } from '../../core/errors/problem.ts';
import type { Delivery, DeliveryFilter } from '../../store/port/delivery-verbs.ts';
import type { Page, PageInput } from '../../store/port/store.ts';
import { audited } from '../audit.ts';
import type { Context } from '../context.ts';

export interface DeliveryQuery extends Omit<DeliveryFilter, 'event' | 'subscription'> {
  page: PageInput;
  eventId: string | undefined;
  subscriberId: string | undefined;
}

export async function listDeliveries(
  { store }: Context,
  app: Actor,
  { page, eventId, subscriberId, ...query }: DeliveryQuery,
): Promise<Page<Delivery>> {
  const event = bareId('evt', 'eventId', eventId);
  const subscription = bareId('sub', 'subscriberId', subscriberId);
  const customer = customerOf(app, query.customer, 'query.customer');
  const filter = { ...query, customer, event, subscription };
  return store.read('deliveries', { appNo: app.no, page, filter });
}

export async function getDelivery(
  { store }: Context,
  app: Actor,
  id: string,
): Promise<{ delivery: Delivery; attempts: readonly Attempt[] }> {
  const name = parseDeliveryId(id);
  if (name === undefined) throw notFound(id);
  const delivery = await store.read('delivery', { appNo: app.no, ...name });
  if (delivery === undefined || !isVisible(app, delivery)) throw notFound(id);
  return { delivery, attempts: await store.read('attempts', { appNo: app.no, ...name }) };
}

export async function retryDelivery(
  context: Context,
  app: Actor,
  id: string,
): Promise<DeliveryName> {
  const { store, changes } = context;
  const name = parseDeliveryId(id);
  if (name === undefined) throw notFound(id);
  if (app.customer !== undefined) await getDelivery(context, app, id);
  const audit = audited(app, 'delivery.retried', { object: deliveryId(name) });
  const result = await store.edit('retryDelivery', { appNo: app.no, ...name, audit });
  switch (result.kind) {
    case 'due': {
      const due = { event: name.event, n: result.n };
      changes.moved(app.no, due);
      return due;
    }
    case 'pending':
      throw new Problem('conflict', `Cannot send ${id} again: it has not ended yet`);
    case 'ended':
      throw new Problem('conflict', `Cannot send ${id} again: its subscription has ended`);
    case 'not_found':
      throw notFound(id);
  }
}

function bareId(prefix: IdPrefix, field: string, id: string | undefined): string | undefined {
  if (id === undefined) return undefined;
  const bare = withoutPrefix(prefix, id);
  if (bare !== undefined) return bare;
  const message = `is not an id of that kind, expected ${prefix}_ and 26 characters`;
  throw new Problem('invalid_request', `query.${field} ${message}`, {
    faults: [{ field: `query.${field}`, message }],
  });
}

function notFound(id: string): Problem {
  return new Problem('not_found', `There is no delivery ${JSON.stringify(id)}`);
}
