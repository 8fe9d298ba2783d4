// Who hears events, many at once. Asked inside the publish transaction, after it has begun: what was
// answered before is seen, and what has ended is not found.
import type { Lane } from '../../core/lane.ts';
import { limits } from '../../core/limits.ts';
import type { Found } from '../kept-filter.ts';
import { toFound } from '../kept-filter.ts';
import type { Listener } from '../listener.ts';
import { patternsHearing } from '../patterns-hearing.ts';
import type { Row } from '../row.ts';
import { integer, text } from '../row.ts';
import { laneColumns, toLane } from '../verbs/lanes.ts';
import type { Tx } from './tx.ts';

export const matchSql = {
  listeners: `
    select x.i, x.k, p.callback, p.filtered, lane.subscription, ${laneColumns}
    from unnest($1::int[], $2::int[], $3::bigint[], $4::text[], $5::text[])
      as x (i, k, app, contract, pattern)
    cross join lateral (
      select callback, lane, filtered from pattern
      where pattern.app = x.app and pattern.contract = x.contract and pattern.pattern = x.pattern
        and died is null
      order by callback limit $6) p
    join lane on lane.no = p.lane`,
  // An inactive callback has no lane.
  ofSubscriptions: `
    select callback.subscription, callback.position, callback.no as callback,
      callback.event as patterns, ${laneColumns}
    from callback join lane on lane.no = callback.lane
    where callback.subscription = any($1::bigint[])`,
} as const;

export interface Heard {
  appNo: number;
  contract: string;
  name: string;
}

/** The lanes that a batch has met, each once, so that what one event does to it the next one sees. */
export type LanesMet = Map<number, Lane>;

/** For each name its listeners: at most one more than `targetsAtOnceMax`. */
export async function matchEveryone(
  tx: Tx,
  heard: readonly Heard[],
  lanes: LanesMet,
): Promise<Found[][]> {
  if (heard.length === 0) return [];
  const asked = heard.flatMap(({ appNo, contract, name }, i) =>
    patternsHearing(name).map((pattern, k) => ({ i, k, appNo, contract, pattern })),
  );
  const rows = await tx.query(matchSql.listeners, [
    asked.map(({ i }) => i),
    asked.map(({ k }) => k),
    asked.map(({ appNo }) => appNo),
    asked.map(({ contract }) => contract),
    asked.map(({ pattern }) => pattern),
    limits.targetsAtOnceMax + 1,
  ]);
  const found = heard.map((): Map<number, Found> => new Map());
  for (const row of rows.toSorted(bySpecificThenOldest)) {
    const listeners = found[integer(row, 'i')];
    const listener = toFound(row, meet(row, lanes));
    if (listeners === undefined || listeners.size > limits.targetsAtOnceMax) continue;
    if (!listeners.has(listener.callback)) listeners.set(listener.callback, listener);
  }
  return found.map((listeners) => [...listeners.values()]);
}

export interface Hearing extends Listener {
  patterns: readonly string[];
}

/** All callbacks of subscriptions, by the store's number of it, in their order. */
export async function matchSubscriptions(
  tx: Tx,
  subscriptions: readonly number[],
  lanes: LanesMet,
): Promise<Map<number, Hearing[]>> {
  const found = new Map(subscriptions.map((no): [number, Hearing[]] => [no, []]));
  if (subscriptions.length === 0) return found;
  const rows = await tx.query(matchSql.ofSubscriptions, [subscriptions]);
  for (const row of rows.toSorted(byPosition)) {
    const callback = integer(row, 'callback');
    const patterns = text(row, 'patterns').split(' ');
    const listener = { callback, lane: meet(row, lanes), rules: undefined, patterns };
    found.get(integer(row, 'subscription'))?.push(listener);
  }
  return found;
}

function byPosition(a: Row, b: Row): number {
  return integer(a, 'position') - integer(b, 'position');
}

function bySpecificThenOldest(a: Row, b: Row): number {
  return integer(a, 'k') - integer(b, 'k') || integer(a, 'callback') - integer(b, 'callback');
}

function meet(row: Row, lanes: LanesMet): Lane {
  const no = integer(row, 'lane');
  const lane = lanes.get(no) ?? toLane(row);
  lanes.set(no, lane);
  return lane;
}
