// Copies a running PostgreSQL cluster like `pg_basebackup`, which the packages with the test server do not contain.
// The copy has no WAL of its own, so it must follow the original.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';

export interface LiveCopy {
  /** The URL of the server that runs on `from`. */
  url: string;
  from: string;
  to: string;
}

export async function copyLive({ url, from, to }: LiveCopy): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('copy', fast => true)");
    await copyFolder(from, to);
    const stop = 'select labelfile from pg_backup_stop(wait_for_archive => false)';
    const { rows } = await client.query<{ labelfile: string }>(stop);
    const label = join(to, 'backup_label');
    await writeFile(label, rows[0]?.labelfile ?? '');
    const { uid, gid } = await stat(to);
    await chown(label, uid, gid); // The server must own the file, because it syncs and renames it.
  } finally {
    await client.end();
  }
  await rm(join(to, 'postmaster.pid'), { force: true });
  await rm(join(to, 'standby.signal'), { force: true });
  // Files written during the copy may be torn, so the WAL comes from the original.
  const log = join(to, 'pg_wal');
  for (const name of await readdir(log)) await rm(join(log, name), { recursive: true });
}

/** Keeps owners and permissions. Files that vanish meanwhile do not matter, because the WAL covers them. */
async function copyFolder(from: string, to: string): Promise<void> {
  const child = spawn('cp', ['-a', from, to], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(child, 'close');
  const wrong = said.split('\n').filter((line) => !/^$|No such file or directory/.test(line));
  if (wrong.length > 0) throw new Error(`Cannot copy "${from}": ${wrong.join('; ')}`);
}
