// Migrates a SQLite database to this program's schema: each pending migration in a transaction of
// its own.
import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import {
  dueMigrations,
  migrationHash,
  readMigrations,
  type Migration,
  type RecordedMigration,
  isUnhashed,
  lastUnhashed,
  refuseOtherSchema,
} from '../../sql/migration-rules.ts';
import { integer, maybe, text } from '../../sql/row.ts';
import { connect, refuseMissing } from '../connection/connect.ts';

export interface MigrateOptions {
  database: string;
  migrationsDir: string;
  nowMs: number;
  onMigrated?: () => void;
}

export function applyMigrations(db: DatabaseSync, options: MigrateOptions): void {
  const { database, migrationsDir, nowMs, onMigrated } = options;
  const known = readMigrations(migrationsDir);
  db.exec(`create table if not exists migration (
    number integer primary key, name text not null, applied_ms integer not null, hash text) strict`);
  const due = dueMigrations({ database, known, applied: appliedMigrations(db) });
  if (!recordsHashes(db)) db.exec('alter table migration add column hash text');
  adoptUnhashed(db, { database, known });
  for (const migration of due) {
    apply(db, migration, nowMs);
    onMigrated?.();
    adoptUnhashed(db, { database, known });
  }
}

/**
 * Records the hashes of migrations that were applied before hashes existed, after checking the
 * schema.
 */
function adoptUnhashed(
  db: DatabaseSync,
  { database, known }: { database: string; known: readonly Migration[] },
): void {
  const applied = appliedMigrations(db);
  if (applied.every(({ hash }) => hash !== undefined)) return;
  checkSchema(db, { database, applied });
  if (applied.length < lastUnhashed) return;
  const record = db.prepare('update migration set hash = ? where number = ? and hash is null');
  for (const { number, sql } of known.slice(0, applied.length))
    record.run(migrationHash(sql), number);
}

/** The pending migrations of the file at `path`, without touching it; it need not exist. */
export function readDueMigrations({
  path,
  migrationsDir,
}: {
  path: string;
  migrationsDir: string;
}): Migration[] {
  const known = readMigrations(migrationsDir);
  refuseMissing(path);
  if (!existsSync(path)) return known;
  const db = connect({ path, access: 'read' });
  try {
    const found = db.prepare("select 1 from sqlite_schema where name = 'migration'").get();
    const applied = found === undefined ? [] : appliedMigrations(db);
    const due = dueMigrations({ database: path, known, applied });
    checkSchema(db, { database: path, applied });
    return due;
  } finally {
    db.close();
  }
}

function appliedMigrations(db: DatabaseSync): RecordedMigration[] {
  const hash = recordsHashes(db) ? 'hash' : 'null as hash';
  return db
    .prepare(`select number, name, ${hash} from migration order by number`)
    .all()
    .map((row) => ({
      number: integer(row, 'number'),
      name: text(row, 'name'),
      hash: maybe(text, row, 'hash'),
    }));
}

function checkSchema(
  db: DatabaseSync,
  found: { database: string; applied: readonly RecordedMigration[] },
): void {
  if (!isUnhashed(found.applied)) return;
  refuseOtherSchema({ database: found.database, kind: 'sqlite', columns: columnsOf(db) });
}

function recordsHashes(db: DatabaseSync): boolean {
  const column = "select 1 from pragma_table_info('migration') where name = 'hash'";
  return db.prepare(column).get() !== undefined;
}

/**
 * Every column, and every index with its definition: some statements name the index that they need.
 */
export function columnsOf(db: DatabaseSync): string[] {
  const rows = db
    .prepare(
      `select 'column ' || m.name || '.' || c.name || ' ' || lower(c.type) as line
       from sqlite_schema m join pragma_table_xinfo(m.name) c
       where m.type = 'table' and m.name not like 'sqlite_%' and m.name <> 'migration'
       union all
       select 'index ' || sql from sqlite_schema where type = 'index' and sql <> ''`,
    )
    .all();
  return rows.map((row) => text(row, 'line').replaceAll(/\s+/g, ' '));
}

function apply(db: DatabaseSync, { number, name, sql }: Migration, nowMs: number): void {
  db.exec('begin immediate');
  try {
    db.exec(sql);
    db.prepare('insert into migration (number, name, applied_ms, hash) values (?, ?, ?, ?)').run(
      number,
      name,
      nowMs,
      migrationHash(sql),
    );
    db.exec('commit');
  } catch (error) {
    if (db.isTransaction) db.exec('rollback');
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`migration ${number} "${name}" failed: ${reason}`, { cause: error });
  }
}
