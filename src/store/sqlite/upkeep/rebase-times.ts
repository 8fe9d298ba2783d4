// Handles a clock that was set back. On SQLite the machine's clock is the only one, so times that
// were stored while it was ahead lie in the future: a rate-limited lane, a broken one or a retry
// would wait for as long as the clock was wrong. The first batch after the step moves these times
// back by the same amount, in its own transaction.
//
// Only times that hold back work are moved. Times in the past stay. So do order numbers, which are
// not times, and times that a user chose or was promised (the end of a subscription, a key, an old
// secret).
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../../core/limits/limits.ts';
import { integer, maybe, one } from '../../sql/row.ts';

/** `?1`: now; `?2`: by how much the clock was set back. */
const moved = (column: string): string =>
  `case when ${isAhead(column)} then max(?1, ${column} - ?2) else ${column} end`;

function isAhead(column: string): string {
  return `(${column} > ?1 and ${column} < 9007199254740991)`;
}

export const rebaseSql = {
  latest: 'select max(seen_ms) as latest_ms from node',
  nodes: 'update node set seen_ms = ?1 where seen_ms > ?1',
  seen: 'update node set seen_ms = ?1 where gone = 0 and seen_ms < ?1',
  lanes: `
    update lane set gate_ms = ${moved('gate_ms')}, ready_ms = ${moved('ready_ms')},
      tat_ms = ${moved('tat_ms')}
    where ${isAhead('gate_ms')} or ${isAhead('ready_ms')} or tat_ms > ?1`,
  // Includes leased deliveries: if their node is gone they become pending again, as if never
  // leased.
  deliveries: `
    update delivery_live set due_ms = max(?1, due_ms - ?2)
    where due_ms > ?1 and lane in (select no from lane where ordered = 0)`,
  replays: `
    update replay set next_ms = max(?1, next_ms - ?2) where state = 'running' and next_ms > ?1`,
  sessions: `
    update session set created_ms = created_ms - ?2, expires_ms = expires_ms - ?2
    where created_ms > ?1`,
} as const;

export interface Rebase {
  /** Runs in the transaction of every batch, with its time. */
  apply(nowMs: number): void;
  /** That transaction was committed. */
  done(nowMs: number): void;
}

/** For a database that several clocks write to, as in a simulation. */
export const neverRebase: Rebase = { apply: () => undefined, done: () => undefined };

/**
 * Remembers the latest time. At a start that is the last heartbeat of a node: heartbeats are ten
 * seconds apart, and a step forward is recorded by the next batch. A step back while no service ran
 * looks smaller by the time in between, so pending work waits as if that time had not passed.
 */
export function prepareRebase(db: DatabaseSync): Rebase {
  const { latest, nodes, seen, lanes, deliveries, replays, sessions } = rebaseSql;
  let latestMs = maybe(integer, one(db.prepare(latest).get()), 'latest_ms') ?? 0;
  const lower = db.prepare(nodes);
  const raise = db.prepare(seen);
  const moves = [lanes, deliveries, replays, sessions].map((sql) => db.prepare(sql));
  return {
    apply: (nowMs) => {
      const backMs = latestMs - nowMs;
      if (-backMs > limits.heartbeatEveryMs) raise.run(nowMs);
      if (backMs < limits.clockBackMs) return;
      for (const move of moves) move.run(nowMs, backMs);
      lower.run(nowMs); // Otherwise the next start would move the times again.
    },
    done: (nowMs) => {
      // Smaller steps add up, so the latest time is kept until they do.
      const isNear = nowMs < latestMs && latestMs - nowMs < limits.clockBackMs;
      if (!isNear) latestMs = nowMs;
    },
  };
}
