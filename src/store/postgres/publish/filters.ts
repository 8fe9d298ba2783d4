// The filters of subscriptions, for many listeners in one query, each once: a batch of publishes
// may meet a listener for several of its names. Without filters there is no query.
import type { Found, KnownRules } from '../../rules/filter-cache.ts';
import { learnRules, toListener } from '../../rules/filter-cache.ts';
import type { Listener } from '../../port/listener.ts';
import type { Tx } from '../connection/tx.ts';

export const filtersSql = {
  filters: 'select no, filter from subscription where no = any($1::bigint[])',
} as const;

/** Returns one list per input list, in the same order. */
export async function withRules(
  tx: Tx,
  found: readonly (readonly Found[])[],
): Promise<Listener[][]> {
  const asked = new Set(found.flat().flatMap(({ filteredBy }) => filteredBy ?? []));
  const known: KnownRules = new Map();
  if (asked.size > 0) learnRules(known, await tx.query(filtersSql.filters, [[...asked]]));
  return found.map((list) => list.map((one) => toListener(one, known)));
}
