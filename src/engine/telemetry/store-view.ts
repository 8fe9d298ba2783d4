// What a scrape needs from the store: read at most once a second for all scrapers, and given up
// after a deadline. At most one read is in flight.
import type { World } from '../../core/base/world.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Deadlines } from '../../egress/http/deadlines.ts';
import type { Database } from '../../store/open/open.ts';
import type { Node } from '../../store/port/node-verbs.ts';
import type { Gauges } from '../../store/port/statistics-verbs.ts';
import type { Store } from '../../store/port/store.ts';
import { createLaneScanner, type LaneScan } from '../upkeep/lane-scan.ts';
import { diskOf, type Disk } from './disk.ts';

export interface StoreView {
  gauges: Gauges;
  nodes: readonly Node[];
  /** Undefined until the first scan is complete, which takes a while with very many lanes. */
  laneScan: LaneScan | undefined;
  disk: Disk | undefined;
  /** When it was read, by the store's clock. */
  nowMs: number;
}

export interface StoreWatch {
  /** Undefined: the store does not answer. Never rejects, and is bounded in time. */
  look(): Promise<StoreView | undefined>;
}

export interface WatchDeps {
  world: Pick<World, 'monotonicMs'>;
  store: Pick<Store, 'read' | 'nowMs'>;
  deadlines: Deadlines;
  database: Database;
  onError: (error: unknown) => void;
}

export function createStoreWatch(deps: WatchDeps): StoreWatch {
  const { world, store, deadlines, database, onError } = deps;
  const censor = createLaneScanner(deps);
  let seen: { view: StoreView; untilMs: number } | undefined;
  let inFlight: Promise<StoreView | undefined> | undefined;

  const laneScan = async (): Promise<LaneScan | undefined> => {
    const taken = censor.take();
    const last = censor.last();
    if (last === undefined) return taken;
    return within(deadlines, limits.laneScanAnswerMs, taken).then((now) => now ?? last);
  };
  const ask = async (): Promise<StoreView | undefined> => {
    try {
      const nowMs = store.nowMs();
      const [gauges, nodes, disk] = await Promise.all([
        store.read('gauges', {}),
        store.read('nodes', {}),
        diskOf(database),
      ]);
      const counted = await within(deadlines, limits.scrapeAnswerMs / 2, laneScan());
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
    look: async () => {
      if (seen !== undefined && world.monotonicMs() < seen.untilMs) return seen.view;
      inFlight ??= ask();
      return within(deadlines, limits.scrapeAnswerMs, inFlight);
    },
  };
}

/** The result, if it arrives in time; undefined otherwise. */
async function within<T>(
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
