// The arithmetic of the bar chart. Pure, so that it can be tested without a browser.
/** The top of an axis, at or above the largest value: a round number whose half is round too. */
export function axisTop(largest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, largest)));
  const factors = power === 1 ? [4, 6, 8, 10] : [1, 2, 3, 4, 5, 6, 8, 10];
  return (factors.find((one) => one * power >= largest) ?? 10) * power;
}

/** The index of the step at x pixels; always a valid index. */
export function stepAt(x: number, { width, size }: { width: number; size: number }): number {
  if (width <= 0 || size <= 0) return 0;
  return Math.min(size - 1, Math.max(0, Math.floor((x / width) * size)));
}

/** The steps with a time label: about one label per `everyPx`, the first step included. */
export function labelledSteps(
  size: number,
  { width, everyPx }: { width: number; everyPx: number },
): number[] {
  if (size === 0 || width <= 0) return [];
  const fit = Math.max(1, Math.floor(width / everyPx));
  const every = Math.max(1, Math.ceil(size / fit));
  return Array.from({ length: Math.ceil(size / every) }, (_, at) => at * every);
}
