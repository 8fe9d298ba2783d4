// Deletes the spans of slices whose events are all deleted. A span that is deleted too early would
// hide events from lists, so it is kept a day longer than the retention, and deleted only if it
// lies below every existing event.
import { firstIdAt } from '../../../core/base/id.ts';
import type { StalledFanOuts } from '../../rules/fan-outs.ts';
import { text } from '../../sql/row.ts';
import { all, type Script } from '../../sql/statement.ts';

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

// Ends fan-outs that were skipped until their events were older than the retention. They were not
// repaired in time, and would block retention forever: their events are deleted, with the
// deliveries made so far.

export const endFanOutsSql = {
  upTo: 'select event from fanout where event <= ?1 and event < ?2 order by event limit ?3 + 0',
  count: `
    update event set deliveries = (select made from fanout where fanout.event = event.id)
    where id = ?1 and deliveries is null
    returning id`,
  end: 'delete from fanout where event = ?1 returning event',
} as const;

/** `below`: ends fan-outs of events with lower ids. */
export function* endFanOuts(
  aside: Pick<StalledFanOuts, 'upTo' | 'events'>,
  { below, limit }: { below: string; limit: number },
): Script<void> {
  const older = yield* all(endFanOutsSql.upTo, aside.upTo(), below, limit);
  const events = [...older.map((row) => text(row, 'event')), ...aside.events()];
  for (const event of events.filter((each) => each < below)) {
    yield* all(endFanOutsSql.count, event);
    yield* all(endFanOutsSql.end, event);
  }
}
