// Stands in for the reader of filters until it is there: the shape alone is read.
import type { Filter, FilterValue } from './filter.ts';
import { fieldIn, type Fault } from './problem.ts';

export type FilterReading =
  | { kind: 'filter'; filter: Filter | undefined }
  | { kind: 'faulty'; faults: readonly Fault[] };

export function readFilter(value: unknown, field: string): FilterReading {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = 'is no object, expected an object of JSON pointers';
    return { kind: 'faulty', faults: [{ field, message }] };
  }
  const faults: Fault[] = [];
  const rules = Object.entries(value).map(([pointer, wanted]): [string, FilterValue[]] => {
    const list: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted];
    const scalars = list.filter(isScalar);
    const isFit = scalars.length === list.length && list.length > 0 && /^(\/.*)?$/u.test(pointer);
    const message = 'is no rule, expected a scalar or a list of scalars at a JSON pointer';
    if (!isFit) faults.push({ field: fieldIn(field, pointer), message });
    return [pointer, scalars];
  });
  if (faults.length > 0) return { kind: 'faulty', faults };
  return { kind: 'filter', filter: rules.length === 0 ? undefined : Object.fromEntries(rules) };
}

function isScalar(value: unknown): value is FilterValue {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
