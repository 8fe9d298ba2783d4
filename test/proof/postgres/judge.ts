// Compares the responses to publishers with the database and with the requests at the receiver.
import { setTimeout as wait } from 'node:timers/promises';
import { findPending, snapshotFlaws } from '../../e2e/chaos-oracle.ts';
import { nowMs } from '../../e2e/event-loop-lag.ts';
import type { Database } from '../../postgres/database.ts';
import type { Load } from './load.ts';

export interface Verdict {
  violations: string[];
  accepted: number;
  lost: number;
  /** Publishes that were refused and not repeated, and how many of them are in the database nevertheless. */
  givenUp: number;
  committedAfterAll: number;
  /** Duplicate callbacks. */
  cameAgain: number;
}

export interface JudgeOptions {
  /** Events that may be lost: acknowledged by a primary that died before it had replicated them. */
  mayLose?: ReadonlySet<string>;
  /** The time limit for all deliveries to end. */
  drainMs?: number;
}

/** Enough for a lease to expire, its delivery to be recovered, and the backlog. */
const drainMostMs = 90_000;
/** How long after its callback an outcome may be stored, under load. */
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
    violations.push(`I1: ${id}, number ${number}, was acknowledged and is lost`);
  for (const [number, all] of kept) {
    if (all.length > 1) violations.push(`I13: number ${number} became ${all.length} events`);
    if (!load.told.has(number)) violations.push(`I13: number ${number} was never published`);
  }
  const unheard = accepted.filter(([, id]) => ids.has(id) && !load.arrivals.has(id));
  for (const [number, id] of unheard) violations.push(`I3: ${id}, number ${number}, never came`);
  for (const flaw of await snapshotFlaws(database)) violations.push(`I14: ${flaw}`);
  const again = [...load.arrivals].filter(([, times]) => times.length > 1);
  for (const [id, [firstMs = 0]] of again) {
    if (!isExplained(load, firstMs))
      violations.push(`I5: ${id} came again without a fault at that time`);
  }
  violations.push(...load.flaws); // Last, because the waits above may add to them.
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

/** Number → ids of the events with that number. */
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

/** Whether a fault explains a duplicate: the outcome of a callback at that time may not have been stored. */
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
