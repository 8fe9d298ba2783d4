// One of the two ways of a node into its database, edits and work, which go beside each other: a connection, the
// figures that its transaction has taken, and the number under which they are counted.
import { minuteOf } from '../../core/stats-span.ts';
import type { StoreFailure } from '../call.ts';
import type { Fact } from '../counting.ts';
import type { Gathered } from '../gathered.ts';
import type { Link } from './link.ts';
import { isFailure } from './persist.ts';

export interface Side {
  link: Link;
  gathered: Gathered;
  /** Its own: no two sides write one row, see migrations/postgres/0006_stats.sql. */
  writer: number;
}

/** What was committed is counted for subscriptions, too; what was not is as if it had not been. */
export async function counting<T extends { facts: readonly Fact[] }>(
  { gathered }: Side,
  nowMs: number,
  body: () => Promise<T | StoreFailure>,
): Promise<T | StoreFailure> {
  const done = await body();
  if (isFailure(done)) {
    gathered.undo();
    return done;
  }
  gathered.done();
  gathered.add(done.facts, minuteOf(nowMs));
  return done;
}

/** One after the other, in the order they came. */
export function inTurn(): <T>(body: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return async (body) => {
    const mine = last.then(body);
    last = mine.catch(() => undefined);
    return mine;
  };
}
