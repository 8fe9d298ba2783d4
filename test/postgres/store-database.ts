// A database with Ringback's schema: copied from a template, which is migrated once per server.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { realWorld } from '../../src/core/world.ts';
import { applyMigrations } from '../../src/store/postgres/apply-migrations.ts';
import { postgresMigrationsDir as migrationsDir } from '../../src/store/postgres/transport.ts';
import type { Database } from './database.ts';
import { ensureTemplate, freshDatabase } from './database.ts';

/** Has partitions from yesterday to a few days ahead. */
export async function freshStoreDatabase(): Promise<Database> {
  const hash = createHash('sha256');
  for (const file of readdirSync(migrationsDir).sort()) {
    hash.update(readFileSync(`${migrationsDir}/${file}`));
  }
  const day = Math.floor(realWorld().nowMs() / 86_400_000); // It has the partitions of its day.
  const template = `ringback_${day}_${hash.digest('hex').slice(0, 16)}`;
  await ensureTemplate(template, async (url) => {
    await applyMigrations({ url, migrationsDir, nowMs: realWorld().nowMs() });
  });
  return freshDatabase({ template });
}
