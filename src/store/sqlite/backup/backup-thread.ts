// Runs a backup on a thread of its own, so that progress can be reported: SQLite reports none while
// it copies, but the size of the copy grows.
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { limits } from '../../../core/limits/limits.ts';
import type { World } from '../../../core/base/world.ts';
import { CannotBackUp, partOf, type Backup } from './backup.ts';
import type { BackupReply } from './backup-worker.ts';

export interface BackupWish {
  /** The database. */
  path: string;
  /** The copy, which must not exist yet. */
  file: string;
  /**
   * Called from time to time. The copy may end smaller than the database, since free pages are left
   * out.
   */
  onProgress: (progress: { bytes: number; bytesTotal: number }) => void;
  world: Pick<World, 'sleep'>;
}

/** Rejects with CannotBackUp. */
export async function backUpInThread({
  path,
  file,
  onProgress,
  world,
}: BackupWish): Promise<Backup> {
  const entry = new URL(`./backup-worker${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(entry, { workerData: { path, file }, name: 'backup' });
  const ended = new AbortController();
  const watched = watch(ended.signal, world, () => {
    onProgress({ bytes: sizeOf(partOf(file)), bytesTotal: sizeOf(path) });
  });
  try {
    const reply = await answerOf(worker);
    if (reply.kind === 'refused') throw new CannotBackUp(reply.message);
    return reply.backup;
  } finally {
    ended.abort();
    await watched;
    await worker.terminate();
  }
}

/** Rejects with the error that ended the thread. */
async function answerOf(worker: Worker): Promise<BackupReply> {
  const [reply] = await once(worker, 'message');
  return reply;
}

async function watch(
  ended: AbortSignal,
  world: Pick<World, 'sleep'>,
  look: () => void,
): Promise<void> {
  while (!ended.aborted) {
    look();
    await world.sleep(limits.progressEveryMs, ended).catch(() => undefined);
  }
}

/** 0 while the file does not exist yet, or was already renamed. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
