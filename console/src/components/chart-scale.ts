// The arithmetic of the bar chart: pure, so that it can be tested without a browser.
/** The top of an axis that is at least the largest value: 1, 2, 4, 5 or 10 times a power of ten. */
export function axisTop(largest: number): number {
  if (largest <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(largest));
  const factor = [1, 2, 4, 5, 10].find((one) => one * power >= largest) ?? 10;
  return factor * power;
}

/** Which step is at this place of a chart so wide; always one of them. */
export function stepAt(x: number, { width, size }: { width: number; size: number }): number {
  if (width <= 0 || size <= 0) return 0;
  return Math.min(size - 1, Math.max(0, Math.floor((x / width) * size)));
}

/** Which steps get a time below them: about one every so many pixels, the first included. */
export function labelledSteps(
  size: number,
  { width, everyPx }: { width: number; everyPx: number },
): number[] {
  if (size === 0 || width <= 0) return [];
  const fit = Math.max(1, Math.floor(width / everyPx));
  const every = Math.max(1, Math.ceil(size / fit));
  return Array.from({ length: Math.ceil(size / every) }, (_, at) => at * every);
}
