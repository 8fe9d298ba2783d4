// `ringback backup FILE`: copies the SQLite database, even while the service is running.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../core/limits/limits.ts';
import { databaseIn } from '../../store/open/open.ts';
import { CannotBackUp, type Backup, backUpInThread } from '../../store/sqlite/backup/backup.ts';
import type { Invocation } from '../declare/command.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import { configOf } from '../declare/flags.ts';
import { filled, painter } from '../terminal/text.ts';
import { startProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

export async function backup(call: Invocation, terminal: Terminal): Promise<void> {
  const { env, positionals, isJson } = call;
  const [file, ...more] = positionals;
  if (file === undefined || file === '' || more.length > 0) {
    const found = file === undefined ? 'nothing' : `"${positionals.join(' ')}"`;
    throw calledWrongly(`Cannot back up: found ${found}, expected one FILE`);
  }
  if ((env['DATABASE_URL'] ?? '') !== '') throw notOurs();
  const { database, encryptionKey } = configOf(call, terminal.err);
  if ('url' in database) throw notOurs();
  const path = databaseIn(database.dataDir);
  if (!existsSync(path)) {
    throw new CliFailure(
      `Cannot find "${path}": no database there. Start the service once to create it, or ` +
        'check --data',
    );
  }
  const beganMs = terminal.world.monotonicMs();
  const made = await copy(path, file, terminal);
  const tookMs = terminal.world.monotonicMs() - beganMs;
  const keyFile = join(database.dataDir, 'encryption.key');
  const key = encryptionKey === undefined ? keyFile : undefined;
  const done = { path, file, made, tookMs, key };
  terminal.out(isJson ? asJson(done) : asText(done, terminal));
}

function notOurs(): CliFailure {
  return new CliFailure(
    'Cannot back up PostgreSQL: ringback backup copies a SQLite file. Use pg_dump, or ' +
      'continuous archiving for point-in-time recovery; see docs/operations.md',
  );
}

async function copy(path: string, file: string, terminal: Terminal): Promise<Backup> {
  using progress = startProgress('MB copied', terminal);
  try {
    return await backUpInThread({
      path,
      file,
      world: terminal.world,
      onProgress: ({ bytes, bytesTotal }) => {
        if (bytesTotal < limits.backupShownBytes) return;
        const isCopied = bytes >= bytesTotal && bytes > 0;
        const step = { done: megabytes(bytes), total: megabytes(bytesTotal) };
        progress.show(isCopied ? { ...step, note: 'verifying the copy' } : step);
      },
    });
  } catch (error) {
    if (error instanceof CannotBackUp) throw new CliFailure(error.message, { cause: error });
    throw error;
  }
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}

interface Done {
  path: string;
  file: string;
  made: Backup;
  tookMs: number;
  /** Undefined: the key comes from the environment. */
  key: string | undefined;
}

function asJson({ path, file, made, tookMs, key }: Done): string {
  const { bytes, schema: migration } = made;
  const encryptionKeyFile = key ?? null;
  const all = {
    source: path,
    file,
    bytes,
    migration,
    tookMs: Math.round(tookMs),
    encryptionKeyFile,
  };
  return `${JSON.stringify(all)}\n`;
}

function asText({ path, file, made, tookMs, key }: Done, terminal: Terminal): string {
  const { bytes, schema } = made;
  const size = `${(bytes / 1_000_000).toFixed(1)} MB in ${(tookMs / 1000).toFixed(1)} s`;
  const kept = key === undefined ? 'RINGBACK_ENCRYPTION_KEY' : `"${key}"`;
  const text =
    `Backed up "${path}" to "${file}": ${size}, at migration ${schema}, verified.\n` +
    `The backup does not contain the encryption key. Store ${kept} separately: without ` +
    'it, Ringback does not start on this backup and the signing secrets in it cannot be ' +
    'decrypted.\n';
  return filled(text, terminal.width()).replace(
    'Backed up',
    painter(terminal)('green', 'Backed up'),
  );
}
