// A database with Ringback's schema, copied from a template that is migrated once per server.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { realWorld } from '../../src/core/base/world.ts';
import { applyMigrations } from '../../src/store/postgres/schema/apply-migrations.ts';
import { postgresMigrationsDir as migrationsDir } from '../../src/store/postgres/batch/adapter.ts';
import type { Database } from './database.ts';
import { ensureTemplate, freshDatabase } from './database.ts';

/** Has partitions from yesterday to a few days ahead. */
export async function freshStoreDatabase(): Promise<Database> {
  const hash = createHash('sha256');
  for (const file of readdirSync(migrationsDir).sort()) {
    hash.update(readFileSync(`${migrationsDir}/${file}`));
  }
  const day = Math.floor(realWorld().nowMs() / 86_400_000); // The partitions depend on the day.
  const template = `ringback_${day}_${hash.digest('hex').slice(0, 16)}`;
  await ensureTemplate(template, async (url) => {
    await applyMigrations({ url, migrationsDir, nowMs: realWorld().nowMs() });
  });
  return freshDatabase({ template });
}

export interface StoreDatabases extends AsyncDisposable {
  /** Takes an empty database. Disposing returns it. */
  take: () => Promise<Database>;
}

/**
 * Databases that are emptied and reused, for suites with a hundred tests. A fresh one costs 0.3 s of CPU
 * until a store is open in it, most of it for partitions and caches. Tests that change the schema need a
 * fresh one.
 */
export function storeDatabases(): StoreDatabases {
  const all: Database[] = [];
  const free: Database[] = [];
  return {
    take: async () => {
      let database = free.pop();
      if (database === undefined) {
        database = await freshStoreDatabase();
        all.push(database);
      }
      const taken = database;
      return {
        ...taken,
        [Symbol.asyncDispose]: async () => {
          await empty(taken);
          free.push(taken);
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      for (const database of all) await database[Symbol.asyncDispose]();
    },
  };
}

/** Deletes all rows and resets all sequences; partitions are kept. */
async function empty(database: Database): Promise<void> {
  const tables = await database.query(`
    select format('delete from %s', oid::regclass) as sql from pg_class
    where relnamespace = 'ringback'::regnamespace and relkind in ('r', 'p')
      and not relispartition and relname <> 'migration'`);
  const deletes = tables.map(({ sql }) => String(sql));
  // The deletes are unordered, so foreign keys must not be enforced.
  await database.query(['set session_replication_role = replica', ...deletes].join(';'));
  await database.query(`
    select setval(seqrelid::regclass, seqstart, false) from pg_sequence
    where seqrelid::regclass::text like 'ringback.%'`);
}
