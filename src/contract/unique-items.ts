// `uniqueItems` in time linear in the list. The checker's own compares every item with every other:
// 50,000 objects would take minutes.
import type { FuncKeywordDefinition, SchemaValidateFunction } from 'ajv';
import { isList, isObject } from './document.ts';
import type { Meter } from './meter.ts';

export function uniqueItems(meter: Meter): FuncKeywordDefinition {
  const validate: SchemaValidateFunction = (isAsked: unknown, items: unknown): boolean => {
    if (isAsked !== true || !isList(items)) return true;
    const seen = new Map<string, number>();
    for (const [i, item] of items.entries()) {
      const text = canonical(item, meter);
      const j = seen.get(text);
      if (j !== undefined) {
        validate.errors = [{ keyword: 'uniqueItems', params: { i, j } }];
        return false;
      }
      seen.set(text, i);
    }
    return true;
  };
  return { keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', errors: true, validate };
}

/** The same text for equal values: the order of members means nothing. */
function canonical(value: unknown, meter: Meter): string {
  meter.spend(1);
  if (isList(value)) return `[${value.map((one) => canonical(one, meter)).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? '';
  const members = Object.entries(value).map(
    ([key, one]) => `${JSON.stringify(key)}:${canonical(one, meter)}`,
  );
  return `{${members.toSorted().join()}}`;
}
