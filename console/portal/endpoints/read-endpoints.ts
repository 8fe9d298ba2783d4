// Reads endpoints: the subscriptions of the customer.
import { get } from '../../src/api.ts';
import { useListAt, type List } from '../../src/list.ts';
import { useLoad, type Load } from '../../src/load.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';

export function endpointPath(id: string): string {
  return `/subscriptions/${encodeURIComponent(id)}`;
}

/** Without removed ones. */
export function useEndpoints(): List<Subscription> {
  return useListAt('/subscriptions', { limit: 100 }, ({ state }) => state !== 'ended');
}

export function useEndpoint(id: string): Load<Subscription> {
  return useLoad(id, (signal) => get<Subscription>(endpointPath(id), { signal }));
}
