// A fast path for by far the most common schema: a string, perhaps with a minimum length. No other
// schema is checked while a service starts, so it can start without loading the checker's library.
import type { Bundle } from './bundle.ts';
import { isObject } from '../document/document.ts';
import { nameIn } from './metered.ts';

/** Returns true only if the checker would; a false must be decided by the checker. */
export function plainTextCheck({ $ref, $defs }: Bundle): (value: unknown) => boolean {
  const schema = $defs[nameIn($ref)];
  const { type, minLength = 0, ...more } = isObject(schema) ? schema : {};
  if (type !== 'string' || typeof minLength !== 'number' || Object.keys(more).length > 0) {
    return () => false;
  }
  // A schema counts characters, and `length` counts each once or twice.
  return (value) => typeof value === 'string' && value.length >= 2 * minLength;
}
