// Says with every pattern of a subscription whether a filter must be asked, so that a publish need not
// look. Whoever adds a pattern or changes the filter calls this last, in the same transaction.
import type { Filter } from '../../core/filter.ts';
import type { Script } from '../statement.ts';
import { all } from '../statement.ts';

export const markFilteredSql = {
  // Those that died, too: a large fan-out that began before still reaches them.
  mark: `
    update pattern set filtered = ?2
    where callback in (select no from callback where subscription = ?1) and filtered <> ?2`,
} as const;

/** `subscription`: the store's number of it. */
export function* markFiltered(subscription: number, filter: Filter | undefined): Script<void> {
  yield* all(markFilteredSql.mark, subscription, filter === undefined ? 0 : 1);
}
