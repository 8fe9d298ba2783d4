// The properties that a schema declares for an object, through references and combinations.
import { child, entries, items } from './place.ts';
import type { Place } from './place.ts';

/** By name; of a name that is declared several times the first place counts. */
export function propertiesOf(schema: Place | undefined): ReadonlyMap<string, Place> {
  const found = new Map<string, Place>();
  if (schema !== undefined) gather(schema, { found, seen: new Set() });
  return found;
}

interface Gathering {
  found: Map<string, Place>;
  seen: Set<unknown>;
}

function gather(schema: Place, { found, seen }: Gathering): void {
  const parts = [schema, ...['allOf', 'oneOf', 'anyOf'].flatMap((key) => partsOf(schema, key))];
  if (seen.has(schema.value)) return;
  seen.add(schema.value);
  for (const [name, place] of entries(child(schema, 'properties'))) {
    if (!found.has(name)) found.set(name, place);
  }
  for (const part of parts.slice(1)) gather(part, { found, seen });
}

function partsOf(schema: Place, key: string): Place[] {
  const parts = child(schema, key);
  return parts === undefined ? [] : items(parts);
}
