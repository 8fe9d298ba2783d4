// Cuts schemas that refer back to themselves for the same value, such as a parent defined as one of
// its children, each of which extends the parent: a checker would never terminate. It removes the
// reference that closes the circle.
import { bounds } from '../document/bounds.ts';
import { isList, isObject } from '../document/document.ts';

export class TooManyHops extends Error {
  constructor() {
    super(`it follows a chain of more than ${bounds.schemaHopsMax} schemas for the same value`);
  }
}

/** Changes the schemas in place; returns whether there was anything to cut. */
export function cutLoops(defs: ReadonlyMap<string, unknown>): boolean {
  const states = new Map<string, 'open' | 'done'>();
  let isCut = false;
  let hops = 0;

  for (const name of defs.keys()) visit(name);
  return isCut;

  function visit(name: string): void {
    if (states.has(name)) return;
    states.set(name, 'open');
    hops += 1;
    if (hops > bounds.schemaHopsMax) throw new TooManyHops();
    walk(defs.get(name));
    hops -= 1;
    states.set(name, 'done');
  }

  /** Whether the schema itself closes a circle; it then accepts anything. */
  function walk(schema: unknown): boolean {
    if (!isMutable(schema)) return false;
    let closes = false;
    const ref = schema['$ref'];
    if (typeof ref === 'string') {
      const name = ref.slice(ref.lastIndexOf('/') + 1);
      if (states.get(name) === 'open') {
        delete schema['$ref'];
        closes = true;
        isCut = true;
      } else {
        visit(name);
      }
    }
    for (const keyword of ['allOf', 'then', 'else', 'dependentSchemas']) {
      for (const part of partsOf(schema[keyword], keyword)) walk(part);
    }
    for (const keyword of ['anyOf', 'oneOf', 'not', 'if']) {
      // A branch that accepts anything would change the meaning of the others.
      const closing = partsOf(schema[keyword], keyword).map((part) => walk(part));
      if (closing.includes(true)) delete schema[keyword];
    }
    return closes;
  }
}

function partsOf(value: unknown, keyword: string): readonly unknown[] {
  if (isList(value)) return value;
  if (keyword === 'dependentSchemas') return isObject(value) ? Object.values(value) : [];
  return value === undefined ? [] : [value];
}

function isMutable(value: unknown): value is Record<string, unknown> {
  return isObject(value);
}
