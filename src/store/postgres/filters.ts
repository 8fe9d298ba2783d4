// The filters of subscriptions, those of many listeners in one question. Whoever has no filter among his
// listeners asks nothing.
import type { Filter } from '../../core/filter.ts';
import type { FilterOf } from '../fitting.ts';
import { filterIn } from '../fitting.ts';
import type { Listener } from '../listener.ts';
import { integer, text } from '../row.ts';
import type { Tx } from './tx.ts';

export const filtersSql = {
  settings: 'select no, settings from subscription where no = any($1::bigint[])',
} as const;

export async function readFilters(
  tx: Tx,
  listeners: Iterable<Pick<Listener, 'filteredBy'>>,
): Promise<FilterOf> {
  const asked = new Set<number>();
  for (const { filteredBy } of listeners) if (filteredBy !== undefined) asked.add(filteredBy);
  const filters = new Map<number, Filter | undefined>();
  if (asked.size > 0) {
    for (const row of await tx.query(filtersSql.settings, [[...asked]])) {
      filters.set(integer(row, 'no'), filterIn(text(row, 'settings')));
    }
  }
  return (subscription) => filters.get(subscription);
}
