// Selects the event types of the contract that apply to an event name. Pure.
import type { ListEventTypesAnswer } from '../../../src/client/contract/event.ts';

export type EventType = ListEventTypesAnswer['items'][number];

/** Event names to suggest: no patterns, and no templates, whose names only subscribers choose. */
export function namesOf(types: readonly EventType[]): readonly string[] {
  const names = types.map(({ event }) => event);
  return [...new Set(names.filter((name) => !name.includes('{') && !name.endsWith('*')))];
}

/** The types that a payload of this event must satisfy, most specific first. */
export function typesFor(types: readonly EventType[], name: string): readonly EventType[] {
  const fitting = types.filter(({ event }) => rank(event, name) > 0);
  return fitting.sort((one, other) => rank(other.event, name) - rank(one.event, name));
}

/** One type per distinct schema: several callbacks may share one. */
export function schemasOf(types: readonly EventType[]): readonly EventType[] {
  const seen = new Set<string>();
  return types.filter(({ schema }) => {
    const written = JSON.stringify(schema);
    const isNew = written !== undefined && !seen.has(written);
    if (isNew) seen.add(written);
    return isNew;
  });
}

export function contractsOf(types: readonly EventType[]): readonly string[] {
  return [...new Set(types.map(({ contract }) => contract))];
}

/** 0 for a type that does not match the name. */
function rank(event: string, name: string): number {
  if (event === name) return 4;
  if (event.endsWith('.*') && name.startsWith(event.slice(0, -1))) return 3;
  if (event === '*') return 2;
  return event.includes('{') ? 1 : 0;
}
