// Durations as people write them: `500ms`, `15s`, `5m`, `2h`, `30d`.

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Undefined when the text is not a duration. At most nine digits, so that every result is a safe
 * integer.
 */
export function durationMs(text: string): number | undefined {
  const found = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  const unit = Object.entries(units).find(([name]) => name === found?.[2])?.[1];
  return unit === undefined ? undefined : Number(found?.[1]) * unit;
}

/** Prints in the largest unit that divides evenly. */
export function printDuration(ms: number): string {
  const whole = Object.entries(units).findLast(([, unit]) => ms > 0 && ms % unit === 0);
  const [name, unit] = whole ?? ['s', units.s];
  return `${ms / unit}${name}`;
}
