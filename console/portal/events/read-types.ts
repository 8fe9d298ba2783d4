// The catalogue: the events that can be received, by name. Patterns and templates are no names.
import { get } from '../../src/api.ts';
import type { EventType } from '../../src/events/event-types.ts';
import { useLoad, type Load } from '../../src/load.ts';

export type { EventType };

export function useEventTypes(): Load<readonly EventType[]> {
  return useLoad('types', (signal) => readEventTypes({ signal }));
}

export async function readEventTypes(
  options: { signal?: AbortSignal } = {},
): Promise<readonly EventType[]> {
  const { items } = await get<{ items: readonly EventType[] }>('/event-types', options);
  const named = items.filter((type) => !/[*{]/u.test(type.event) && !isBuiltIn(type));
  // A declared type comes before callbacks that match the same event.
  const inOrder = named.toSorted(
    (one, other) => Number(isDeclared(one)) - Number(isDeclared(other)),
  );
  const byName = new Map(inOrder.map((type) => [type.event, type]));
  return [...byName.values()].toSorted((one, other) => (one.event < other.event ? -1 : 1));
}

function isDeclared({ source }: EventType): boolean {
  return source === 'declared';
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
