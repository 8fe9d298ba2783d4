// Brings a database up to this program without anybody working on it, or says what is due. Every kind of
// database has a migrator; the rules which migrations are due are the same for all of them.
import { CannotOpenStore } from './cannot-open-store.ts';
import type { AppliedMigration } from './migrate.ts';
import { readMigrations } from './migrate.ts';
import type { Database } from './open.ts';
import { databaseIn, makeFolder, migrationsDir } from './open.ts';
import { applyMigrations, readDueMigrations as postgresDue } from './postgres/apply-migrations.ts';
import { postgresMigrationsDir } from './postgres/transport.ts';
import { openSqlite } from './sqlite/adapter.ts';
import { readDueMigrations } from './sqlite/apply-migrations.ts';

/** Both reject with CannotOpenStore. */
export interface Migrator {
  /** What is due, in order; nothing is touched. */
  due(): Promise<readonly AppliedMigration[]>;
  /** Applies what is due, and gives it. Refuses while a process is using the database. */
  apply(nowMs: number, onMigrated?: () => void): Promise<readonly AppliedMigration[]>;
  /** The last migration that this program knows. */
  last: number;
}

export function migratorOf(database: Database): Migrator {
  return 'url' in database ? postgresMigrator(database.url) : sqliteMigrator(database.dataDir);
}

/** Other nodes may be at work meanwhile: a migration must leave them their tables. */
function postgresMigrator(url: string): Migrator {
  const means = { url, migrationsDir: postgresMigrationsDir };
  return {
    due: async () => postgresDue(means),
    apply: async (nowMs, onMigrated = () => {}) => applyMigrations({ ...means, nowMs, onMigrated }),
    last: readMigrations(postgresMigrationsDir).length,
  };
}

function sqliteMigrator(dataDir: string): Migrator {
  const path = databaseIn(dataDir);
  const due = (): readonly AppliedMigration[] => {
    try {
      return readDueMigrations({ path, migrationsDir });
    } catch (error) {
      if (error instanceof CannotOpenStore) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new CannotOpenStore('failed', `Cannot read "${path}": ${reason}`, { cause: error });
    }
  };
  return {
    due: async () => due().map(({ number, name }) => ({ number, name })),
    apply: async (nowMs, onMigrated = () => {}) => {
      makeFolder(dataDir);
      const applied = due();
      openSqlite({ path, migrationsDir, nowMs, onMigrated }).close();
      return applied.map(({ number, name }) => ({ number, name }));
    },
    last: readMigrations(migrationsDir).length,
  };
}
