// One of the two ways of a node into its database, edits and work: a connection, the figures that its transaction
// has taken, and the number under which they are counted. And in which order the two go.
import { limits } from '../../core/limits.ts';
import { endOfTurn } from '../../core/pace.ts';
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
  /** Holds what comes behind, if anybody is ahead, and lets it go when that is over. */
  behind(hold: () => Promise<() => void>): Promise<void>;
}

export function createPrecedence(world: Pick<World, 'sleep'>): Precedence {
  let going: Set<() => void> | undefined;
  return {
    ahead: async (body) => {
      const behind = new Set<() => void>();
      going = behind;
      try {
        return await body();
      } finally {
        if (going === behind) going = undefined;
        for (const letGo of behind) letGo();
      }
    },
    behind: async (hold) => {
      const ahead = going;
      if (ahead === undefined) return;
      const letGo = await hold();
      if (going !== ahead) letGo();
      else {
        ahead.add(letGo);
        // Not ended before its time: that would cost more, a hundred times a second, than to let go twice.
        world.sleep(limits.outcomesBehindMs).then(letGo, letGo);
        await endOfTurn(); // What is ahead leaves, and what is held is printed while that is written.
      }
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
