// Which patterns hear an event of a name.
import { ownPrefix } from '../core/event.ts';
import { patternsFor } from '../core/pattern.ts';

/** Ringback's own events are heard only by those who ask for them by name. */
export function patternsHearing(name: string): string[] {
  const patterns = patternsFor(name);
  return name.startsWith(ownPrefix) ? patterns.filter((pattern) => pattern !== '*') : patterns;
}
