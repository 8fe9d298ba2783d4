// Statements that search for deliveries through one index: each examines a bounded number of rows
// in the order of names, and returns those that match and the last one it examined. Rows that do
// not match never leave the database.
import { isUnleasedSql } from '../../sql/is-unleased.ts';
import type { Value } from '../../sql/statement.ts';
import { valuesOf, type SearchFilter } from './search-filter.ts';
import type { SearchQuery, BoundedRange } from './search-walk.ts';

// Parameters of all statements: ?1 tag, ?2 and ?3 below, ?4 from, ?5 rows; ?6 app, ?7 slice, ?8 lane;
// from ?9 on see `valuesOf`.

/**
 * The row value comes first, or SQLite would begin above the last delivery of the event and step
 * over the rest.
 */
const inRange = '(event, n) < (?2, ?3) and event >= ?4 and event <= ?2';
const newest = `${inRange} order by event desc, n desc limit ?5 + 0`;
/**
 * Sorts by an expression, over at most a lane's part of a slice: otherwise PostgreSQL may scan all
 * newer deliveries in the order of the primary key.
 */
const newestOfLane = `${inRange} order by event || '' desc, n desc limit ?5 + 0`;

/** Leased deliveries are few, and any index but their own may be large. */
const newestAside = `(event || '', n) < (?2, ?3) and event || '' >= ?4
    order by event || '' desc, n desc limit ?5 + 0`;

// Lookups in other tables are counted in a subquery, which PostgreSQL cannot turn into a join, and
// so never into one that scans a whole table. `(select …) between` would be evaluated twice.
const shared = `
    (?9 = 0 or (select subscription from lane where lane.no = seen.lane) = ?9)
    and (?17 = '' or ?17 = (
      select customer from lane join subscription on subscription.no = lane.subscription
      where lane.no = seen.lane))
    and (?10 = '' or 1 = (
      select count(*) from event where event.id = seen.event and name between ?10 and ?11))`;

const doneFits = `seen.app = ?6 and state between ?15 and ?16
    and coalesce(code, 0) between ?12 and ?13
    and (?14 = '' or error = ?14
      or ?14 = 'exhausted' and state = 2 and coalesce(error, '') <> 'expired')
    and ${shared}`;
const liveFits = `seen.app = ?6 and attempts >= ?18
    and case when lease is null then 4 else 5 end between ?15 and ?16
    and (?12 = 0 and ?14 = '' or 1 = (
      select count(*) from attempt
      where event = seen.event and attempt.n = seen.n and k = seen.attempts
        and coalesce(code, 0) between ?12 and ?13 and (?14 = '' or error = ?14)))
    and ${shared}`;

const done = 'select event, n, app, lane, state, code, error from delivery_done';
const live = 'select event, n, app, lane, attempts, lease from delivery_live';

export const searchSql = {
  doneByKey: boundedSearch(`${done} where ${newest}`, doneFits),
  liveByKey: boundedSearch(`${live} where ${newest}`, liveFits),
  failed: boundedSearch(
    `${done} indexed by delivery_failed where app = ?6 and state <> 1 and ${newest}`,
    doneFits,
  ),
  retried: boundedSearch(
    `${live} indexed by delivery_retried where app = ?6 and attempts > 0 and ${newest}`,
    liveFits,
  ),
  running: boundedSearch(
    `${live} indexed by delivery_running where lease is not null and app + 0 = ?6 and ${newestAside}`,
    liveFits,
  ),
  doneOfLane: boundedSearch(`${done} where slice = ?7 and lane = ?8 and ${newestOfLane}`, doneFits),
  waitingOfLane: boundedSearch(
    `${live} where slice = ?7 and app = ?6 and lane = ?8 and ${isUnleasedSql} and ${newestOfLane}`,
    liveFits,
  ),
} as const;

/**
 * `examined` is 0 for matching rows; the last row has the number of examined rows, whether it
 * matches or not.
 */
function boundedSearch(rows: string, fits: string): string {
  return `
    with seen as (${rows})
    select ?1 + 0 as tag, event, n, 0 as examined from seen where ${fits}
    union all
    select ?1 + 0, event, n, (select count(*) from seen)
    from (select event, n from seen order by event, n limit 1) as edge`;
}

export interface SearchInput {
  appNo: number;
  sought: SearchFilter;
  /** Lanes of the subscription, if the search names one. */
  lanes: readonly number[];
}

export interface SearchPaths {
  /** In whole ranges. */
  byKey: SearchQuery[];
  /** `running`: slices that contain a leased delivery of the app. */
  ofLanes: (running: ReadonlySet<number>) => SearchQuery[];
  failures: SearchQuery[];
  running: SearchQuery[];
}

/**
 * The cost of a row that does not match, by access path, relative to reading in table order;
 * derived from measurements on SQLite with a million deliveries.
 */
export const rowCosts = { inOrder: 1, indexed: 2, scattered: 6 } as const;

/** The access paths to search. Leaves out those that cannot contain a match. */
export function searchPathsFor({ appNo, sought, lanes }: SearchInput): SearchPaths {
  const filter = valuesOf(sought);
  const attempts = [sought.attemptsMin];
  const values = ({ tag, below: { event, n }, from, most }: BoundedRange): Value[] => [
    tag,
    event,
    n,
    from,
    most,
    appNo,
  ];
  const query = (sql: string, rowCost: number, more: readonly Value[]): SearchQuery => ({
    sql,
    rowCost,
    values: (range) => [[...values(range), 0, 0, ...filter, ...more]],
  });
  const ofRunning = query(searchSql.running, rowCosts.indexed, attempts);
  const ofLanes = (sql: string, more: readonly Value[]): SearchQuery => ({
    sql,
    rowCost: rowCosts.scattered,
    values: (range) =>
      range.slices.flatMap((slice) =>
        lanes.map((lane) => [...values(range), slice, lane, ...filter, ...more]),
      ),
  });
  const [least, most] = sought.states;
  const isDone = least <= 3;
  const isLive = most > 3;
  const isFailed = isDone && most > 1;
  return {
    byKey: [
      ...(isDone ? [query(searchSql.doneByKey, rowCosts.inOrder, [])] : []),
      ...(isLive ? [query(searchSql.liveByKey, rowCosts.inOrder, attempts)] : []),
    ],
    ofLanes: (running) => [
      ...(isDone ? [ofLanes(searchSql.doneOfLane, [])] : []),
      ...(isLive ? [ofLanes(searchSql.waitingOfLane, attempts)] : []),
      {
        ...ofRunning,
        values: (range) =>
          range.slices.some((slice) => running.has(slice)) ? ofRunning.values(range) : [],
      },
    ],
    failures: [
      ...(isFailed ? [query(searchSql.failed, rowCosts.indexed, [])] : []),
      ...(isLive ? [query(searchSql.retried, rowCosts.indexed, attempts)] : []),
    ],
    running: [ofRunning],
  };
}
