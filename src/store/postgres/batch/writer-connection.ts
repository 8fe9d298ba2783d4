// One of a node's write paths into its database (publishes, other edits, work): a connection, the
// figures that its transaction has taken, and its writer number. The precedence holds back
// outcomes while publishes are written.
import { limits } from '../../../core/limits/limits.ts';
import { endOfTurn } from '../../../core/base/end-of-turn.ts';
import { minuteOf } from '../../../core/telemetry/statistics.ts';
import type { World } from '../../../core/base/world.ts';
import type { StoreFailure } from '../../port/transport-protocol.ts';
import type { Fact } from '../../statistics/transaction-facts.ts';
import type { PendingStatistics } from '../../statistics/pending-statistics.ts';
import type { ReconnectingClient } from '../connection/reconnecting-client.ts';
import { isFailure } from './persist.ts';

export interface WriterConnection {
  link: ReconnectingClient;
  pending: PendingStatistics;
  /** Its own: two connections never write the same row, see migrations/postgres/0006_stats.sql. */
  writer: number;
}

/**
 * After a commit the facts are added to the figures of subscriptions; after a failure the taken
 * figures are put back.
 */
export async function counting<T extends { facts: readonly Fact[] }>(
  { pending }: WriterConnection,
  nowMs: number,
  body: () => Promise<T | StoreFailure>,
): Promise<T | StoreFailure> {
  const done = await body();
  if (isFailure(done)) {
    pending.undo();
    return done;
  }
  pending.done();
  pending.add(done.facts, minuteOf(nowMs));
  return done;
}

/** Lets one party go first and holds back the other until it is done, for a bounded time. */
export interface Precedence {
  ahead<T>(body: () => Promise<T>): Promise<T>;
  /** Calls `hold` if a party is ahead, and releases when that is done. */
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
        // The timer is not cancelled: cancelling a hundred times a second costs more than releasing
        // twice.
        world.sleep(limits.outcomesBehindMs).then(letGo, letGo);
        await endOfTurn(); // The party ahead sends, and held data is serialized while that is written.
      }
    },
  };
}

/** Runs bodies one after the other, in the order of the calls. */
export function inTurn(): <T>(body: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return async (body) => {
    const mine = last.then(body);
    last = mine.catch(() => undefined);
    return mine;
  };
}
