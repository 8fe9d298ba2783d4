// The account that runs PostgreSQL. It refuses to run as root, so root uses the account `nobody`, which
// every system has: no account is created, and nothing is left behind.
import { execFileSync, spawnSync } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { chownSync } from 'node:fs';
import { join } from 'node:path';

export interface Account {
  uid?: number;
  gid?: number;
}

/** Returns an account that may run PostgreSQL, and makes it the owner of the folder. */
export function accountFor(folder: string): Account {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'nobody'])));
  if (uid === undefined || gid === undefined) return {};
  chownSync(folder, uid, gid);
  return { uid, gid };
}

/** `nobody` cannot read a checkout under /root; then the programs (60 MB) are copied to the folder. */
export async function reachable(native: string, account: Account, folder: string): Promise<string> {
  const postgres = join(native, 'bin', 'postgres');
  const { error } = spawnSync(postgres, ['--version'], { ...account, cwd: folder });
  if (!(error !== undefined && 'code' in error && error.code === 'EACCES')) return native;
  const copy = join(folder, 'native');
  await cp(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}
