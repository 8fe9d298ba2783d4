// Walks the events of an app, newest first, slice by slice: an app that is quiet among busy ones costs
// one look per slice, not one per event of the others.
import type { Position } from '../cursor.ts';
import { integer, maybe, text } from '../row.ts';
import type { Script } from '../statement.ts';
import { all, only } from '../statement.ts';
import type { Walk } from './fill-page.ts';

export const walkEventsSql = {
  slice: 'select max(slice) as slice from event where slice <= ?1',
  named: `
    select id from event where slice = ?1 and app = ?2 and name = ?5 and id < ?3
    order by id desc limit ?4 + 0`,
  // Sorted by an expression, which is at most a slice: in the order of the primary key PostgreSQL would
  // go through all events that are newer (200,000 of them in 46 ms, a slice in 0.8).
  all: `
    select id from event where slice = ?1 and app = ?2 and id < ?3
    order by id || '' desc limit ?4 + 0`,
} as const;

export interface EventWalk {
  appNo: number;
  name: string | undefined;
  /** Events below this one, itself not among them. */
  below: Position;
}

/** A step of the walk; where a slice ends, `event` is empty. */
export interface Passed {
  slice: number;
  event: string;
}

const idsAtOnce = 256;
/** Above every id. */
const newest = '~';

export function* walkEvents({ appNo, name, below }: EventWalk): Walk<Passed> {
  let slice = yield* sliceAt(below.slice);
  let belowId = slice === below.slice ? below.event : newest;
  while (slice !== undefined) {
    const values = [slice, appNo, belowId, idsAtOnce] as const;
    const rows =
      name === undefined
        ? yield* all(walkEventsSql.all, ...values)
        : yield* all(walkEventsSql.named, ...values, name);
    for (const row of rows) {
      belowId = text(row, 'id');
      yield { slice, event: belowId };
    }
    if (rows.length === idsAtOnce) continue;
    yield { slice, event: '' };
    slice = yield* sliceAt(slice - 1);
    belowId = newest;
  }
}

function* sliceAt(most: number): Script<number | undefined> {
  return maybe(integer, yield* only(walkEventsSql.slice, most), 'slice');
}
