// Deliveries that replays have sent again, according to the log of their transactions.
import type { History, LogRow } from './history.ts';

export interface SentAgain {
  /** Deliveries created by a step of a replay, and those that it revived from dead. */
  made: ReadonlySet<string>;
  revived: ReadonlySet<string>;
}

const known = new WeakMap<History, SentAgain>();

export function sentAgain(history: History): SentAgain {
  const before = known.get(history);
  if (before !== undefined) return before;
  const made = new Set<string>();
  const revived = new Set<string>();
  for (const { what, event, n } of stepsOf(history.log).keys()) {
    if (what === 'made') made.add(nameOf({ event, n }));
    if (what === 'left') revived.add(nameOf({ event, n }));
  }
  const found = { made, revived };
  known.set(history, found);
  return found;
}

/** Log rows that belong to a step of a replay, by that replay. A step that came too late has no end. */
export function stepsOf(log: readonly LogRow[]): Map<LogRow, string> {
  const rows = new Map<LogRow, string>();
  let since: LogRow[] = [];
  for (const row of log) {
    if (row.what === 'step') since = [];
    else if (row.what !== 'stepped') since.push(row);
    else for (const one of since) rows.set(one, row.event);
  }
  return rows;
}

export function nameOf({ event, n }: { event: string; n: number }): string {
  return `dlv_${event}_${n}`;
}
