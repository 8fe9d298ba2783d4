// Walks the events of an app, newest first, slice by slice: for a quiet app among busy ones this
// costs one probe per slice, not one row per event of the others.
import type { Bounds } from '../../sql/end-states.ts';
import type { Walk } from './fill-page.ts';
import { walkSpans, type Range } from './spans.ts';
import { walkStretches, type Ask, type Step } from './walk.ts';

// Sorts by an expression, over at most a slice: in the order of the primary key PostgreSQL would
// scan all newer events.
export const walkEventsSql = {
  ofSlice: `
    with seen as (
      select id from event
      where slice = ?5 and app = ?6 and name >= ?7 and name <= ?8 and id < ?2 and id >= ?3
      order by id || '' desc limit ?4 + 0)
    select ?1 + 0 as tag, id as event, 0 as n, 0 as examined from seen
    union all
    select ?1 + 0, id, 0, (select count(*) from seen)
    from (select id from seen order by id limit 1) as edge`,
} as const;

export interface EventWalk {
  appNo: number;
  names: Bounds<string>;
  range: Range;
}

export function walkEvents({ appNo, names, range }: EventWalk): Walk<Step> {
  const ask: Ask = {
    sql: walkEventsSql.ofSlice,
    rowCost: 1,
    values: ({ tag, below, from, most, slices }) =>
      slices.map((slice) => [tag, below.event, from, most, slice, appNo, ...names]),
  };
  return walkStretches(walkSpans(range), [ask]);
}
