// Whether an ended delivery matches a filter. Pure, so that a replay, its dry run and a list apply
// a filter in the same way.
import type { DeliveryState } from './delivery.ts';
import { patternsFor } from './pattern.ts';

/** How a delivery can have ended; `ended` means any of these. */
export const endedStates = ['delivered', 'dead', 'cancelled', 'ended'] as const;
export type EndedState = (typeof endedStates)[number];

export interface EndedFilter {
  state: EndedState;
  /** An event name, or a pattern that matches it. */
  event: string | undefined;
  /** Bare id. */
  subscription: string | undefined;
  /** A class (`4xx`) or a code (`404`) of the last response. */
  status: string | undefined;
  /** Error of the last attempt; or why it is dead: `expired`, `exhausted`. */
  error: string | undefined;
}

/** How a delivery ended, from its own row. */
export interface Ending {
  state: DeliveryState;
  status: number | undefined;
  error: string | undefined;
}

export function fitsEnding(
  found: Ending,
  { state, status, error }: Pick<EndedFilter, 'state' | 'status' | 'error'>,
): boolean {
  return (
    (found.state === state || (state === 'ended' && isEnded(found.state))) &&
    (status === undefined || fitsStatus(found.status, status)) &&
    (error === undefined || fitsError(found, error))
  );
}

export function fitsEvent(name: string, pattern: string | undefined): boolean {
  return pattern === undefined || patternsFor(name).includes(pattern);
}

function isEnded(state: DeliveryState): boolean {
  return state === 'delivered' || state === 'dead' || state === 'cancelled';
}

function fitsStatus(found: number | undefined, status: string): boolean {
  if (found === undefined) return false;
  const isClass = status.endsWith('xx');
  return isClass ? String(found).charAt(0) === status.charAt(0) : String(found) === status;
}

/** A dead delivery keeps the error of its last attempt, unless it expired. */
function fitsError(found: Ending, error: string): boolean {
  if (error === 'exhausted') return found.state === 'dead' && found.error !== 'expired';
  return found.error === error;
}
