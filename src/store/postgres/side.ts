// One of the two ways of a node into its database, edits and work: a connection, the figures that its transaction
// has taken, and the number under which they are counted. And in which order the two go.
import { limits } from '../../core/limits.ts';
import { minuteOf } from '../../core/stats-span.ts';
import type { World } from '../../core/world.ts';
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

/** Who goes first, and who waits until that is over, but not for long. */
export interface Precedence {
  ahead<T>(body: () => Promise<T>): Promise<T>;
  behind(): Promise<void>;
}

export function createPrecedence(world: Pick<World, 'sleep'>): Precedence {
  let going: Promise<void> | undefined;
  return {
    ahead: async (body) => {
      const over = Promise.withResolvers<void>();
      going = over.promise;
      try {
        return await body();
      } finally {
        going = undefined;
        over.resolve();
      }
    },
    behind: async () => {
      if (going === undefined) return;
      const over = new AbortController();
      const late = world.sleep(limits.outcomesBehindMs, over.signal).catch(() => undefined);
      await Promise.race([going, late]);
      over.abort();
    },
  };
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
