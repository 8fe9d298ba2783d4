// `ringback backup FILE`: a copy of the SQLite database, also while the service is running.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { databaseIn } from '../store/open.ts';
import { backUp, CannotBackUp, type Backup } from '../store/sqlite/backup.ts';
import { CliFailure } from './failure.ts';
import { configOf, readFlags } from './flags.ts';
import type { Terminal } from './terminal.ts';

export const backupUsage = `  ringback backup FILE [--data ./data]               also while the service is running
`;

export async function backup(args: readonly string[], terminal: Terminal): Promise<void> {
  const { env, positionals } = readFlags(args, terminal.env, []);
  const [file, ...more] = positionals;
  if (file === undefined || file === '' || more.length > 0) {
    const found = file === undefined ? 'nothing' : `"${positionals.join(' ')}"`;
    throw new CliFailure(`Cannot back up: found ${found}, expected one FILE\n${backupUsage}`);
  }
  if ((env['DATABASE_URL'] ?? '') !== '') throw notOurs();
  const { database, encryptionKey } = configOf(env, terminal.err);
  if ('url' in database) throw notOurs();
  const path = databaseIn(database.dataDir);
  if (!existsSync(path)) {
    throw new CliFailure(`Cannot find "${path}": start the service once, or check --data`);
  }
  const beganMs = terminal.world.monotonicMs();
  const made = copy(path, file);
  const tookMs = terminal.world.monotonicMs() - beganMs;
  terminal.out(`Backed up "${path}" to "${file}": ${print(made, tookMs)}.\n`);
  const key =
    encryptionKey === undefined
      ? `"${join(database.dataDir, 'encryption.key')}"`
      : 'RINGBACK_ENCRYPTION_KEY';
  terminal.out(
    `The encryption key is not in it. Keep ${key} too, in another place: without it nobody can open ` +
      'the signing secrets in this backup, and Ringback does not start on it.\n',
  );
}

function notOurs(): CliFailure {
  return new CliFailure(
    'Cannot back up PostgreSQL: ringback backup copies a SQLite file. Use pg_dump, or continuous ' +
      'archiving for point-in-time recovery: see docs/operations.md',
  );
}

function copy(path: string, file: string): Backup {
  try {
    return backUp({ path, file });
  } catch (error) {
    if (error instanceof CannotBackUp) throw new CliFailure(error.message, { cause: error });
    throw error;
  }
}

function print({ bytes, schema }: Backup, tookMs: number): string {
  const size = `${(bytes / 1_000_000).toFixed(1)} MB in ${(tookMs / 1000).toFixed(1)} s`;
  return `${size}, at migration ${schema}, checked`;
}
