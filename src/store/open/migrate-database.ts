// Migrates a database without starting a service, or lists the pending migrations. Each kind of
// database has a migrator; the rules for which migrations are pending are the same for all.
import { CannotOpenStore } from '../port/store.ts';
import type { AppliedMigration } from '../sql/migration-rules.ts';
import { readMigrations } from '../sql/migration-rules.ts';
import type { Database } from './open.ts';
import { databaseIn, makeFolder, migrationsDir } from './open.ts';
import {
  applyMigrations,
  readDueMigrations as postgresDue,
} from '../postgres/schema/apply-migrations.ts';
import { postgresMigrationsDir } from '../postgres/batch/adapter.ts';
import { openSqlite } from '../sqlite/batch/adapter.ts';
import { readDueMigrations } from '../sqlite/schema/apply-migrations.ts';

/** Both methods reject with CannotOpenStore. */
export interface Migrator {
  /** The pending migrations, in order. Changes nothing. */
  due(): Promise<readonly AppliedMigration[]>;
  /**
   * Applies the pending migrations, and returns them. Refuses while a process is using the
   * database.
   */
  apply(nowMs: number, onMigrated?: () => void): Promise<readonly AppliedMigration[]>;
  /** The last migration that this program knows. */
  last: number;
}

export function migratorOf(database: Database): Migrator {
  return 'url' in database ? postgresMigrator(database.url) : sqliteMigrator(database.dataDir);
}

/** Other nodes may be running meanwhile, so a migration must stay compatible with them. */
function postgresMigrator(url: string): Migrator {
  const deps = { url, migrationsDir: postgresMigrationsDir };
  return {
    due: async () => postgresDue(deps),
    apply: async (nowMs, onMigrated = () => {}) => applyMigrations({ ...deps, nowMs, onMigrated }),
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
