// Times that callers write: durations (`500ms`, `15s`, `30d`, in documents `P7D`) and RFC 3339 instants.

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

/** ISO 8601 in whole units, with a month of 30 days and a year of 365. Undefined when the text is none. */
export function isoDurationMs(text: string): number | undefined {
  const found = isoDuration.exec(text);
  if (found === null || /[PT]$/.test(text)) return undefined;
  return isoUnitsMs.reduce((sum, unitMs, at) => sum + Number(found[at + 1] ?? 0) * unitMs, 0);
}

/** At most six digits, so that every sum is a safe integer. */
const isoDuration =
  /^P(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$/;
const isoUnitsMs = [365 * units.d, 30 * units.d, 7 * units.d, units.d, units.h, units.m, units.s];

// Times that callers write. Every accepted time can be printed as RFC 3339 again, which has four
// digits for the year: an offset could otherwise move a time out of that range.

const firstMs = Date.parse('0000-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** The expectation in the message for any other time. */
export const instantExpected = 'a UTC timestamp of the years 0 to 9999, without a leap second';

/** Parses RFC 3339; undefined for a time that no clock shows, such as a leap second. */
export function instantMs(written: string): number | undefined {
  const ms = Date.parse(written);
  return ms >= firstMs && ms <= lastMs ? ms : undefined;
}
