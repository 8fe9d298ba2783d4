// Retention: deletes what is older than the retention, oldest first, a bounded number of rows at a
// time. Pending deliveries become dead first, so nothing disappears while it is pending. Every step
// is independent: the next one continues where it stopped.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import { firstIdAt } from '../../../core/base/id.ts';
import { limits } from '../../../core/limits/limits.ts';
import { prepareExpire } from './expire.ts';
import { prepareForgetEvents } from './forget-events.ts';
import { prepareForgetSubscriptions } from './forget-subscriptions.ts';
import { maybe, one, text } from '../../sql/row.ts';
import { endFanOuts } from '../../verbs/deliveries/end-fan-outs.ts';
import { forgetSpans } from '../../verbs/lists/forget-spans.ts';
import { prepareScripts } from '../transaction/run-script.ts';
import type { StalledFanOuts } from '../../rules/stalled-fan-outs.ts';
import type { Edit } from '../transaction/edit.ts';

export const retainSql = {
  pending: 'select min(event) as event from delivery_live',
  fanningOut: 'select min(event) as event from fanout',
} as const;

export function prepareRetain(db: DatabaseSync, aside: StalledFanOuts): Edit<'retain'> {
  const expire = prepareExpire(db);
  const firstPending = prepareFirstPending(db);
  const forgetEvents = prepareForgetEvents(db);
  const forgetSubscriptions = prepareForgetSubscriptions(db);
  const runScript = prepareScripts(db);
  return ({ beforeMs, limit }, { nowMs, facts }) => {
    assert(limit >= 1, `Cannot retain by ${limit} rows: to SQLite a negative limit means no limit`);
    const below = firstIdAt(beforeMs);
    const { ended, expired } = expire({ below, limit, nowMs, facts });
    runScript(endFanOuts(aside, { below, limit }));
    // Deletes only events older than the first one with a pending delivery or a fan-out. The rest
    // ends soon: a leased delivery ends within a minute, or becomes pending again and expires, and
    // stuck fan-outs were ended above. So nothing holds up retention for long.
    const pending = firstPending();
    const isHeldUp = pending !== undefined && pending < below;
    const events = forgetEvents(isHeldUp ? pending : below, limit - ended);
    if (events.isMore || isHeldUp) return { expired, ...events };
    runScript(forgetSpans(beforeMs, limit));
    const left = limit - ended - events.deleted;
    const { deleted, isMore } = forgetSubscriptions(beforeMs - limits.subscriptionKeepMs, left);
    return { expired, deleted: events.deleted + deleted, isMore };
  };
}

function prepareFirstPending(db: DatabaseSync): () => string | undefined {
  const both = [db.prepare(retainSql.pending), db.prepare(retainSql.fanningOut)];
  return () => {
    const [first] = both
      .map((each) => maybe(text, one(each.get()), 'event'))
      .filter((event) => event !== undefined)
      .sort();
    return first;
  };
}
