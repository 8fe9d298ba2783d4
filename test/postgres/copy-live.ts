// A copy of a PostgreSQL cluster that is at work, as `pg_basebackup` makes it: the packages that bring the
// server to the tests leave that program out. The copy has no log of its own: it must follow the original.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';

export interface LiveCopy {
  /** Of the server that works on `from`. */
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
    await chown(label, uid, gid); // The server renames it, and syncs it before: it must be its own.
  } finally {
    await client.end();
  }
  await rm(join(to, 'postmaster.pid'), { force: true });
  await rm(join(to, 'standby.signal'), { force: true });
  // What the server wrote while it was copied is torn: the log comes from the original.
  const log = join(to, 'pg_wal');
  for (const name of await readdir(log)) await rm(join(log, name), { recursive: true });
}

/** With its owners and rights. Files that vanish meanwhile are of no account: the log tells of them. */
async function copyFolder(from: string, to: string): Promise<void> {
  const child = spawn('cp', ['-a', from, to], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(child, 'close');
  const wrong = said.split('\n').filter((line) => !/^$|No such file or directory/.test(line));
  if (wrong.length > 0) throw new Error(`Cannot copy "${from}": ${wrong.join('; ')}`);
}
