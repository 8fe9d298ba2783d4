// A replay: a durable job that sends ended deliveries again, oldest first, no faster than its rate.
// Defines its state, the size of a step, when the next one may run, and its progress.
import type { EndedFilter } from './delivery.ts';
import { shareBetween } from '../base/id.ts';
import { limits } from '../limits/limits.ts';

export type ReplayState = 'running' | 'done' | 'cancelled';

export interface ReplayFilter extends EndedFilter {
  /** When the event was published: from `fromMs` on, and before `untilMs`. */
  fromMs: number | undefined;
  untilMs: number | undefined;
}

/** The last delivery that was examined. */
export interface ReplayCursor {
  event: string;
  n: number;
  /**
   * Deliveries of that event from this number on were created after the walk reached it, perhaps by
   * the replay itself. If a clock was set back, they can seem to have ended before the replay
   * began.
   */
  below: number;
}

export interface Replay {
  id: string;
  appNo: number;
  filter: ReplayFilter;
  ratePerSecond: number;
  state: ReplayState;
  /** The events between which it walks; empty when none matched. */
  firstEvent: string;
  lastEvent: string;
  cursor: ReplayCursor;
  matched: number;
  replayed: number;
  skipped: number;
  /** The next step does not run before this time. */
  nextMs: number;
  createdMs: number;
  endedMs: number | undefined;
}

/** Few steps per second keep the cost low; small steps give receivers an even flow. */
export function stepMax(ratePerSecond: number): number {
  const evenly = Math.ceil((ratePerSecond * limits.replayStepMs) / 1000);
  return Math.min(evenly, limits.replayStepMax);
}

/**
 * When the next step is due. No step waits longer than the largest step takes at its rate: a later
 * time was written before the clock was set back, so the step is due now. Small differences between
 * the clocks of nodes must not make a replay faster than its rate.
 */
export function dueStepMs(
  { nextMs, ratePerSecond }: Pick<Replay, 'nextMs' | 'ratePerSecond'>,
  nowMs: number,
): number {
  const longestMs = (stepMax(ratePerSecond) * 1000) / ratePerSecond;
  return nextMs > nowMs + longestMs + limits.replayCatchUpMs ? nowMs : nextMs;
}

/**
 * When the step after one that sent `sent` deliveries may run. Time is counted from the theoretical
 * end of the last step, so that small delays do not add up. Longer delays are not caught up with.
 */
export function nextStepMs(
  replay: Pick<Replay, 'nextMs' | 'ratePerSecond'>,
  nowMs: number,
  sent: number,
): number {
  const beganMs = Math.max(dueStepMs(replay, nowMs), nowMs - limits.replayCatchUpMs);
  return beganMs + (sent * 1000) / replay.ratePerSecond;
}

/** From 0 to 1. */
export function progressOf(
  replay: Pick<Replay, 'state' | 'firstEvent' | 'lastEvent' | 'cursor'>,
): number {
  const { state, firstEvent, lastEvent, cursor } = replay;
  if (state === 'done') return 1;
  return shareBetween(firstEvent, lastEvent, cursor.event);
}
