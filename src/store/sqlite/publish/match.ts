// Finds the callbacks that match an event. It runs inside the publish transaction, so the result is
// exact: it misses no subscription that was acknowledged before, and finds none that has ended.
import type { DatabaseSync } from 'node:sqlite';
import type { SkippedCallback } from '../../../core/domain/event.ts';
import type { Lane } from '../../../core/domain/lane.ts';
import { limits } from '../../../core/limits/limits.ts';
import {
  type Listener,
  toFoundListener,
  learnRules,
  toListener,
  withoutSkipped,
  type FoundListener,
  type KnownRules,
} from '../../rules/listeners.ts';
import { anySubjectBounds, matchingPatterns } from '../../rules/pattern-keys.ts';
import { readPatterns } from '../../sql/pattern-list.ts';
import { integer, text, type Row } from '../../sql/row.ts';
import { laneColumns, toLane } from '../../verbs/shared/lanes.ts';
import type { LanesMet } from '../transaction/edit.ts';

export const matchSql = {
  listeners: `
    select pattern.callback, filtered, lane.subscription, ${laneColumns}
    from pattern indexed by pattern_alive join lane on lane.no = pattern.lane
    where pattern.app = ? and pattern.contract = ? and pattern.pattern = ? and died is null
    order by pattern.callback limit ? + 0`,
  // The keys of any subject: most contracts have none.
  anySubject: `
    select 1 from pattern indexed by pattern_alive
    where app = ? and contract = ? and pattern > ? and pattern < ? and died is null limit 1`,
  key: `
    select 1 from pattern indexed by pattern_alive
    where app = ? and contract = ? and pattern = ? and died is null limit 1`,
  // An inactive callback has no lane.
  ofSubscription: `
    select callback.no as callback, callback.event as patterns, ${laneColumns}
    from callback join lane on lane.no = callback.lane
    where callback.subscription = ? order by callback.position`,
} as const;

export interface Match {
  /**
   * If there are more than `targetsAtOnceMax`, that is too many to insert at once, and not all are
   * returned.
   */
  everyone(input: PublishedKeys, lanes: LanesMet): FoundListener[];
  /** Whether any subscription to the contract has a subject. */
  hasSubjects(appNo: number, contract: string): boolean;
  /** Whether any callback has one of the keys. */
  hasKey(input: PublishedKeys): boolean;
  /** Callbacks of one subscription that match the name, or all of them. */
  ofSubscription(subscription: number, name: string | undefined, lanes: LanesMet): Listener[];
}

export interface PublishedKeys {
  appNo: number;
  contract: string;
  keys: readonly string[];
}

/**
 * The lanes that a call has read, each as one object, so that changes made for one event are
 * visible to the next.
 */

/**
 * Does not apply filters: the code that inserts the deliveries does, at once or in the steps of a
 * fan-out.
 *
 * Alternative: match in memory, check the app's version in the transaction, and retry when it is
 * stale. Matching here takes about a tenth of a publish with its delivery
 * (bench/parts/store-deliveries.ts). That does not justify a cache, a version check and a second
 * try.
 */
export function prepareMatch(db: DatabaseSync): Match {
  const listeners = db.prepare(matchSql.listeners);
  const anySubject = db.prepare(matchSql.anySubject);
  const ofKey = db.prepare(matchSql.key);
  const ofSubscription = db.prepare(matchSql.ofSubscription);
  return {
    everyone: ({ appNo, contract, keys }, lanes) => {
      const found = new Map<number, FoundListener>();
      for (const key of keys) {
        if (found.size > limits.targetsAtOnceMax) break;
        // No smaller limit for what was found before: it may be the same callbacks.
        for (const row of listeners.all(appNo, contract, key, limits.targetsAtOnceMax + 1)) {
          const listener = toFoundListener(row, meet(row, lanes));
          if (!found.has(listener.callback)) found.set(listener.callback, listener);
        }
      }
      return [...found.values()];
    },
    hasSubjects: (appNo, contract) => {
      return anySubject.get(appNo, contract, ...anySubjectBounds) !== undefined;
    },
    hasKey: ({ appNo, contract, keys }) => {
      return keys.some((one) => ofKey.get(appNo, contract, one) !== undefined);
    },
    ofSubscription: (subscription, name, lanes) => {
      const rows = ofSubscription.all(subscription);
      const hearing = name === undefined ? undefined : matchingPatterns(name);
      return rows
        .filter((row) => hearing === undefined || matches(row, hearing))
        .map((row) => {
          return { callback: integer(row, 'callback'), lane: meet(row, lanes), rules: undefined };
        });
    },
  };
}

function matches(row: Row, hearing: readonly string[]): boolean {
  return readPatterns(text(row, 'patterns')).some((pattern) => hearing.includes(pattern));
}

function meet(row: Row, lanes: LanesMet): Lane {
  const no = integer(row, 'lane');
  const lane = lanes.get(no) ?? toLane(row);
  lanes.set(no, lane);
  return lane;
}

// Reads the filters of subscriptions: those of all matching callbacks of an event in one query, and
// each only once per batch. Without filters there is no query.

export const filtersSql = {
  filters: `
    select no, filter from subscription where no in (select value from json_each(?))`,
} as const;

/** In the order of `found`. */
type WithRules = (found: readonly FoundListener[], memo: KnownRules) => Listener[];

export function prepareFilters(db: DatabaseSync): WithRules {
  const filters = db.prepare(filtersSql.filters);
  return (found, memo) => {
    const unknown = new Set(
      found.flatMap(({ filteredBy }) =>
        filteredBy === undefined || memo.has(filteredBy) ? [] : [filteredBy],
      ),
    );
    if (unknown.size > 0) learnRules(memo, filters.all(JSON.stringify([...unknown])));
    return found.map((one) => toListener(one, memo));
  };
}

export const definitionsSql = {
  definitions: `
    select callback.no as callback, operation, definition
    from callback join subscription on subscription.no = callback.subscription
    where callback.no in (select value from json_each(?))`,
} as const;

/** Leaves out the listeners that an event skips; nearly all events skip none. */
type WithoutSkipped = (
  listeners: readonly Listener[],
  skipped: readonly SkippedCallback[] | undefined,
) => readonly Listener[];

export function prepareSkips(db: DatabaseSync): WithoutSkipped {
  const definitions = db.prepare(definitionsSql.definitions);
  return (listeners, skipped) => {
    if (skipped === undefined) return listeners;
    const callbacks = JSON.stringify(listeners.map(({ callback }) => callback));
    return withoutSkipped(listeners, skipped, definitions.all(callbacks));
  };
}
