// A database with our schema for one test, copied from one that was migrated once.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { applyMigrations } from '../../src/store/postgres/apply-migrations.ts';
import { ensureTemplate, freshDatabase, type Database } from '../postgres/database.ts';

export const migrationsDir = join(import.meta.dirname, '..', '..', 'migrations', 'postgres');

/** Has partitions from yesterday to three days ahead. */
export async function migratedDatabase(): Promise<Database> {
  const nowMs = Date.now();
  const template = `ringback_template_${hashOf(migrationsDir)}_${Math.floor(nowMs / 86_400_000)}`;
  await ensureTemplate(template, async (url) => {
    await applyMigrations({ url, migrationsDir, nowMs });
  });
  return freshDatabase({ template });
}

function hashOf(dir: string): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(dir).sort()) hash.update(readFileSync(join(dir, file)));
  return hash.digest('hex').slice(0, 12);
}
