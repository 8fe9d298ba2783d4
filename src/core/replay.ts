// A replay: a durable job that sends ended deliveries again, oldest first, no faster than its rate. Here
// is what it is, how large a step is, when the next one may come, and how far it has got.
import type { EndedFilter } from './fits-delivery.ts';
import { shareBetween } from './id.ts';
import { limits } from './limits.ts';

export type ReplayState = 'running' | 'done' | 'cancelled';

export interface ReplayFilter extends EndedFilter {
  /** When the event was published: from this time on, and before that. */
  fromMs: number | undefined;
  untilMs: number | undefined;
}

/** The last delivery that was looked at. */
export interface ReplayCursor {
  event: string;
  n: number;
  /**
   * Deliveries of that event from this number on were made after the walk came to it, by the replay
   * itself perhaps. Their end may seem older than the replay where a clock was set back.
   */
  below: number;
}

export interface Replay {
  id: string;
  appNo: number;
  filter: ReplayFilter;
  ratePerSecond: number;
  state: ReplayState;
  /** The events between which it walks; empty where there was nothing. */
  firstEvent: string;
  lastEvent: string;
  cursor: ReplayCursor;
  matched: number;
  replayed: number;
  skipped: number;
  /** Not before this time comes the next step. */
  nextMs: number;
  createdMs: number;
  endedMs: number | undefined;
}

/** Few steps a second, so that they cost little, and small ones, so that receivers get an even flow. */
export function stepMax(ratePerSecond: number): number {
  const evenly = Math.ceil((ratePerSecond * limits.replayStepMs) / 1000);
  return Math.min(evenly, limits.replayStepMax);
}

/**
 * When the next step is due. No step is put off for longer than the largest takes at its rate: what lies
 * further ahead was written before the clock was set back, and is due now. Clocks of nodes may differ a
 * little, which must not make a replay faster than its rate.
 */
export function dueStepMs(
  { nextMs, ratePerSecond }: Pick<Replay, 'nextMs' | 'ratePerSecond'>,
  nowMs: number,
): number {
  const longestMs = (stepMax(ratePerSecond) * 1000) / ratePerSecond;
  return nextMs > nowMs + longestMs + limits.replayCatchUpMs ? nowMs : nextMs;
}

/**
 * When the step after one that sent so many may come. Time is counted from where the last step ended in
 * theory, so that small delays do not add up; what was lost for longer is not caught up with.
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
