// Selects the event types of the contract that apply to an event name. Pure.
import { limits } from '../limits.ts';
import type { ListEventTypesAnswer } from '../../../src/client/contract/event.ts';

export type EventType = ListEventTypesAnswer['items'][number];

export type EventSuggestion = { readonly value: string; readonly label: string | undefined };

/** Names and patterns to suggest: no templates, whose names only subscribers choose. */
export function suggestionsOf(types: readonly EventType[]): readonly EventSuggestion[] {
  const byEvent = new Map(
    types.filter(({ event }) => !event.includes('{')).map((type) => [type.event, type]),
  );
  return [...byEvent.values()].map((type) => ({ value: type.event, label: labelOf(type) }));
}

/** The same without patterns, which cannot be published. */
export function namesOf(types: readonly EventType[]): readonly EventSuggestion[] {
  return suggestionsOf(types.filter(({ event }) => !event.endsWith('*')));
}

/** What a list shows beside the name; undefined if there is nothing to say. */
function labelOf({ description, version, state }: EventType): string | undefined {
  const parts = [
    state === 'deprecated' ? 'deprecated' : undefined,
    version === undefined ? undefined : `version ${version}`,
    description?.slice(0, limits.suggestionCharsMax),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(' · ');
}

/**
 * The types that a payload of this event must satisfy, most specific first. Callbacks do not count where an event type
 * has the name.
 */
export function typesFor(types: readonly EventType[], name: string): readonly EventType[] {
  const typed = types.filter(({ event, source }) => event === name && source !== 'callback');
  if (typed.length > 0) return typed;
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
