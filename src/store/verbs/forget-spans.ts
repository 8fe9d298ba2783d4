// Forgetting spans of slices whose events have all gone. One that is forgotten too early would hide events
// from lists, so a span goes a day after the retention, and only when it lies below every event there is.
import { firstIdAt } from '../../core/id.ts';
import type { Script } from '../statement.ts';
import { all } from '../statement.ts';

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
