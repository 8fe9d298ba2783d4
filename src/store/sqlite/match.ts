// Who hears an event. Asked inside the publish transaction, so the answer is exact by construction: no
// subscription that was answered before is missed, and none that has ended is found.
import type { DatabaseSync } from 'node:sqlite';
import type { Lane } from '../../core/lane.ts';
import { limits } from '../../core/limits.ts';
import type { Found } from '../kept-filter.ts';
import { toFound } from '../kept-filter.ts';
import type { Listener } from '../listener.ts';
import { patternsHearing } from '../patterns-hearing.ts';
import { laneColumns, toLane } from '../verbs/lanes.ts';
import type { Row } from '../row.ts';
import { integer, text } from '../row.ts';

export const matchSql = {
  listeners: `
    select pattern.callback, filtered, lane.subscription, ${laneColumns}
    from pattern indexed by pattern_alive join lane on lane.no = pattern.lane
    where pattern.app = ? and pattern.contract = ? and pattern.pattern = ? and died is null
    order by pattern.callback limit ? + 0`,
  // An inactive callback has no lane.
  ofSubscription: `
    select callback.no as callback, callback.event as patterns, ${laneColumns}
    from callback join lane on lane.no = callback.lane
    where callback.subscription = ? order by callback.position`,
} as const;

export interface Match {
  /** More than `targetsAtOnceMax`: then there are too many to make at once, and not all are here. */
  everyone(input: Heard, lanes: LanesMet): Found[];
  /** Of one subscription: callbacks that hear the name, or all of them. */
  ofSubscription(subscription: number, name: string | undefined, lanes: LanesMet): Listener[];
}

export interface Heard {
  appNo: number;
  contract: string;
  name: string;
}

/** The lanes that a call has met, each once, so that what one event does to it the next one sees. */
export type LanesMet = Map<number, Lane>;

/**
 * Filters are not asked here: whoever makes the deliveries asks them, at once or in the steps of a
 * fan-out.
 *
 * Alternatives: match in memory, guard by the app's version in the transaction, try again when it is
 * stale. Measured (bench/parts/store-deliveries.ts, an app with 10,000 subscriptions, four candidate patterns
 * of which one has a listener, 2 cores shared with other work, 4 runs): matching here costs 9 to 14 µs
 * an event, where publish and delivery together take 97 to 115 µs. For that tenth there is no cache, no
 * guard and no second try, so it stays here.
 */
export function prepareMatch(db: DatabaseSync): Match {
  const listeners = db.prepare(matchSql.listeners);
  const ofSubscription = db.prepare(matchSql.ofSubscription);
  return {
    everyone: ({ appNo, contract, name }, lanes) => {
      const found = new Map<number, Found>();
      for (const pattern of patternsHearing(name)) {
        if (found.size > limits.targetsAtOnceMax) break;
        // Not less for those found before: they may be the same ones.
        for (const row of listeners.all(appNo, contract, pattern, limits.targetsAtOnceMax + 1)) {
          const listener = toFound(row, meet(row, lanes));
          if (!found.has(listener.callback)) found.set(listener.callback, listener);
        }
      }
      return [...found.values()];
    },
    ofSubscription: (subscription, name, lanes) => {
      const rows = ofSubscription.all(subscription);
      const hearing = name === undefined ? undefined : patternsHearing(name);
      return rows
        .filter((row) => hearing === undefined || hears(row, hearing))
        .map((row) => {
          return { callback: integer(row, 'callback'), lane: meet(row, lanes), rules: undefined };
        });
    },
  };
}

function hears(row: Row, hearing: readonly string[]): boolean {
  return text(row, 'patterns')
    .split(' ')
    .some((pattern) => hearing.includes(pattern));
}

function meet(row: Row, lanes: LanesMet): Lane {
  const no = integer(row, 'lane');
  const lane = lanes.get(no) ?? toLane(row);
  lanes.set(no, lane);
  return lane;
}
