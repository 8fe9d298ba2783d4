// Patterns make a callback reachable. A pattern is valid from one version of its app to another, so
// that a fan-out in progress keeps the audience it began with.
import { ownPrefix } from '../../../core/domain/event.ts';
import { text } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all } from '../../sql/statement.ts';

export const listenSql = {
  pattern: `
    insert into pattern (app, contract, pattern, callback, born, lane)
    values (?1, ?2, ?3, ?4, ?5, ?6)`,
  // `died is null` would let the planner use the index of all patterns of an app.
  alive: 'select pattern from pattern where callback = ?1 and coalesce(died, 0) = 0',
  end: `
    update pattern set died = ?3, died_ms = ?4
    where callback = ?1 and pattern || '' = ?2 and coalesce(died, 0) = 0`,
} as const;

export interface Listening {
  appNo: number;
  contract: string;
  events: readonly string[];
  callback: number;
  lane: number;
  /** The first version of the app in which the pattern is valid. */
  born: number;
}

export function* addPatterns(input: Listening): Script<void> {
  const { appNo, contract, events, callback, born, lane } = input;
  for (const pattern of events) {
    // Ringback's own events belong to no contract.
    const of = pattern.startsWith(ownPrefix) ? '' : contract;
    yield* all(listenSql.pattern, appNo, of, pattern, callback, born, lane);
  }
}

/** Patterns that it already has stay as they are; the others end or begin with this version. */
export function* changePatterns(input: Listening, nowMs: number): Script<void> {
  const { callback, events, born } = input;
  const rows = yield* all(listenSql.alive, callback);
  const heard = rows.map((row) => text(row, 'pattern'));
  for (const pattern of heard) {
    if (!events.includes(pattern)) yield* all(listenSql.end, callback, pattern, born, nowMs);
  }
  yield* addPatterns({ ...input, events: events.filter((pattern) => !heard.includes(pattern)) });
}
