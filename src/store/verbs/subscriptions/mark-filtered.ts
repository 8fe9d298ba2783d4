// Records with every pattern of a subscription whether a filter applies, so that a publish need not
// look it up. Code that adds a pattern or changes the filter must call this last, in the same
// transaction.
import type { Filter } from '../../../core/domain/filter.ts';
import type { Script } from '../../sql/statement.ts';
import { all } from '../../sql/statement.ts';

export const markFilteredSql = {
  // Includes ended patterns: a large fan-out that began before still uses them.
  mark: `
    update pattern set filtered = ?2
    where callback in (select no from callback where subscription = ?1) and filtered <> ?2`,
} as const;

/** `subscription`: its number in the store. */
export function* markFiltered(subscription: number, filter: Filter | undefined): Script<void> {
  yield* all(markFilteredSql.mark, subscription, filter === undefined ? 0 : 1);
}
