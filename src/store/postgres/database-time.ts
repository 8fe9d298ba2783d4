// A node's own times as the database would say them, and back.
import type { Settlement } from '../delivery-verbs.ts';

/** The node's own times, as the database would say them. */
export function inDatabaseTime(settlement: Settlement, shiftMs: number): Settlement {
  const { outcome, attempt } = settlement;
  return {
    ...settlement,
    outcome: 'dueMs' in outcome ? { ...outcome, dueMs: outcome.dueMs + shiftMs } : outcome,
    attempt: attempt && { ...attempt, startedMs: attempt.startedMs + shiftMs },
  };
}

export function shifted(ms: number | undefined, shiftMs: number): number | undefined {
  return ms === undefined ? undefined : ms + shiftMs;
}
