// Event names, and the patterns that match them. Each event matches only a few possible patterns,
// so an ordinary index on equality finds the subscribers: no trie, no scan.
import { limits } from '../limits/limits.ts';

const name = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

export function isEventName(text: string): boolean {
  return text.length <= limits.eventNameCharsMax && name.test(text);
}

/** A name, `*`, or a prefix ending in `.*` that matches one or more further segments. */
export function isEventPattern(text: string): boolean {
  if (text === '*') return true;
  return isEventName(text.endsWith('.*') ? text.slice(0, -2) : text);
}

/** The patterns that match an event: for `a.b.c` these are `a.b.c`, `a.b.*`, `a.*` and `*`. */
export function patternsFor(event: string): string[] {
  const patterns = [event];
  for (let dot = event.lastIndexOf('.'); dot > 0; dot = event.lastIndexOf('.', dot - 1)) {
    patterns.push(`${event.slice(0, dot)}.*`);
  }
  patterns.push('*');
  return patterns;
}
