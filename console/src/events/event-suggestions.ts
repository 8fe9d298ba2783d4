// Event names and patterns for filters. If they fail to load, there are only no suggestions.
import { get } from '../api.ts';
import { useLoad } from '../load.ts';
import { suggestionsOf, type EventSuggestion, type EventType } from './event-types.ts';

export function useEventSuggestions(): readonly EventSuggestion[] {
  const types = useLoad('types', (signal) =>
    get<{ items: readonly EventType[] }>('/event-types', { signal }),
  );
  return suggestionsOf(types.value?.items ?? []);
}
