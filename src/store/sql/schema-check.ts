// Checks databases created before migrations were recorded with hashes. Their schema is compared
// with that of migration 18, the last one of that time: a table that differs would fail later, in
// the middle of a request.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../../core/base/package.ts';
import { CannotOpenStore } from '../port/cannot-open-store.ts';
import type { RecordedMigration } from './migrate.ts';

/** The last migration that a release applied without recording its hash. */
export const lastUnhashed = 18;

const missingShown = 5;

export interface FoundSchema {
  database: string;
  kind: 'sqlite' | 'postgres';
  /** Its tables and columns, one per line, as in `migrations/schema-0018-*.txt`. */
  columns: readonly string[];
}

/** Whether its schema must be compared now. An older database is migrated to 18 first. */
export function isUnhashed(applied: readonly RecordedMigration[]): boolean {
  return applied.length === lastUnhashed && applied.some(({ hash }) => hash === undefined);
}

/** Additional columns are allowed: an operator may have added something. */
export function refuseOtherSchema({ database, kind, columns }: FoundSchema): void {
  const found = new Set(columns);
  const missing = schemaColumns(kind).filter((line) => !found.has(line));
  if (missing.length === 0) return;
  const more = missing.length > missingShown ? `, and ${missing.length - missingShown} more` : '';
  throw new CannotOpenStore(
    'bad_migrations',
    `Cannot open "${database}": it is at migration ${lastUnhashed}, but lacks ` +
      `${missing.slice(0, missingShown).join(', ')}${more}. It was created by a development ` +
      'version whose migrations were changed later: restore a backup made by a release, or ' +
      'start with an empty database',
  );
}

/** The schema that migration 18 of a release creates. */
export function schemaColumns(kind: FoundSchema['kind']): string[] {
  const path = join(packageFolder, 'migrations', `schema-0018-${kind}.txt`);
  return readFileSync(path, 'utf8').trimEnd().split('\n');
}
