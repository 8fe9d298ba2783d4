// Brings a SQLite database up to this program: each due migration in a transaction of its own.
import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { AppliedMigration, Migration } from '../migrate.ts';
import { dueMigrations, readMigrations } from '../migrate.ts';
import { connect } from './connect.ts';
import { integer, text } from '../row.ts';

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
    number integer primary key, name text not null, applied_ms integer not null) strict`);
  const due = dueMigrations({ database, known, applied: appliedMigrations(db) });
  for (const migration of due) {
    apply(db, migration, nowMs);
    onMigrated?.();
  }
}

/** The migrations that are due in the file at `path`, without touching it; it need not exist. */
export function readDueMigrations({
  path,
  migrationsDir,
}: {
  path: string;
  migrationsDir: string;
}): Migration[] {
  const known = readMigrations(migrationsDir);
  if (!existsSync(path)) return known;
  const db = connect({ path, access: 'read' });
  try {
    const found = db.prepare("select 1 from sqlite_schema where name = 'migration'").get();
    const applied = found === undefined ? [] : appliedMigrations(db);
    return dueMigrations({ database: path, known, applied });
  } finally {
    db.close();
  }
}

function appliedMigrations(db: DatabaseSync): AppliedMigration[] {
  return db
    .prepare('select number, name from migration order by number')
    .all()
    .map((row) => ({ number: integer(row, 'number'), name: text(row, 'name') }));
}

function apply(db: DatabaseSync, { number, name, sql }: Migration, nowMs: number): void {
  db.exec('begin immediate');
  try {
    db.exec(sql);
    db.prepare('insert into migration (number, name, applied_ms) values (?, ?, ?)').run(
      number,
      name,
      nowMs,
    );
    db.exec('commit');
  } catch (error) {
    if (db.isTransaction) db.exec('rollback');
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`migration ${number} "${name}" failed: ${reason}`, { cause: error });
  }
}
