// Walks the events of an app, newest first, slice by slice: an app that is quiet among busy ones costs
// one look per slice, not one per event of the others.
import type { DatabaseSync } from 'node:sqlite';
import type { Position } from '../cursor.ts';
import { integer, maybe, one, text } from './row.ts';

export const walkEventsSql = {
  slice: 'select max(slice) as slice from event where slice <= ?',
  named: `
    select id from event where slice = ? and app = ? and name = ? and id < ?
    order by id desc limit ? + 0`,
  all: 'select id from event where slice = ? and app = ? and id < ? order by id desc limit ? + 0',
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

export type WalkEvents = (walk: EventWalk) => Generator<Passed>;

const idsAtOnce = 256;

export function prepareWalkEvents(db: DatabaseSync): WalkEvents {
  const sliceAt = db.prepare(walkEventsSql.slice);
  const named = db.prepare(walkEventsSql.named);
  const all = db.prepare(walkEventsSql.all);

  return function* walk({ appNo, name, below }) {
    const idsIn = (slice: number, belowId: string): string[] => {
      const rows =
        name === undefined
          ? all.all(slice, appNo, belowId, idsAtOnce)
          : named.all(slice, appNo, name, belowId, idsAtOnce);
      return rows.map((row) => text(row, 'id'));
    };
    let slice = maybe(integer, one(sliceAt.get(below.slice)), 'slice');
    let belowId = slice === below.slice ? below.event : newest;
    while (slice !== undefined) {
      const ids = idsIn(slice, belowId);
      for (const event of ids) yield { slice, event };
      belowId = ids.at(-1) ?? '';
      if (ids.length === idsAtOnce) continue;
      yield { slice, event: '' };
      slice = maybe(integer, one(sliceAt.get(slice - 1)), 'slice');
      belowId = newest;
    }
  };
}

/** Above every id. */
const newest = '~';
