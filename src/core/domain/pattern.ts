// Names, subjects and customers of events, and the patterns that match names. Each event matches only a few possible patterns,
// so an ordinary index on equality finds the subscribers: no trie, no scan.
import { limits } from '../limits/limits.ts';

export function isEventName(text: string): boolean {
  return isShortText(text, limits.eventNameCharsMax);
}

export function isSubject(text: string): boolean {
  return isShortText(text, limits.subjectCharsMax);
}

export function isCustomer(text: string): boolean {
  return isShortText(text, limits.customerCharsMax);
}

/** Any text, except what PostgreSQL cannot store: U+0000 and unpaired surrogates. */
function isShortText(text: string, most: number): boolean {
  // Counted in code points, as `maxLength` of a schema does. The first comparison bounds the work.
  if (text === '' || text.length > 2 * most || text.includes('\0')) return false;
  return text.isWellFormed() && (text.length <= most || Array.from(text).length <= most);
}

export const nameFault = `is not an event name, expected 1 to ${limits.eventNameCharsMax} characters without U+0000`;
export const subjectFault = `is not a subject, expected 1 to ${limits.subjectCharsMax} characters without U+0000`;

export const customerFault = `is not a customer, expected 1 to ${limits.customerCharsMax} characters without U+0000`;

/** `*`, or a prefix ending in `.*` that matches all names that continue after it. */
export function isWildcard(pattern: string): boolean {
  return pattern === '*' || pattern.endsWith('.*');
}

/** The pattern that matches only this name: a backslash makes a final `*` literal. */
export function literalPattern(name: string): string {
  return name.replace(starAtEnd, String.raw`$1$2\*`);
}

/** The reverse of literalPattern(), for a pattern that is not a wildcard. */
export function nameOfLiteral(pattern: string): string {
  return pattern.replace(starAtEnd, (_, start: string, slashes: string) => {
    return `${start}${slashes.slice(1)}*`;
  });
}

const starAtEnd = /(^|\.)(\\*)\*$/u;

/** The patterns that match an event: for `a.b.c` these are `a.b.c`, `a.b.*`, `a.*` and `*`. */
export function patternsFor(event: string): string[] {
  const patterns = [literalPattern(event)];
  for (let end = event.length; end > 0;) {
    const dot = event.lastIndexOf('.', end - 1);
    if (dot >= 0) patterns.push(`${event.slice(0, dot)}.*`);
    end = dot;
  }
  patterns.push('*');
  return patterns;
}

/** As a header carries it, such as that of a callback: most names look the same, others are percent-encoded. */
export function nameInHeader(name: string): string {
  return encodeURIComponent(name);
}
