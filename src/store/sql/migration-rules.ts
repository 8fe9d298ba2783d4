// Migrations: numbered .sql files, applied in order, each once, never edited. This file decides
// which ones are pending; the adapters run them, each in its own transaction.
import { hash as digest } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CannotOpenStore } from '../port/store.ts';
import { packageFolder } from '../../core/base/package.ts';

export interface Migration {
  number: number;
  name: string;
  sql: string;
}

export type AppliedMigration = Pick<Migration, 'number' | 'name'>;

/** What the database records of a migration. */
export interface RecordedMigration extends AppliedMigration {
  /**
   * Hash of its file when it was applied; undefined: applied by a version that did not record it.
   */
  hash?: string | undefined;
}

export interface MigrationState {
  /** The database's name in messages. */
  database: string;
  /** All migrations of this program, and those that the database has had, by number. */
  known: readonly Migration[];
  applied: readonly RecordedMigration[];
}

/**
 * The migrations that the database still needs, in order. Refuses a database with an unknown
 * history.
 */
export function dueMigrations({ database, known, applied }: MigrationState): Migration[] {
  refuseGaps('the program', known);
  refuseGaps(`"${database}"`, applied);
  if (applied.length > known.length) {
    throw new CannotOpenStore(
      'newer_schema',
      `Cannot open "${database}": it is at migration ${applied.length}, and this program ` +
        `knows migrations up to ${known.length}. Start the newer Ringback that wrote it`,
    );
  }
  for (const [index, found] of applied.entries()) refuseOther(database, found, known[index]);
  return known.slice(applied.length);
}

/** The hash of a migration's file, independent of line endings. */
export function migrationHash(sql: string): string {
  return digest('sha256', sql.replaceAll('\r\n', '\n'));
}

/**
 * A migration that was changed after it was applied created other tables than this program expects.
 */
function refuseOther(database: string, found: RecordedMigration, known?: Migration): void {
  const { number, name } = found;
  if (name !== known?.name) {
    throw badMigrations(
      `number ${number} of "${database}" is "${name}", expected "${known?.name}"`,
    );
  }
  const expected = migrationHash(known.sql);
  if (found.hash === undefined || found.hash === expected) return;
  throw new CannotOpenStore(
    'bad_migrations',
    `Cannot open "${database}": migration ${number} "${name}" was applied with hash ` +
      `${shortened(found.hash)}, but this program has it with ${shortened(expected)}: the ` +
      'file was changed in between. Start the Ringback that applied it, restore a backup of ' +
      'this version, or, if you edited the file, revert the edit',
  );
}

function shortened(text: string): string {
  return text.slice(0, 12);
}

/** Reads `0001_init.sql`, `0002_…` from a folder, in the order of their numbers. */
export function readMigrations(dir: string): Migration[] {
  return readdirSync(dir)
    .sort()
    .map((file) => {
      const [, digits = '', name = ''] = fileShape.exec(file) ?? [];
      if (name === '')
        throw badMigrations(`found file "${file}", expected a name like 0001_init.sql`);
      return { number: Number(digits), name, sql: readFileSync(join(dir, file), 'utf8') };
    });
}

const fileShape = /^(\d{4})_([a-z][a-z0-9_]*)\.sql$/;

function refuseGaps(owner: string, list: readonly AppliedMigration[]): void {
  for (const [index, { number }] of list.entries()) {
    if (number !== index + 1) {
      throw badMigrations(`${owner} has number ${number} at place ${index + 1}, expected no gaps`);
    }
  }
}

function badMigrations(what: string): CannotOpenStore {
  return new CannotOpenStore('bad_migrations', `Cannot apply migrations: ${what}`);
}

// Checks databases created before migrations were recorded with hashes. Their schema is compared
// with that of migration 18, the last one of that time: a table that differs would fail later, in
// the middle of a request.

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
  return applied.length === lastUnhashed && applied.some((one) => one.hash === undefined);
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
