// Creates the day partitions of the history before they are needed, and drops them after their
// retention. Neither takes a table lock that publishing or delivering would wait for.
import { strict as assert } from 'node:assert';
import type { ClientBase } from 'pg';
import { firstIdAt } from '../../../core/base/id.ts';
import { limits } from '../../../core/limits/limits.ts';
import { failureKind, sqlState } from '../connection/failure.ts';

/**
 * Creates the missing partitions of a range of days; returns how many. Safe to run on several nodes
 * at once.
 */
export async function ensurePartitions(
  client: ClientBase,
  span: { fromMs: number; toMs: number },
): Promise<number> {
  const wanted = daysBetween(span);
  for (let tries = 1; ; tries += 1) {
    const known = await readPartitions(client);
    const lacking = wanted.filter((day) => !isWhole(known, day));
    if (lacking.length === 0) return 0;
    try {
      // A day whose drop was begun is needed after all.
      for (const day of lacking) await finishDetaching(client, known, day);
      return await inTransaction(client, async () => attachAll(client, lacking));
    } catch (error) {
      if (!isInTheWay(error) || tries >= limits.partitionTriesMax) throw error;
    }
  }
}

/**
 * Drops the days that lie entirely before a time, oldest first; returns the number of partitions
 * dropped. A day stays while a delivery of it is pending. Can be called again after any failure and
 * then resumes, even if another node was killed in between.
 */
export async function dropPartitionsBefore(client: ClientBase, beforeMs: number): Promise<number> {
  const known = await readPartitions(client);
  let dropped = 0;
  try {
    for (const day of daysOf(known)) {
      if (isBefore(day, beforeMs)) dropped += await dropDay(client, day);
      // Its drop was begun under a shorter retention, so restore it.
      else if (!isWhole(known, day)) await keepDay(client, day);
    }
  } catch (error) {
    // Two nodes that detach the same partition can deadlock. The other one goes on.
    if (!isSomebodyElse(error) && failureKind(error) !== 'again') throw error;
  }
  return dropped;
}

/** Restores days that a crash left half dropped, if deliveries of them are pending. */
export async function keepPendingDays(client: ClientBase): Promise<void> {
  const known = await readPartitions(client);
  for (const day of daysOf(known)) {
    if (!isWhole(known, day) && (await isPending(client, day))) await keepDay(client, day);
  }
}

/** Oldest first. */
function daysOf(known: Partitions): Day[] {
  const days = new Map<string, Day>();
  for (const name of known.keys()) {
    const day = dayOfPartition(name);
    if (day !== undefined) days.set(day.name, day);
  }
  return [...days.values()].sort((one, other) => one.fromMs - other.fromMs);
}

type PartitionState = 'attached' | 'detaching' | 'detached';
type Partitions = ReadonlyMap<string, PartitionState>;

async function readPartitions(client: ClientBase): Promise<Partitions> {
  const { rows } = await client.query<{ name: string; state: PartitionState }>(`
    select relname as name, case when inhrelid is null then 'detached'
      when inhdetachpending then 'detaching' else 'attached' end as state
    from pg_class left join pg_inherits on inhrelid = pg_class.oid
    where relnamespace = 'ringback'::regnamespace and relkind = 'r'`);
  const ours = rows.filter(({ name }) => dayOfPartition(name) !== undefined);
  return new Map(ours.map(({ name, state }) => [name, state]));
}

function isWhole(known: Partitions, day: Day): boolean {
  return historyTables.every((table) => known.get(partitionName(table, day)) === 'attached');
}

/**
 * Runs on one node at a time. Attaching takes SHARE UPDATE EXCLUSIVE on the table, which allows
 * reads and writes; `create table … partition of` would take ACCESS EXCLUSIVE and block them. The
 * new table is empty, so the check of its rows costs nothing. The lock timeout is short and
 * retried, because another node that detaches a day may hold the lock for long.
 */
async function attachAll(client: ClientBase, days: readonly Day[]): Promise<number> {
  await client.query(`set local lock_timeout = ${limits.partitionLockMs}`);
  await client.query('select pg_advisory_xact_lock($1, $2)', advisoryLock);
  const known = await readPartitions(client);
  let made = 0;
  for (const day of days) {
    for (const table of historyTables) {
      const name = partitionName(table, day);
      const state = known.get(name);
      if (state === 'attached') continue;
      if (state === undefined) {
        await client.query(`create table ringback.${name} (like ringback.${table} including all)`);
      } else {
        await addMissing(client, table, name);
      }
      await client.query(`
        alter table ringback.${table} attach partition ringback.${name}
        for values from ('${day.fromId}') to ('${day.toId}')`);
      made += 1;
    }
  }
  return made;
}

/** Adds columns that a migration added to the table while this partition was detached. */
async function addMissing(client: ClientBase, table: string, name: string): Promise<void> {
  const { rows } = await client.query<{ column: string; type: string }>(
    `select attname as column, format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname not in
       (select attname from pg_attribute where attrelid = $2::regclass and not attisdropped)
     order by attnum`,
    [`ringback.${table}`, `ringback.${name}`],
  );
  for (const { column, type } of rows) {
    await client.query(`alter table ringback.${name} add column ${column} ${type}`);
  }
}

/** "RING" in ASCII, and a different number than in apply-migrations.ts. */
const advisoryLock = [0x52_49_4e_47, 2];

async function dropDay(client: ClientBase, day: Day): Promise<number> {
  await finishDetaching(client, await readPartitions(client), day);
  if (await isPending(client, day)) return keepDay(client, day);
  // Ended deliveries are detached first: without them none can be sent again. A transaction that
  // did so just before has committed by the end of the detach, and the second check sees it.
  const [first, ...others] = historyTables;
  await detach(client, first, day);
  if (await isPending(client, day)) return keepDay(client, day);
  for (const table of others) await detach(client, table, day);
  const names = historyTables.map((table) => partitionName(table, day));
  const known = await readPartitions(client);
  const left = names.filter((name) => known.has(name));
  await client.query(`drop table if exists ${names.map((name) => `ringback.${name}`).join()}`);
  return left.length;
}

/** Whether deliveries or a fan-out of the day are pending. */
async function isPending(client: ClientBase, { fromId, toId }: Day): Promise<boolean> {
  const { rows } = await client.query<{ pending: boolean }>(
    `select
       exists (select from ringback.delivery_live where event >= $1 and event < $2)
       or exists (select from ringback.fanout where event >= $1 and event < $2) as pending`,
    [fromId, toId],
  );
  return rows[0]?.pending === true;
}

async function keepDay(client: ClientBase, { fromMs }: Day): Promise<number> {
  await ensurePartitions(client, { fromMs, toMs: fromMs });
  return 0;
}

/** Takes no lock that others wait for, but waits for all current transactions on the table. */
async function detach(client: ClientBase, table: string, day: Day): Promise<void> {
  const name = partitionName(table, day);
  if ((await readPartitions(client)).get(name) !== 'attached') return;
  await client.query(
    `alter table ringback.${table} detach partition ringback.${name} concurrently`,
  );
}

/**
 * Finishes a detach that a crash or a timeout interrupted. Until then no other day can be detached.
 */
async function finishDetaching(client: ClientBase, known: Partitions, day: Day): Promise<void> {
  for (const table of historyTables) {
    const name = partitionName(table, day);
    if (known.get(name) !== 'detaching') continue;
    await client.query(`alter table ringback.${table} detach partition ringback.${name} finalize`);
  }
}

async function inTransaction<T>(client: ClientBase, body: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    const result = await body();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {}); // The first error is the one to report.
    throw error;
  }
}

/** A lock timeout, or a conflict with another node. */
function isInTheWay(error: unknown): boolean {
  return sqlState(error) === '55P03' || failureKind(error) === 'again' || isSomebodyElse(error);
}

/** Another node is detaching the partition or has dropped it. */
function isSomebodyElse(error: unknown): boolean {
  const code = sqlState(error);
  return code === '55000' || code === '42P01' || code === '42P07';
}

// Days of the history: which one a time belongs to, and the names and bounds of its four
// partitions. Pure. A day is a UTC day; an event belongs to the day in which its id was made.

/** The tables of the history, and the column that holds the event's id. */
const historyTables = ['delivery_done', 'attempt', 'response', 'event'] as const;

interface Day {
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
