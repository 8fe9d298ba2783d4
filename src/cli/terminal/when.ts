// Formats times for people, "3 min ago", and parses theirs, "1h" or RFC 3339.
import { durationMs } from '../../core/base/parse-time.ts';
import { CliFailure } from './failure.ts';

/** The distance from now; a date if it is far away. */
export function relativeTime(at: string | null | undefined, nowMs: number): string {
  if (at === undefined || at === null) return '';
  const atMs = Date.parse(at);
  if (Number.isNaN(atMs)) return at;
  const distanceMs = Math.abs(nowMs - atMs);
  if (distanceMs < 1_000) return 'now';
  if (distanceMs >= datesFromMs) return at.slice(0, 10);
  const span = spanOf(distanceMs);
  return atMs > nowMs ? `in ${span}` : `${span} ago`;
}

/** The exact time followed by the relative one: `2026-01-31T12:00:00.000Z (3 min ago)`. */
export function exactTime(at: string | null | undefined, nowMs: number): string | undefined {
  if (at === undefined || at === null) return undefined;
  const relative = relativeTime(at, nowMs);
  return at.startsWith(relative) ? at : `${at} (${relative})`;
}

/** A duration: `12 ms`, `1.5 s`, `2 min`. */
export function tookTime(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : spanOf(ms);
}

/**
 * `1h` means that long before now; anything else must be a time with a zone. Returns RFC 3339 in
 * UTC.
 */
export function readTime({ flag, text }: { flag: string; text: string }, nowMs: number): string {
  const agoMs = durationMs(text);
  if (agoMs !== undefined) return new Date(Math.max(0, nowMs - agoMs)).toISOString();
  const atMs = instantMs(text);
  if (atMs === undefined) {
    throw new CliFailure(
      `Cannot read --${flag} "${text}": expected how long ago, such as 15m, 1h or 7d, or a time such as 2026-01-31T12:00:00Z`,
      { exitCode: 2 },
    );
  }
  return new Date(atMs).toISOString();
}

/** Parses a time with a zone, or a day in UTC. Undefined for invalid dates such as February 30. */
export function instantMs(text: string): number | undefined {
  const [, day] = rfc3339.exec(text) ?? [];
  if (day === undefined) return undefined;
  const [dayMs, atMs] = [Date.parse(day), Date.parse(text)];
  const isThere = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(day);
  return isThere && !Number.isNaN(atMs) ? atMs : undefined;
}

const datesFromMs = 30 * 86_400_000;
const rfc3339 = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

const spans = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

function spanOf(ms: number): string {
  const [name, unit] = spans.find(([, size]) => ms >= size) ?? ['s', 1_000];
  return `${Math.floor(ms / unit)} ${name}`;
}
