// The catalogue: the events that can be received, by name. Patterns and templates are no names.
import { get } from '../../src/api.ts';
import type { EventType } from '../../src/events/event-types.ts';
import { useLoad, type Load } from '../../src/load.ts';

export type { EventType };

export function useEventTypes(): Load<readonly EventType[]> {
  return useLoad<readonly EventType[]>('types', async (signal) => {
    const { items } = await get<{ items: readonly EventType[] }>('/event-types', { signal });
    const named = items.filter((type) => !/[*{]/u.test(type.event) && !isBuiltIn(type));
    // A declared type comes before callbacks that match the same event.
    const byName = new Map(named.toReversed().map((type) => [type.event, type]));
    const declared = named.filter(({ source }) => source === 'declared');
    for (const type of declared) byName.set(type.event, type);
    return [...byName.values()].toSorted((one, other) => (one.event < other.event ? -1 : 1));
  });
}

/** The callbacks of Ringback's own operation, `inProgress` for one, are no events of the product. */
function isBuiltIn({ source, contract }: EventType): boolean {
  return source === 'callback' && contract === 'Ringback';
}

export type Group = { readonly prefix: string; readonly types: readonly EventType[] };

/** By what comes before the first dot; empty for names without one. */
export function groupsOf(types: readonly EventType[]): readonly Group[] {
  const groups = Map.groupBy(types, ({ event }) =>
    event.includes('.') ? event.slice(0, event.indexOf('.')) : '',
  );
  return [...groups]
    .map(([prefix, members]) => ({ prefix, types: members }))
    .toSorted((one, other) => Number(one.prefix === '') - Number(other.prefix === ''));
}

/** Whether a chosen name or pattern includes the event. */
export function isIncluded(event: string, chosen: readonly string[]): boolean {
  return chosen.some(
    (one) => one === event || (one.endsWith('.*') && event.startsWith(one.slice(0, -1))),
  );
}
