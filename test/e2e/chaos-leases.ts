// Matches each callback with the lease that it was sent under, and explains every duplicate by the fate of the node that
// held the lease. A duplicate without an explanation is a flaw.
import { limits } from '../../src/core/limits/limits.ts';
import type { Database } from '../postgres/database.ts';
import type { Arrival, ChaosRecord } from './chaos-record.ts';

export interface LeaseJudgement {
  /** Number of duplicates by cause. */
  duplicates: Record<string, number>;
  flaws: string[];
}

interface Lease {
  lease: number | undefined;
  atMs: number;
}

/**
 * Each lease allows one callback: a second one, or one after the lease has ended, means that fencing failed. A
 * duplicate of an accepted callback must have a cause.
 */
export async function judgeLeases(
  database: Database,
  record: ChaosRecord,
  arrivals: ReadonlyMap<string, readonly Arrival[]>,
): Promise<LeaseJudgement> {
  const rows = await database.query('select event, n, lease, at_ms from chaos.lease order by no');
  const leases = Map.groupBy(
    rows.map((row) => ({
      delivery: `dlv_${String(row['event'])}_${String(row['n'])}`,
      lease: row['lease'] === null ? undefined : Number(row['lease']),
      atMs: Number(row['at_ms']),
    })),
    ({ delivery }) => delivery,
  );
  const fates = await fatesOf(database, record);
  const flaws: string[] = [];
  const duplicates: Record<string, number> = {};
  for (const [delivery, came] of arrivals) {
    const held = leases.get(delivery) ?? [];
    const seen = new Map<number, Arrival>();
    let taken: { by: Arrival; lease: number } | undefined;
    for (const arrival of came.toSorted((a, b) => a.atMs - b.atMs)) {
      const lease = leaseAt(held, arrival.atMs, record.lagAt(arrival.atMs));
      const frozen = held.findLast((one) => isFrozenBefore(one, arrival.atMs, fates))?.lease;
      if (lease === undefined && frozen !== undefined && !seen.has(frozen)) {
        // Its node was frozen between the last check and the first byte, which nothing can prevent.
        duplicates['frozen'] = (duplicates['frozen'] ?? 0) + 1;
        seen.set(frozen, arrival);
        continue;
      }
      if (lease === undefined) {
        flaws.push(`${delivery} came at ${arrival.atMs} without a lease: ${printed(held)}`);
        continue;
      }
      const before = seen.get(lease);
      if (before !== undefined && before.reply !== 'cut') {
        flaws.push(`${delivery} came twice under one lease: ${printed(held)}`);
      }
      if (taken !== undefined) {
        const cause = taken.by.reply === 'cut' ? 'answer cut' : causeOf(taken.lease, fates);
        duplicates[cause] = (duplicates[cause] ?? 0) + 1;
        if (cause === 'nothing')
          flaws.push(`${delivery} came again without a cause: ${printed(held)}`);
      }
      seen.set(lease, arrival);
      if (arrival.reply === 200 || arrival.reply === 'cut') taken = { by: arrival, lease };
    }
  }
  return { duplicates, flaws };
}

function isFrozenBefore(
  { lease, atMs }: Lease,
  beforeMs: number,
  fates: ReadonlyMap<number, string>,
): boolean {
  return lease !== undefined && atMs < beforeMs && causeOf(lease, fates) === 'frozen';
}

/** The lease that a callback was sent under; undefined if it had ended before. */
function leaseAt(held: readonly Lease[], atMs: number, lagMs: number): number | undefined {
  const at = held.findLastIndex((one) => one.lease !== undefined && one.atMs <= atMs + clockMs);
  const next = held[at + 1];
  const isOver = next !== undefined && next.atMs + clockMs < atMs - lagMs;
  return isOver ? undefined : held[at]?.lease;
}

/** Two processes read the same clock, and round. */
const clockMs = 2;

function printed(held: readonly Lease[]): string {
  return held.map(({ lease, atMs }) => `${lease ?? 'none'} at ${atMs}`).join(', ');
}

/** Why an incarnation lost its leases, by its number. */
async function fatesOf(database: Database, record: ChaosRecord): Promise<Map<number, string>> {
  const rows = await database.query('select no, name, started_ms, gone from ringback.node');
  const all = rows.map((row) => ({
    no: Number(row['no']),
    name: String(row['name']),
    startedMs: Number(row['started_ms']),
    isGone: row['gone'] === 1,
  }));
  return new Map(
    all.map(({ no, name, startedMs, isGone }) => {
      const after = all.filter((other) => other.name === name && other.no > no);
      const nextMs = Math.min(...after.map((other) => other.startedMs));
      const isWithin = (atMs: number): boolean => startedMs <= atMs + 1_000 && atMs <= nextMs;
      const wasKilled = record.kills.some(({ node, atMs }) => node === name && isWithin(atMs));
      const wasFrozen = record.freezes.some(
        ({ node, fromMs }) => node === name && isWithin(fromMs),
      );
      // On a slow machine a node may resume before another has declared it gone. Its timers fire before it reads the
      // responses that came meanwhile, so those attempts time out and are repeated.
      const stoodLong = record.freezes.some(
        ({ node, fromMs, toMs }) =>
          node === name && isWithin(fromMs) && toMs - fromMs > limits.nodeFreshMs,
      );
      const hadOutage = record.outages.some(({ fromMs }) => isWithin(fromMs));
      const fate = wasKilled ? 'killed' : wasFrozen ? 'frozen' : hadOutage ? 'outage' : 'nothing';
      return [no, isGone || stoodLong ? fate : 'nothing'];
    }),
  );
}

function causeOf(lease: number, fates: ReadonlyMap<number, string>): string {
  return fates.get(Math.floor(lease / 2 ** 32)) ?? 'nothing';
}
