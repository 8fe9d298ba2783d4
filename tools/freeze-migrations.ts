// The committed list of migrations and their hashes, in the format of `sha256sum`. A new migration
// adds a row; rows never change, because databases have recorded the hashes.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrationHash } from '../src/store/sql/migration-rules.ts';

const migrations = join(import.meta.dirname, '..', 'migrations');
export const frozenPath = join(migrations, 'SHA256SUMS');

/** The list including new migrations. Throws if a listed one was changed or is missing. */
export function frozenMigrations(folder = migrations): string {
  const path = join(folder, 'SHA256SUMS');
  const rows = new Map(existsSync(path) ? readRows(path) : []);
  for (const [file, hash] of rows) refuseChange(folder, file, hash);
  for (const kind of ['postgres', 'sqlite']) {
    for (const name of readdirSync(join(folder, kind))) {
      const file = `${kind}/${name}`;
      if (!rows.has(file)) rows.set(file, hashOf(folder, file));
    }
  }
  const sorted = [...rows].sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([file, hash]) => `${hash}  ${file}\n`).join('');
}

function refuseChange(folder: string, file: string, hash: string): void {
  const found = existsSync(join(folder, file)) ? hashOf(folder, file) : 'no file';
  if (found === hash) return;
  throw new Error(
    `Cannot change migration "${file}": found ${found}, expected ${hash}, as databases have recorded it; ` +
      'put the file back and write a new migration',
  );
}

function readRows(path: string): [file: string, hash: string][] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => [line.slice(66), line.slice(0, 64)]);
}

function hashOf(folder: string, file: string): string {
  return migrationHash(readFileSync(join(folder, file), 'utf8'));
}
