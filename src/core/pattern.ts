// Event names and the patterns that hear them. Matching is equality with a few candidates, so that
// an ordinary index finds the listeners: no trie, no scan.
import { limits } from './limits.ts';

const name = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

export function isEventName(text: string): boolean {
  return text.length <= limits.eventNameCharsMax && name.test(text);
}

/** A name, `*`, or a prefix ending in `.*` that stands for one or more further segments. */
export function isEventPattern(text: string): boolean {
  if (text === '*') return true;
  return isEventName(text.endsWith('.*') ? text.slice(0, -2) : text);
}

/** The patterns that hear an event: `a.b.c` is heard by `a.b.c`, `a.b.*`, `a.*` and `*`. */
export function patternsFor(event: string): string[] {
  const patterns = [event];
  for (let dot = event.lastIndexOf('.'); dot > 0; dot = event.lastIndexOf('.', dot - 1)) {
    patterns.push(`${event.slice(0, dot)}.*`);
  }
  patterns.push('*');
  return patterns;
}
