// The patterns that match an event name.
import { ownPrefix } from '../../core/domain/event.ts';
import { patternsFor } from '../../core/domain/pattern.ts';

/** `*` does not match Ringback's own events; a pattern must name them. */
export function matchingPatterns(name: string): string[] {
  const patterns = patternsFor(name);
  return name.startsWith(ownPrefix) ? patterns.filter((pattern) => pattern !== '*') : patterns;
}
