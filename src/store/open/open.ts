// Opens a store: SQLite in a folder, served by threads; SQLite in memory, for tests; or PostgreSQL,
// which other nodes may share. An adapter is loaded only when it is used: for a file, by its
// threads.
import { join } from 'node:path';
import { packageFolder } from '../../core/base/package.ts';
import type { World } from '../../core/base/world.ts';
import { limits } from '../../core/limits/limits.ts';
import { sendEachTurn, sendWhenQuiet } from '../../core/load/batch-pacer.ts';
import type { BatchFacts } from '../batch/batch-cycle.ts';
import { createBatcher, type BatcherOptions } from '../batch/batcher.ts';
import type { QueueLimits } from '../batch/edit-queue.ts';
import {
  toError,
  unreachable,
  editCall,
  editOutput,
  readCall,
  readOutput,
  type ReadReply,
  type Transport,
} from '../port/transport-protocol.ts';
import { CannotOpenStore, type ReadOutput, type ReadVerb, type Store } from '../port/store.ts';
import { makeLastingFolder } from '../sqlite/connection/sync-folder.ts';
import { startThreads, type StartedThreads } from '../sqlite/thread/thread.ts';

/** Where the data is stored. */
export type Database =
  /** SQLite: the folder of the file, created when missing; or ':memory:', gone when closed. */
  | { dataDir: string }
  /** PostgreSQL. Contains a password: never show or log it. */
  | { url: string };

export interface StoreDeps {
  world: World;
  /** Nothing more can be written and the state of the disk is unknown: end the process. */
  onFatal: (error: Error) => void;
  /** Called for every batch. */
  onBatch?: (batch: BatchFacts) => void;
}

/** Rejects with CannotOpenStore, whose message is for the user who starts Ringback. */
export type OpenStore = (options: Database & StoreDeps) => Promise<Store>;

export const openStore: OpenStore = async (options) => openBy(startThreads, options);

export interface PreparedStore extends AsyncDisposable {
  /** Call once, for the database that was prepared. */
  open: OpenStore;
}

/** Speeds up a start: threads load their code while the caller loads its own. Opens nothing yet. */
export function prepareStore(database: Database): PreparedStore {
  if ('url' in database || database.dataDir === inMemory) {
    return { open: openStore, [Symbol.asyncDispose]: async () => undefined };
  }
  const threads = startThreads();
  return {
    open: async (options) => openBy(() => threads, options),
    [Symbol.asyncDispose]: async () => threads[Symbol.asyncDispose](),
  };
}

const inMemory = ':memory:';

async function openBy(
  threads: () => StartedThreads,
  { world, onFatal, onBatch = () => undefined, ...database }: Database & StoreDeps,
): Promise<Store> {
  return 'url' in database
    ? openCluster({ ...database, world, onBatch })
    : openEmbedded({ ...database, world, onFatal, onBatch }, threads);
}

export type EmbeddedOptions = { dataDir: string; world: StoreClock } & Pick<
  StoreDeps,
  'onFatal' | 'onBatch'
>;

/** The duration of a batch is measured if the world has a monotonic clock. */
type StoreClock = Pick<World, 'nowMs'> & Partial<Pick<World, 'monotonicMs'>>;

export async function openEmbedded(
  { dataDir, world, onFatal, onBatch }: EmbeddedOptions,
  threads: () => StartedThreads = startThreads,
): Promise<Store> {
  const options = { migrationsDir, nowMs: world.nowMs() };
  if (dataDir === inMemory) {
    const { openSqlite, inProcess } = await import('../sqlite/batch/adapter.ts');
    const sqlite = openSqlite({ path: dataDir, ...options });
    return storeOver(inProcess(sqlite, { onFatal }), world, { onBatch });
  }
  const path = databaseIn(dataDir);
  makeFolder(dataDir);
  const transport = await threads().open({ path, onFatal, ...options });
  return storeOver(transport, world, { pacer: sendEachTurn(), onBatch });
}

export interface ClusterOptions {
  url: string;
  world: World;
  /** For tests that control the clock themselves; see PostgresOptions. */
  clock?: 'database' | 'given';
  lingerMs?: { least: number; most: number };
  onBatch?: (batch: BatchFacts) => void;
}

export async function openCluster({ onBatch, ...options }: ClusterOptions): Promise<Store> {
  const notified: { by: (() => void) | undefined } = { by: undefined };
  const onNotified = (): void => notified.by?.();
  const { openPostgres } = await import('../postgres/batch/adapter.ts');
  const transport = await openPostgres({ ...options, onNotified });
  // The engine uses the clock that all nodes share, and times are written as given: by this
  // machine's own clock, a retry would be off by the difference.
  const world = { ...options.world, nowMs: () => transport.nowMs() };
  const store = storeOver(transport, world, { kinds: 'apart', pacer: sendWhenQuiet(), onBatch });
  return {
    ...store,
    pollMs: limits.databasePollMs,
    isShared: true,
    edit: async (verb, input, queued) => {
      const call = editCall(verb, input);
      if (call.verb !== 'retain') return store.edit(verb, input, queued);
      return editOutput(verb, await transport.retain(call.input));
    },
    attach: (worker) => {
      store.attach(worker);
      notified.by = () => worker.wake();
    },
  };
}

interface BatchOptions extends Pick<QueueLimits, 'kinds'>, Pick<BatcherOptions, 'pacer'> {
  onBatch?: StoreDeps['onBatch'] | undefined;
}

/** The Store port on top of any transport. */
export function storeOver(
  transport: Transport,
  world: StoreClock,
  { kinds = 'together', pacer, onBatch = () => undefined }: BatchOptions = {},
): Store {
  const nowMs = (): number => world.nowMs();
  const monotonicMs = (): number => world.monotonicMs?.() ?? 0;
  const batcher = createBatcher(transport, {
    ...limits,
    kinds,
    nowMs,
    monotonicMs,
    pacer,
    onBatch,
  });
  return {
    ...batcher,
    pollMs: limits.claimEveryMs,
    isShared: false,
    nowMs: () => world.nowMs(),
    read: async (verb, input) => outputOf(verb, transport.read(readCall(verb, input))),
  };
}

export const migrationsDir = join(packageFolder, 'migrations', 'sqlite');

/** The database file of a data folder. */
export function databaseIn(dataDir: string): string {
  return join(dataDir, 'ringback.db');
}

export function makeFolder(dataDir: string): void {
  try {
    makeLastingFolder(dataDir);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `Cannot create the data folder "${dataDir}": ${reason}`;
    throw new CannotOpenStore('failed', message, { cause: error });
  }
}

async function outputOf<V extends ReadVerb>(
  verb: V,
  asked: Promise<ReadReply>,
): Promise<ReadOutput<V>> {
  const reply = await asked.catch((error: unknown) => {
    throw unreachable(error);
  });
  if (reply.kind !== 'done') throw toError(reply);
  return readOutput(verb, reply.output);
}
