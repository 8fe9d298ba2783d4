// Formats numbers, sizes and times for display, in the language of words.ts. The current time is an argument.
import { words } from './words.ts';

export function count(value: number): string {
  return value.toLocaleString(words().locale);
}

/** Compact, for narrow places: 12.3K. */
export function compactCount(value: number): string {
  if (value < 10_000) return count(value);
  return value.toLocaleString(words().locale, { notation: 'compact', maximumFractionDigits: 1 });
}

/** `1 delivery`, `2 deliveries`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/**
 * A ratio from 0 to 1. Only exactly 1 is 100% and only exactly 0 is 0%: rounding must not hide a
 * failure.
 */
export function percent(share: number): string {
  if (share >= 1) return '100%';
  if (share <= 0) return '0%';
  const value = share * 100;
  const digits = value > 99 || value < 1 ? 2 : 1;
  const factor = 10 ** digits;
  const rounded = Math.min(Math.max(Math.floor(value * factor + 1e-6), 1) / factor, 99.99);
  return `${rounded.toFixed(digits)}%`;
}

/** A duration: `870 ms`, `1.4 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${tenths(ms / 1_000)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return withRest(minutes, 'min', { rest: seconds % 60, restUnit: 's' });
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return withRest(hours, 'h', { rest: minutes % 60, restUnit: 'min' });
  return withRest(Math.floor(hours / 24), words().day, { rest: hours % 24, restUnit: 'h' });
}

/** One unit, rounded down: `4 s`, `12 min`, `3 h`, `5 d`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${count(Math.floor(seconds / 86_400))} ${words().day}`;
}

export function ago(thenMs: number, nowMs: number): string {
  const ms = nowMs - thenMs;
  if (ms < -1_000) return words().within(span(-ms));
  return ms < 1_000 ? words().justNow : words().ago(span(ms));
}

/** Time until something happens, to the second: `in 4 min 5 s`, `now`. */
export function countdown(thenMs: number, nowMs: number): string {
  const seconds = Math.ceil((thenMs - nowMs) / 1_000);
  if (seconds <= 0) return words().now;
  return words().within(seconds < 60 ? `${seconds} s` : duration(seconds * 1_000));
}

export function bytes(size: number): string {
  if (size < 1_024) return plural(size, words().byte, words().bytes);
  if (size < 1_048_576) return `${tenths(size / 1_024)} KiB`;
  return `${tenths(size / 1_048_576)} MiB`;
}

/** The user's local time, to the second, with the time zone. */
export function dateTime(ms: number): string {
  return new Date(ms).toLocaleString(words().dateLocale, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  });
}

/** For axes and steps of a chart: the time of day, with the date for steps of an hour or more. */
export function stepTime(ms: number, stepSeconds: number): string {
  const clock = new Date(ms).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  if (stepSeconds < 3_600) return clock;
  const day = new Date(ms).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return `${day}, ${clock}`;
}

/** `dlv_01jc4t6v…a4b_0`: the prefix and both ends, which are enough to tell IDs apart. */
export function shortId(id: string): string {
  return id.length <= 20 ? id : `${id.slice(0, 10)}…${id.slice(-6)}`;
}

function tenths(value: number): string {
  return value.toLocaleString(words().locale, {
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
    useGrouping: false,
  });
}

function withRest(
  value: number,
  unit: string,
  { rest, restUnit }: { rest: number; restUnit: string },
): string {
  return rest === 0 ? `${value} ${unit}` : `${value} ${unit} ${rest} ${restUnit}`;
}
