// Reads endpoints: the subscriptions of the customer.
import { get } from '../../src/api.ts';
import { useList, type List, type Page } from '../../src/list.ts';
import { useLoad, type Load } from '../../src/load.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';

export function endpointPath(id: string): string {
  return `/subscriptions/${encodeURIComponent(id)}`;
}

/** Without removed ones. */
export function useEndpoints(): List<Subscription> {
  return useList('endpoints', async (cursor, signal) => {
    const query = { limit: 100, cursor };
    const page = await get<Page<Subscription>>('/subscriptions', {
      query,
      ...(signal === undefined ? {} : { signal }),
    });
    return { ...page, items: page.items.filter(({ state }) => state !== 'ended') };
  });
}

export function useEndpoint(id: string): Load<Subscription> {
  return useLoad(id, (signal) => get<Subscription>(endpointPath(id), { signal }));
}
