// Splits a bundle into single schemas that each contain their own cost: a schema that is applied
// more than once, through a reference or to each item of a list, charges the meter first.
import type { Bundle, Schema } from './bundle.ts';
import { isList, isObject } from '../document/document.ts';
import { keywords } from './keywords.ts';

/** The keyword that holds the cost. */
export const costKeyword = 'x-ringback-cost';

/** By name, dependencies first; the last one is the root. */
export function meteredSchemas({ $ref, $defs }: Bundle): Map<string, Schema> {
  const metered = new Map<string, Schema>();
  for (const name of inOrder(nameIn($ref), $defs)) {
    const schema = $defs[name];
    if (schema !== undefined) metered.set(name, withCost(schema).schema);
  }
  return metered;
}

/** `#/$defs/s1` → `s1`. */
export function nameIn(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

/** A schema, and its cost together with everything that is applied equally often. */
interface Weighed {
  schema: Schema;
  cost: number;
}

/** The cost of a call, and of a fault that may have to be kept until all branches were tried. */
const costOfCall = 10;

function withCost(original: Schema): Weighed {
  const { schema, cost } = copy(original);
  if (!isObject(schema)) return { schema, cost: 1 };
  return { schema: { ...schema, [costKeyword]: cost + costOfCall }, cost: 1 };
}

function copy(schema: unknown): Weighed {
  if (!isObject(schema)) return { schema: schema !== false, cost: 1 };
  let cost = 1;
  const take = (weighed: Weighed): Schema => {
    cost += weighed.cost;
    return weighed.schema;
  };
  const members = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (key === '$ref') return [key, nameIn(String(value))];
    const inner = repeated.has(key) ? withCostOf : copy;
    switch (keywords.get(key)?.kind) {
      case 'schema':
        return [key, take(inner(value))];
      case 'schemas':
      case 'branches':
        return [key, isList(value) ? value.map((one) => take(inner(one))) : value];
      case 'schema map':
        return [key, mapValues(value, (one) => take(inner(one)))];
      case 'value':
      case undefined:
        cost += key === 'enum' ? 1 : sizeOf(value);
        return [key, value];
    }
  });
  return { schema: Object.fromEntries(members), cost };
}

/** Keywords whose schemas are applied once per item or member. */
const repeated = new Set([
  'items',
  'contains',
  'patternProperties',
  'additionalProperties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

function withCostOf(schema: unknown): Weighed {
  return withCost(isObject(schema) ? schema : schema !== false);
}

/** Size of a list of required names, or of a value to compare with. */
function sizeOf(value: unknown): number {
  if (isList(value)) return 1 + value.reduce((sum: number, one) => sum + sizeOf(one), 0);
  return isObject(value) ? 1 + Object.values(value).reduce(addSize, 0) : 1;
}

function addSize(sum: number, value: unknown): number {
  return sum + sizeOf(value);
}

function mapValues(object: unknown, change: (value: unknown) => unknown): unknown {
  if (!isObject(object)) return object;
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

/** Dependencies first, so that no compilation starts another one, except in circles. */
function inOrder(start: string, defs: Bundle['$defs']): string[] {
  const order: string[] = [];
  const seen = new Set([start]);
  const frames = [{ name: start, refs: refsIn(defs[start]), next: 0 }];
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const ref = frame.refs[frame.next];
    frame.next += 1;
    if (ref === undefined) {
      order.push(frame.name);
      frames.pop();
    } else if (!seen.has(ref)) {
      seen.add(ref);
      frames.push({ name: ref, refs: refsIn(defs[ref]), next: 0 });
    }
  }
  return order;
}

/** Properties may be named like keywords: the value of `properties.type` is a schema. */
function refsIn(schema: unknown): string[] {
  if (!isObject(schema)) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === '$ref' && typeof value === 'string') return [nameIn(value)];
    switch (keywords.get(key)?.kind) {
      case 'schema':
        return refsIn(value);
      case 'schemas':
      case 'branches':
        return isList(value) ? value.flatMap(refsIn) : [];
      case 'schema map':
        return isObject(value) ? Object.values(value).flatMap(refsIn) : [];
      case 'value':
      case undefined:
        return [];
    }
  });
}
