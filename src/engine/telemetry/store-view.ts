// What a scrape needs from the store: read at most once a second for all scrapers, and given up
// after a deadline. At most one read is in flight.
import { stat, statfs } from 'node:fs/promises';
import type { World } from '../../core/base/world.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Deadlines } from '../../egress/http/deadlines.ts';
import { databaseIn, type Database } from '../../store/open/open.ts';
import type { Node } from '../../store/port/node-verbs.ts';
import type { Gauges } from '../../store/port/statistics-verbs.ts';
import type { Store } from '../../store/port/store.ts';
import { createLaneScanner, type LaneScan } from '../upkeep/lane-scan.ts';

export interface StoreView {
  gauges: Gauges;
  nodes: readonly Node[];
  /** Undefined until the first scan is complete, which takes a while with very many lanes. */
  laneScan: LaneScan | undefined;
  disk: DiskUsage | undefined;
  /** When it was read, by the store's clock. */
  nowMs: number;
}

/** Free space of the data folder and size of the database. */
export interface DiskUsage {
  freeBytes: number;
  totalBytes: number;
  /** The database and its write-ahead log. */
  usedBytes: number;
}

export interface StoreViewReader {
  /** Undefined: the store does not answer. Never rejects, and is bounded in time. */
  read(): Promise<StoreView | undefined>;
}

export interface StoreViewDeps {
  world: Pick<World, 'monotonicMs'>;
  store: Pick<Store, 'read' | 'nowMs'>;
  deadlines: Deadlines;
  database: Database;
  onError: (error: unknown) => void;
}

export function createStoreViewReader(deps: StoreViewDeps): StoreViewReader {
  const { world, store, deadlines, database, onError } = deps;
  const censor = createLaneScanner(deps);
  let seen: { view: StoreView; untilMs: number } | undefined;
  let inFlight: Promise<StoreView | undefined> | undefined;

  const laneScan = async (): Promise<LaneScan | undefined> => {
    const taken = censor.take();
    const last = censor.last();
    if (last === undefined) return taken;
    return orLate(deadlines, limits.laneScanAnswerMs, taken).then((now) => now ?? last);
  };
  const ask = async (): Promise<StoreView | undefined> => {
    try {
      const nowMs = store.nowMs();
      const [gauges, nodes, disk] = await Promise.all([
        store.read('gauges', {}),
        store.read('nodes', {}),
        readDiskUsage(database),
      ]);
      const counted = await orLate(deadlines, limits.scrapeAnswerMs / 2, laneScan());
      const view = { gauges, nodes, disk, laneScan: counted, nowMs };
      seen = { view, untilMs: world.monotonicMs() + limits.scrapeKeepMs };
      return view;
    } catch (error) {
      onError(error);
      return undefined;
    } finally {
      inFlight = undefined;
    }
  };

  return {
    read: async () => {
      if (seen !== undefined && world.monotonicMs() < seen.untilMs) return seen.view;
      inFlight ??= ask();
      return orLate(deadlines, limits.scrapeAnswerMs, inFlight);
    },
  };
}

/** The result, if it arrives in time; undefined otherwise. */
async function orLate<T>(
  deadlines: Deadlines,
  ms: number,
  promised: Promise<T>,
): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const deadline = deadlines.set(ms, { expire: () => late.resolve(undefined) });
  promised.catch(() => undefined); // Handled below, or too late to matter.
  try {
    return await Promise.race([promised, late.promise]);
  } finally {
    deadlines.clear(deadline);
  }
}

/** Undefined without a data folder. */
async function readDiskUsage(database: Database): Promise<DiskUsage | undefined> {
  if ('url' in database || database.dataDir === ':memory:') return undefined;
  return readFolder(database.dataDir);
}

async function readFolder(dataDir: string): Promise<DiskUsage> {
  const path = databaseIn(dataDir);
  const [{ bsize, bavail, blocks }, ...sizes] = await Promise.all([
    statfs(dataDir),
    sizeOf(path),
    sizeOf(`${path}-wal`),
  ]);
  const usedBytes = sizes.reduce((sum, size) => sum + size, 0);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, usedBytes };
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0, // The file does not exist.
  );
}
