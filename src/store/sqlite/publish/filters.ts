// Reads the filters of subscriptions: those of all matching callbacks of an event in one query, and
// each only once per batch. Without filters there is no query.
import type { DatabaseSync } from 'node:sqlite';
import type { Found, KnownRules } from '../../rules/filter-cache.ts';
import { learnRules, toListener } from '../../rules/filter-cache.ts';
import type { Listener } from '../../port/listener.ts';

export const filtersSql = {
  filters: `
    select no, filter from subscription where no in (select value from json_each(?))`,
} as const;

/** In the order of `found`. */
export type WithRules = (found: readonly Found[], known: KnownRules) => Listener[];

export function prepareFilters(db: DatabaseSync): WithRules {
  const filters = db.prepare(filtersSql.filters);
  return (found, known) => {
    const unknown = new Set(
      found.flatMap(({ filteredBy }) =>
        filteredBy === undefined || known.has(filteredBy) ? [] : [filteredBy],
      ),
    );
    if (unknown.size > 0) learnRules(known, filters.all(JSON.stringify([...unknown])));
    return found.map((one) => toListener(one, known));
  };
}
