// Estimates the rate and the remaining time of a replay. Pure.
import { duration } from '../format.ts';
import type { Replay } from '../../../src/client/contract/delivery.ts';

/** No estimate before this time and progress. */
const minimumMs = 2_000;
const leastProgress = 0.02;

/** Average deliveries per second; undefined while too little is known. */
export function ratePerSecond(replay: Replay, nowMs: number): number | undefined {
  const tookMs = tookSoFarMs(replay, nowMs);
  return tookMs < minimumMs ? undefined : replay.replayed / (tookMs / 1_000);
}

/**
 * Extrapolated from the remaining time range. An estimate: deliveries may not be evenly
 * distributed.
 */
export function leftMs(replay: Replay, nowMs: number): number | undefined {
  const { state, progress } = replay;
  const tookMs = tookSoFarMs(replay, nowMs);
  if (state !== 'running' || tookMs < minimumMs || progress < leastProgress) return undefined;
  return (tookMs * (1 - progress)) / progress;
}

/** `about 2 min left`; undefined if finished or unknown. */
export function timeLeft(replay: Replay, nowMs: number): string | undefined {
  const left = leftMs(replay, nowMs);
  if (left === undefined) return undefined;
  return left < 5_000 ? 'nearly done' : `about ${duration(rounded(left))} left`;
}

/** `48 per second`, `0.5 per second`. */
export function rateText(perSecond: number): string {
  const shown = perSecond < 10 ? Math.round(perSecond * 10) / 10 : Math.round(perSecond);
  return `${shown} per second`;
}

function tookSoFarMs({ createdAt, endedAt }: Replay, nowMs: number): number {
  return (endedAt === undefined ? nowMs : Date.parse(endedAt)) - Date.parse(createdAt);
}

/** An estimate that changes every second should not look exact. */
function rounded(ms: number): number {
  const stepMs = ms < 60_000 ? 5_000 : ms < 600_000 ? 30_000 : 300_000;
  return Math.ceil(ms / stepMs) * stepMs;
}
