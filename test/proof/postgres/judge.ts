// Compares what publishers were told with what the database keeps and what came to the receiver.
import { setTimeout as wait } from 'node:timers/promises';
import { findPending, snapshotFlaws } from '../../e2e/chaos-oracle.ts';
import { nowMs } from '../../e2e/event-loop-lag.ts';
import type { Database } from '../../postgres/database.ts';
import type { Load } from './load.ts';

export interface Verdict {
  violations: string[];
  accepted: number;
  lost: number;
  /** Publishes that were refused and given up, and how many of them were in the database all the same. */
  givenUp: number;
  committedAfterAll: number;
  /** Callbacks that came again. */
  cameAgain: number;
}

export interface JudgeOptions {
  /** What may be gone: acknowledged by a server that was lost with what it had not passed on. */
  mayLose?: ReadonlySet<string>;
  /** How long all may take to end. */
  drainMs?: number;
}

/** A lease and its rescue, and the backlog. */
const drainMostMs = 90_000;
/** An outcome is written a moment after its callback came; under load a little later. */
const settleMs = 2_000;

export async function judge(
  database: Database,
  load: Load,
  { mayLose = new Set(), drainMs = drainMostMs }: JudgeOptions = {},
): Promise<Verdict> {
  const violations: string[] = [];
  const pending = await drained(database, drainMs);
  if (pending !== undefined) violations.push(`I3: ${pending}`);
  const kept = await readEvents(database);
  const ids = new Set([...kept.values()].flat());
  const accepted = load.accepted.filter(([, id]) => !mayLose.has(id));
  const lost = accepted.filter(([, id]) => !ids.has(id));
  for (const [number, id] of lost)
    violations.push(`I1: ${id}, number ${number}, was answered and is lost`);
  for (const [number, all] of kept) {
    if (all.length > 1) violations.push(`I13: number ${number} became ${all.length} events`);
    if (!load.told.has(number)) violations.push(`I13: nobody published number ${number}`);
  }
  const unheard = accepted.filter(([, id]) => ids.has(id) && !load.arrivals.has(id));
  for (const [number, id] of unheard) violations.push(`I3: ${id}, number ${number}, never came`);
  for (const flaw of await snapshotFlaws(database)) violations.push(`I14: ${flaw}`);
  const again = [...load.arrivals].filter(([, times]) => times.length > 1);
  for (const [id, [firstMs = 0]] of again) {
    if (!isExplained(load, firstMs))
      violations.push(`I5: ${id} came again, and nothing had happened`);
  }
  violations.push(...load.flaws); // Last: something may come of it while all else is waited for.
  const givenUp = [...load.told].filter(([, { id }]) => id === undefined);
  return {
    violations,
    accepted: accepted.length,
    lost: lost.length,
    givenUp: givenUp.length,
    committedAfterAll: givenUp.filter(([number]) => kept.has(number)).length,
    cameAgain: again.reduce((sum, [, times]) => sum + times.length - 1, 0),
  };
}

/** Number → ids of the events that carry it. */
async function readEvents(database: Database): Promise<Map<number, string[]>> {
  const rows = await database.query(`
    select id, convert_from(payload, 'UTF8')::json ->> 'message' as number from ringback.event`);
  const kept = new Map<number, string[]>();
  for (const row of rows) {
    const number = Number(row['number']);
    kept.set(number, [...(kept.get(number) ?? []), `evt_${String(row['id'])}`]);
  }
  return kept;
}

/** The outcome of a callback that came about then may not have been written. */
function isExplained({ faults }: Load, atMs: number): boolean {
  return faults.some(({ fromMs, toMs }) => atMs >= fromMs - settleMs && atMs <= toMs + settleMs);
}

async function drained(database: Database, drainMs: number): Promise<string | undefined> {
  const untilMs = nowMs() + drainMs;
  for (;;) {
    const { count, some } = await findPending(database);
    if (count === 0) return undefined;
    if (nowMs() > untilMs) return `${count} deliveries never ended: ${JSON.stringify(some)}`;
    await wait(100);
  }
}
