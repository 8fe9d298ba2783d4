// The properties that a schema declares for an object, through references and combinations.
import { child, entries, items } from '../document/ref-node.ts';
import type { RefNode } from '../document/ref-node.ts';

/** By name; if a name is declared several times, the first place counts. */
export function propertiesOf(schema: RefNode | undefined): ReadonlyMap<string, RefNode> {
  const found = new Map<string, RefNode>();
  const seen = new Set<unknown>();
  // Not recursive: there may be thousands in a chain.
  const waiting = schema === undefined ? [] : [schema];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (seen.has(part.value)) continue;
    seen.add(part.value);
    for (const [name, place] of entries(child(part, 'properties'))) {
      if (!found.has(name)) found.set(name, place);
    }
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      waiting.push(...items(child(part, keyword)).toReversed());
    }
  }
  return found;
}
