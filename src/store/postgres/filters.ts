// The filters of subscriptions, those of many listeners in one question, each once: a batch of publishes
// may meet a listener for each of its names. Whoever has no filter among his listeners asks nothing.
import type { Rules } from '../../core/filter.ts';
import type { Lane } from '../../core/lane.ts';
import { rulesIn } from '../kept-filter.ts';
import type { Listener } from '../listener.ts';
import type { Row } from '../row.ts';
import { integer, text } from '../row.ts';
import type { Tx } from './tx.ts';

export const filtersSql = {
  settings: 'select no, settings from subscription where no = any($1::bigint[])',
} as const;

/** A listener as it was found: it is known whether it filters, and not yet what. */
export interface Found extends Omit<Listener, 'rules'> {
  /** The subscription, if it has a filter. */
  filteredBy: number | undefined;
}

export function toFound(row: Row, lane: Lane): Found {
  const isFiltered = integer(row, 'filtered') === 1;
  const filteredBy = isFiltered ? integer(row, 'subscription') : undefined;
  return { callback: integer(row, 'callback'), lane, filteredBy };
}

/** List by list, in their order. */
export async function withRules(
  tx: Tx,
  found: readonly (readonly Found[])[],
): Promise<Listener[][]> {
  const asked = new Set(found.flat().flatMap(({ filteredBy }) => filteredBy ?? []));
  const rows = asked.size === 0 ? [] : await tx.query(filtersSql.settings, [[...asked]]);
  const known = new Map<number | undefined, Rules | undefined>(
    rows.map((row) => [integer(row, 'no'), rulesIn(text(row, 'settings'))]),
  );
  return found.map((list) =>
    list.map(({ callback, lane, filteredBy }) => ({
      callback,
      lane,
      rules: known.get(filteredBy),
    })),
  );
}
