// One clock for every age and countdown on the page: a signal that ticks once a second while the
// page is visible. It follows the clock of the service where the browser clock is wrong.
import { signal } from '@preact/signals';
import { limits } from './limits.ts';

let skewMs = 0;

/** The time at the service, to the second. */
export const clock = signal(Date.now());

/** Takes the `Date` header of a response. Small differences are network latency, not clock skew. */
export function noteServiceTime(date: string | null): void {
  const ms = Date.parse(date ?? '');
  if (Number.isNaN(ms)) return;
  const differenceMs = ms - Date.now();
  skewMs = Math.abs(differenceMs) > limits.clockSkewMs ? differenceMs : 0;
}

export function nowMs(): number {
  return Date.now() + skewMs;
}

export function startClock(): void {
  setInterval(tick, 1_000);
  document.addEventListener('visibilitychange', tick);
}

function tick(): void {
  if (!document.hidden) clock.value = nowMs();
}
