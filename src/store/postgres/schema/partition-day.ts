// Days of the history: which one a time belongs to, and the names and bounds of its four
// partitions. Pure. A day is a UTC day; an event belongs to the day in which its id was made.
import { strict as assert } from 'node:assert';
import { firstIdAt } from '../../../core/base/id.ts';
import { limits } from '../../../core/limits/limits.ts';

/** The tables of the history, and the column that holds the event's id. */
export const historyTables = ['delivery_done', 'attempt', 'response', 'event'] as const;

export interface Day {
  /** As in the names of its partitions: `20261115`. */
  name: string;
  fromMs: number;
  /** Event ids of this day: from `fromId`, up to but not including `toId`. */
  fromId: string;
  toId: string;
}

const dayMs = 24 * 60 * 60 * 1000;

export function dayAt(ms: number): Day {
  const fromMs = Math.floor(ms / dayMs) * dayMs;
  const name = new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '');
  return { name, fromMs, fromId: firstIdAt(fromMs), toId: firstIdAt(fromMs + dayMs) };
}

/** All days from one time to another, both included. */
export function daysBetween({ fromMs, toMs }: { fromMs: number; toMs: number }): Day[] {
  const first = dayAt(fromMs).fromMs;
  const count = Math.floor((toMs - first) / dayMs) + 1;
  const isSane = count >= 1 && count <= limits.partitionDaysMax;
  assert(isSane, `Cannot span ${count} days: expected 1 to ${limits.partitionDaysMax}`);
  return Array.from({ length: count }, (_, index) => dayAt(first + index * dayMs));
}

export function isBefore(day: Day, beforeMs: number): boolean {
  return day.fromMs + dayMs <= beforeMs;
}

export function partitionName(table: string, day: Day): string {
  return `${table}_${day.name}`;
}

/** The day of a partition by its name; undefined for other tables. */
export function dayOfPartition(name: string): Day | undefined {
  const [, year, month, date] = shape.exec(name) ?? [];
  const fromMs = Date.UTC(Number(year), Number(month) - 1, Number(date));
  if (Number.isNaN(fromMs)) return undefined;
  const day = dayAt(fromMs);
  return name.endsWith(`_${day.name}`) ? day : undefined;
}

const shape = new RegExp(`^(?:${historyTables.join('|')})_(\\d{4})(\\d\\d)(\\d\\d)$`);
