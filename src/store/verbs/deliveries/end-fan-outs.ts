// Ends fan-outs that were skipped until their events were older than the retention. They were not
// repaired in time, and would block retention forever: their events are deleted, with the
// deliveries made so far.
import type { StalledFanOuts } from '../../rules/stalled-fan-outs.ts';
import { text } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all } from '../../sql/statement.ts';

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
