// Brings a SQLite database up to this program: each due migration in a transaction of its own.
import type { DatabaseSync } from 'node:sqlite';
import type { AppliedMigration, Migration } from '../migrate.ts';
import { dueMigrations, readMigrations } from '../migrate.ts';
import { integer, text } from '../row.ts';

export interface MigrateOptions {
  database: string;
  migrationsDir: string;
  nowMs: number;
}

export function applyMigrations(db: DatabaseSync, options: MigrateOptions): void {
  const { database, migrationsDir, nowMs } = options;
  const known = readMigrations(migrationsDir);
  const due = dueMigrations({ database, known, applied: appliedMigrations(db) });
  for (const migration of due) apply(db, migration, nowMs);
}

function appliedMigrations(db: DatabaseSync): AppliedMigration[] {
  db.exec(`create table if not exists migration (
    number integer primary key, name text not null, applied_ms integer not null) strict`);
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
