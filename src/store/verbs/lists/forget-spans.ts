// Deletes the spans of slices whose events are all deleted. A span that is deleted too early would
// hide events from lists, so it is kept a day longer than the retention, and deleted only if it
// lies below every existing event.
import { firstIdAt } from '../../../core/base/id.ts';
import type { Script } from '../../sql/statement.ts';
import { all } from '../../sql/statement.ts';

export const forgetSpansSql = {
  old: `
    delete from slice_span where slice in (
      select slice from slice_span
      where first_event < ?1 and last_event < ?1 and last_event < (select min(id) from event)
      order by first_event limit ?2 + 0)
    returning slice`,
} as const;

const marginMs = 24 * 60 * 60 * 1000;

export function* forgetSpans(beforeMs: number, limit: number): Script<void> {
  yield* all(forgetSpansSql.old, firstIdAt(beforeMs - marginMs), limit);
}
