// Copies the database as of one moment, while a service goes on writing. It takes no lock that the
// service needs, and gives the copy its name only once it is complete, checked and on the disk.
import { once } from 'node:events';
import { statSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { extname, dirname, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { limits } from '../../../core/limits/limits.ts';
import type { World } from '../../../core/base/world.ts';
import { integer, one } from '../../sql/row.ts';
import { healthSql } from '../../verbs/statistics/gauges.ts';
import { connect } from '../connection/connect.ts';

export interface BackupOptions {
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

/** What the thread replies: see backup-worker.ts. */
export type BackupReply = { kind: 'made'; backup: Backup } | { kind: 'refused'; message: string };

/**
 * Runs a backup on a thread of its own, so that progress can be reported: SQLite reports none while
 * it copies, but the size of the copy grows. Rejects with CannotBackUp.
 */
export async function backUpInThread({
  path,
  file,
  onProgress,
  world,
}: BackupOptions): Promise<Backup> {
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

export interface Backup {
  bytes: number;
  /** The last migration of the copy. */
  schema: number;
}

/** Why there is no backup, in words for the user who asked for it. */
export class CannotBackUp extends Error {
  override readonly name = 'CannotBackUp';
}

/** `path`: the database. `file`: the copy, which must not exist yet. */
export function backUp({ path, file }: { path: string; file: string }): Backup {
  if (existsSync(file))
    throw new CannotBackUp(`Cannot back up to "${file}": the file already exists`);
  const part = partOf(file);
  try {
    createPart(part);
  } catch (error) {
    throw new CannotBackUp(`Cannot back up to "${file}": ${reasonOf(error)}`, { cause: error });
  }
  try {
    copy(path, part);
    sync(part);
    const backup = { schema: check(part), bytes: statSync(part).size };
    renameSync(part, file);
    sync(dirname(part));
    return backup;
  } catch (error) {
    for (const left of [part, `${part}-journal`]) rmSync(left, { force: true });
    const message = `Cannot back up "${path}" to "${file}": ${reasonOf(error)}`;
    throw new CannotBackUp(message, { cause: error });
  }
}

/** The name of the copy until it is complete. */
export function partOf(file: string): string {
  return `${resolve(file)}.part`;
}

/** Only its owner may read it. Fails when another backup to the same place is running. */
function createPart(part: string): void {
  try {
    closeSync(openSync(part, 'wx', 0o600));
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!exists) throw error;
    const reason = `"${part}" exists: a backup is running, or one was interrupted`;
    throw new Error(`${reason}; wait for it to finish, or delete that file`, { cause: error });
  }
}

/**
 * Reads one snapshot in one statement: writers continue, and only their WAL grows meanwhile.
 * node:sqlite's backup() is no better: in one piece it delays writers as much, and in small pieces
 * it starts over at every write and never ends. This one also leaves out free pages.
 */
function copy(path: string, part: string): void {
  const db = connect({ path, access: 'read' });
  try {
    db.prepare('vacuum into ?').run(part);
  } finally {
    db.close();
  }
}

/** SQLite does not sync the copy. The folder must be synced too, to keep the file's name. */
function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Reads every page; returns the last migration. */
function check(part: string): number {
  const url = pathToFileURL(part);
  url.searchParams.set('immutable', '1'); // No other process has it open, so SQLite need not create a file beside it.
  const db = new DatabaseSync(url, { readOnly: true });
  try {
    const found = db.prepare('pragma quick_check(1)').get()?.['quick_check'];
    if (found !== 'ok') throw new Error(`the copy is damaged: ${String(found)}`);
    return integer(one(db.prepare(healthSql.schema).get()), 'schema');
  } finally {
    db.close();
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
