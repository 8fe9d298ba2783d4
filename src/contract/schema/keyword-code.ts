// Keywords that are checked by own code, because that of the checker takes quadratic time in the
// value, or time in the length of the schema for each item: `uniqueItems` and `enum`; and the cost
// itself.
import type { CodeKeywordDefinition, FuncKeywordDefinition, SchemaValidateFunction } from 'ajv';
import { checkerLibrary } from './checker-library.ts';
import { isList, isObject } from '../document/document.ts';
import type { Meter } from './meter.ts';
import { costKeyword } from './metered.ts';

export function costCode(meter: Meter): CodeKeywordDefinition {
  return {
    keyword: costKeyword,
    schemaType: 'number',
    code: ({ gen, schema }) => {
      const spend = gen.scopeValue('func', { ref: meter.spend });
      gen.code(checkerLibrary().code`${spend}(${Number(schema)})`);
    },
  };
}

export function enumCode(meter: Meter): CodeKeywordDefinition {
  return {
    keyword: 'enum',
    schemaType: 'array',
    code: (context) => {
      const values: unknown = context.schema;
      const allowed = makeShelf();
      for (const value of isList(values) ? values : []) allowed.put(value, 0, unmetered);
      const has = (value: unknown): boolean => allowed.find(value, meter) !== undefined;
      const name = context.gen.scopeValue('func', { ref: has });
      context.fail(checkerLibrary().code`!${name}(${context.data})`);
    },
  };
}

export function uniqueItemsCode(meter: Meter): FuncKeywordDefinition {
  const validate: SchemaValidateFunction = (isAsked: unknown, items: unknown, parent): boolean => {
    if (isAsked !== true || !isList(items)) return true;
    const max: unknown = parent?.['maxItems'];
    if (typeof max === 'number' && items.length > max) return true; // Already refused by its size.
    const seen = makeShelf();
    for (const [i, item] of items.entries()) {
      const j = seen.put(item, i, meter);
      if (j === undefined) continue;
      validate.errors = [{ keyword: 'uniqueItems', params: { i, j } }];
      return false;
    }
    return true;
  };
  return { keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', errors: true, validate };
}

/** Finds equal values by hashing. */
interface Shelf {
  find: (value: unknown, meter: Pick<Meter, 'spend'>) => number | undefined;
  /** Returns the number of an equal value that was added before. */
  put: (value: unknown, number: number, meter: Pick<Meter, 'spend'>) => number | undefined;
}

function makeShelf(): Shelf {
  const scalars = new Map<unknown, number>();
  const others = new Map<unknown, number>();
  const place = (value: unknown, meter: Pick<Meter, 'spend'>): [Map<unknown, number>, unknown] =>
    typeof value === 'object' && value !== null
      ? [others, canonical(value, meter)]
      : [scalars, value];
  return {
    find(value, meter) {
      // Most lists contain neither lists nor objects, so no value has to be serialised for
      // comparison.
      if (others.size === 0) return scalars.get(value);
      const [map, key] = place(value, meter);
      return map.get(key);
    },
    put(value, number, meter) {
      const [map, key] = place(value, meter);
      const known = map.get(key);
      if (known === undefined) map.set(key, number);
      return known;
    },
  };
}

const unmetered = { spend: (): void => undefined };

/** The same text for equal values: the order of members is ignored, and -0 equals 0. */
function canonical(value: unknown, meter: Pick<Meter, 'spend'>): string {
  meter.spend(1);
  if (isList(value)) return `[${value.map((one) => canonical(one, meter)).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? '';
  const members = Object.entries(value).map(
    ([key, one]) => `${JSON.stringify(key)}:${canonical(one, meter)}`,
  );
  return `{${members.toSorted().join()}}`;
}
