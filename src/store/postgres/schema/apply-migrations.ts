// Migrates a PostgreSQL database to the schema of this program: each due migration in its own
// transaction, one node at a time, however many start at once; then creates the partitions of the
// next days.
import type { Client, ClientBase } from 'pg';
import { limits } from '../../../core/limits/limits.ts';
import {
  type AppliedMigration,
  type Migration,
  type RecordedMigration,
  dueMigrations,
  migrationHash,
  readMigrations,
  isUnhashed,
  lastUnhashed,
  refuseOtherSchema,
} from '../../sql/migration-rules.ts';
import {
  cannotConnect,
  cannotMigrate,
  databaseName,
  refuseServer,
} from '../connection/cannot-open.ts';
import { connect } from '../connection/connect.ts';
import { failureKind, sqlState, unavailable } from '../connection/failure.ts';
import { ensurePartitions } from './partitions.ts';
import { checkSession } from '../connection/examine.ts';

export interface MigrateOptions {
  url: string;
  migrationsDir: string;
  nowMs: number;
  /** Called after each migration. */
  onMigrated?: () => void;
}

/** Returns the migrations that were applied. Rejects with CannotOpenStore. */
export async function applyMigrations(options: MigrateOptions): Promise<AppliedMigration[]> {
  const { url, migrationsDir, nowMs, onMigrated } = options;
  return withClient(url, async (client) => {
    const known = readMigrations(migrationsDir);
    const done: AppliedMigration[] = [];
    for (let round = 0; round <= known.length; round += 1) {
      const next = await tryNext(client, { database: databaseName(url), known, nowMs });
      if (next === undefined) break;
      done.push({ number: next.number, name: next.name });
      onMigrated?.();
    }
    await ensurePartitions(client, {
      fromMs: nowMs - dayMs,
      toMs: nowMs + limits.partitionDaysAhead * dayMs,
    });
    return done;
  });
}

/** Returns the migrations that are due, without changing anything. Rejects with CannotOpenStore. */
export async function readDueMigrations({
  url,
  migrationsDir,
}: Pick<MigrateOptions, 'url' | 'migrationsDir'>): Promise<AppliedMigration[]> {
  return withClient(url, async (client) => {
    const known = readMigrations(migrationsDir);
    const applied = await appliedMigrations(client);
    const database = databaseName(url);
    const due = dueMigrations({ database, known, applied });
    await checkSchema(client, { database, applied });
    return due.map(({ number, name }) => ({ number, name }));
  });
}

const dayMs = 24 * 60 * 60 * 1000;

async function withClient<T>(url: string, body: (client: ClientBase) => Promise<T>): Promise<T> {
  const client = await open(url);
  try {
    await checkServer(client, url);
    return await body(client);
  } catch (error) {
    throw cannotMigrate(url, error);
  } finally {
    await client.end().catch(() => {});
  }
}

async function open(url: string): Promise<Client> {
  await checkSession(url);
  try {
    // A broken connection rejects its pending queries; no other code needs to know.
    return await connect({ url, kind: 'schema', purpose: 'schema', onLost: () => {} });
  } catch (error) {
    throw cannotConnect(url, error);
  }
}

async function checkServer(client: ClientBase, url: string): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string }>(`
    select current_setting('server_version_num')::int as version,
      current_setting('server_encoding') as encoding`);
  for (const { version, encoding } of rows) {
    refuseServer(url, { versionNumber: version, encoding });
  }
}

interface Known {
  database: string;
  known: readonly Migration[];
  nowMs: number;
}

/**
 * Other nodes keep publishing while this one starts. A migration that ends in a deadlock or a lock
 * timeout was rolled back and can run again.
 */
async function tryNext(client: ClientBase, state: Known): Promise<Migration | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await applyNext(client, state);
    } catch (error) {
      if (!isInTheWay(error) || tries >= limits.migrationTriesMax) throw error;
    }
    await client.query('select pg_sleep($1)', [limits.migrationPauseMs / 1000]);
  }
}

/** The database's error is the cause of the error that names the migration. */
function isInTheWay(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return sqlState(cause) === '55P03' || failureKind(cause) === 'again';
}

/**
 * The first migration that is due, or undefined when none is. The lock belongs to the transaction, not
 * to the session: a commit or an error frees it, whatever becomes of the connection.
 */
async function applyNext(client: ClientBase, state: Known): Promise<Migration | undefined> {
  await client.query('begin');
  try {
    // Waits without limit for another node's migration. The migration itself gets a short lock
    // timeout, because all other statements would queue behind it.
    await client.query('set local lock_timeout = 0');
    await client.query('select pg_advisory_xact_lock($1, $2)', advisoryLock);
    await client.query(`set local lock_timeout = ${limits.databaseLockMs}`);
    const next = await applyFirstDue(client, state);
    await client.query('commit');
    return next;
  } catch (error) {
    await client.query('rollback').catch(() => {}); // The first error is the one to report.
    throw error;
  }
}

/** "RING" in ASCII, and a different number than in partitions.ts. */
const advisoryLock = [0x52_49_4e_47, 1];

async function applyFirstDue(
  client: ClientBase,
  { database, known, nowMs }: Known,
): Promise<Migration | undefined> {
  const applied = await appliedMigrations(client);
  const [next] = dueMigrations({ database, known, applied });
  await adoptUnhashed(client, { database, known, applied });
  if (next === undefined) return undefined;
  if (applied.length === 0) await makeRoom(client);
  await run(client, next);
  await client.query(
    'insert into ringback.migration (number, name, applied_ms, hash) values ($1, $2, $3, $4)',
    [next.number, next.name, nowMs, migrationHash(next.sql)],
  );
  return next;
}

/**
 * Records the hashes of migrations that were applied without one, once the schema was found to be
 * right.
 */
async function adoptUnhashed(
  client: ClientBase,
  { database, known, applied }: Pick<Known, 'database' | 'known'> & Applied,
): Promise<void> {
  if (applied.every(({ hash }) => hash !== undefined)) return;
  await checkSchema(client, { database, applied });
  // Only if it is missing: even `add column if not exists` would wait for all transactions on the
  // table.
  if (!(await recordsHashes(client))) {
    await client.query('alter table ringback.migration add column hash text');
  }
  if (applied.length < lastUnhashed) return;
  const missing = applied.filter(({ hash }) => hash === undefined);
  for (const { number } of missing) {
    const { sql = '' } = known[number - 1] ?? {};
    await client.query('update ringback.migration set hash = $1 where number = $2', [
      migrationHash(sql),
      number,
    ]);
  }
}

interface Applied {
  applied: readonly RecordedMigration[];
}

async function checkSchema(
  client: ClientBase,
  { database, applied }: { database: string } & Applied,
): Promise<void> {
  if (!isUnhashed(applied)) return;
  const columns = await columnsOf(client);
  refuseOtherSchema({ database, kind: 'postgres', columns });
}

/** Every column of every table, partitions excluded. */
export async function columnsOf(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(`
    select 'column ' || relname || '.' || attname || ' ' || format_type(atttypid, null) as line
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'ringback'::regnamespace and relkind in ('r', 'p') and attnum > 0
      and not attisdropped and not relispartition and relname <> 'migration'`);
  return rows.map(({ line }) => line);
}

async function run(client: ClientBase, { number, name, sql }: Migration): Promise<void> {
  try {
    await client.query(sql);
  } catch (error) {
    const { message } = unavailable(error);
    throw new Error(`migration ${number} "${name}" failed: ${message}`, { cause: error });
  }
}

async function appliedMigrations(client: ClientBase): Promise<RecordedMigration[]> {
  const found = await client.query("select where to_regclass('ringback.migration') is not null");
  if (found.rowCount === 0) return [];
  const hash = (await recordsHashes(client)) ? 'hash' : 'null as hash';
  const { rows } = await client.query<AppliedMigration & { hash: string | null }>(
    `select number, name, ${hash} from ringback.migration order by number`,
  );
  return rows.map((row) => ({ ...row, hash: row.hash ?? undefined }));
}

async function recordsHashes(client: ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(`
    select from pg_attribute
    where attrelid = to_regclass('ringback.migration') and attname = 'hash' and not attisdropped`);
  return rowCount === 1;
}

/** If the owner of the database has created the schema for us, no right to create one is needed. */
async function makeRoom(client: ClientBase): Promise<void> {
  const found = await client.query("select where to_regnamespace('ringback') is not null");
  if (found.rowCount === 0) await client.query('create schema ringback');
  await client.query(`create table if not exists ringback.migration (
    number bigint primary key, name text not null, applied_ms bigint not null, hash text)`);
}
