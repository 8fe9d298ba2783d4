// The commonest schema by far, a text that is at most to be long enough, told by hand: nothing else is checked
// while a service starts, and so it starts without the checker's library.
import type { Bundle } from './bundle.ts';
import { isObject } from './document.ts';
import { nameIn } from './metered.ts';

/** Says yes only where the checker would; what it says no to is for the checker. */
export function plainTextCheck({ $ref, $defs }: Bundle): (value: unknown) => boolean {
  const schema = $defs[nameIn($ref)];
  const { type, minLength = 0, ...more } = isObject(schema) ? schema : {};
  if (type !== 'string' || typeof minLength !== 'number' || Object.keys(more).length > 0) {
    return () => false;
  }
  // A character counts once in a schema, and once or twice in a length.
  return (value) => typeof value === 'string' && value.length >= 2 * minLength;
}
