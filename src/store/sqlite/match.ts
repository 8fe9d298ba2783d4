// Who hears an event. Asked inside the publish transaction, so the answer is exact by construction: no
// subscription that was answered before is missed, and none that has ended is found.
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../core/limits.ts';
import { rulesIn } from '../kept-filter.ts';
import type { Listener } from '../listener.ts';
import { patternsHearing } from '../patterns-hearing.ts';
import { laneColumns, toLane } from '../verbs/lanes.ts';
import type { Row } from '../row.ts';
import { integer, maybe, text } from '../row.ts';

/** In the same row, and not by a question for each: 100 of them take a third of the time. */
export const settingsIfFiltered = `case filtered when 1
    then (select settings from subscription where no = lane.subscription) end as settings`;

export const matchSql = {
  listeners: `
    select pattern.callback, ${settingsIfFiltered}, ${laneColumns}
    from pattern indexed by pattern_alive join lane on lane.no = pattern.lane
    where pattern.app = ? and pattern.contract = ? and pattern.pattern = ? and died is null
    order by pattern.callback limit ? + 0`,
  // An inactive callback has no lane.
  ofSubscription: `
    select callback.no as callback, callback.event as patterns, null as settings, ${laneColumns}
    from callback join lane on lane.no = callback.lane
    where callback.subscription = ? order by callback.position`,
} as const;

export interface Match {
  /** More than `targetsAtOnceMax`: then there are too many to make at once, and not all are here. */
  everyone(input: { appNo: number; contract: string; name: string }): Listener[];
  /** Of one subscription: callbacks that hear the name, or all of them. */
  ofSubscription(subscription: number, name: string | undefined): Listener[];
}

/**
 * Filters are not asked here: whoever makes the deliveries asks them, at once or in the steps of a
 * fan-out.
 *
 * Alternatives: match in memory, guard by the app's version in the transaction, try again when it is
 * stale. Measured (bench/store-deliveries.ts, an app with 10,000 subscriptions, four candidate patterns
 * of which one has a listener, 2 cores shared with other work, 4 runs): matching here costs 9 to 14 µs
 * an event, where publish and delivery together take 97 to 115 µs. For that tenth there is no cache, no
 * guard and no second try, so it stays here.
 */
export function prepareMatch(db: DatabaseSync): Match {
  const listeners = db.prepare(matchSql.listeners);
  const ofSubscription = db.prepare(matchSql.ofSubscription);
  return {
    everyone: ({ appNo, contract, name }) => {
      const found = new Map<number, Listener>();
      for (const pattern of patternsHearing(name)) {
        if (found.size > limits.targetsAtOnceMax) break;
        // Not less for those found before: they may be the same ones.
        for (const row of listeners.all(appNo, contract, pattern, limits.targetsAtOnceMax + 1)) {
          const listener = toListener(row);
          if (!found.has(listener.callback)) found.set(listener.callback, listener);
        }
      }
      return [...found.values()];
    },
    ofSubscription: (subscription, name) => {
      const rows = ofSubscription.all(subscription);
      const hearing = name === undefined ? undefined : patternsHearing(name);
      return rows.filter((row) => hearing === undefined || hears(row, hearing)).map(toListener);
    },
  };
}

function hears(row: Row, hearing: readonly string[]): boolean {
  return text(row, 'patterns')
    .split(' ')
    .some((pattern) => hearing.includes(pattern));
}

export function toListener(row: Row): Listener {
  const settings = maybe(text, row, 'settings');
  const rules = settings === undefined ? undefined : rulesIn(settings);
  return { callback: integer(row, 'callback'), lane: toLane(row), rules };
}
