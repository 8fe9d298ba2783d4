// One clock for every age and countdown on the page: a signal that ticks once a second while the page is
// seen. It follows the service's clock where the browser's is off.
import { signal } from '@preact/signals';
import { limits } from './limits.ts';

let skewMs = 0;

/** What time it is at the service, to the second. */
export const clock = signal(Date.now());

/** The `Date` of an answer. Small differences are the way of the answer, not of the clock. */
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
