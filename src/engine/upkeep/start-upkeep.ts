// Starts the background work of a worker besides delivering: retention, expiry, replays and own
// events. Each part runs by itself and can be woken.
import type { World } from '../../core/base/world.ts';
import type { FinalCallback } from '../../store/port/delivery-verbs.ts';
import type { Store } from '../../store/port/store.ts';
import type { Changes } from '../live/changes.ts';
import { Expirer } from './expirer.ts';
import { SystemEvents } from './system-events.ts';
import { Retention, type RetentionCounts } from './retention.ts';
import { Replayer, type FinishedReplay } from './replayer.ts';

export interface UpkeepDeps {
  world: World;
  store: Store;
  newId: () => string;
  changes: Changes;
  retentionMs: number;
  auditRetentionMs: number;
  /** The final callbacks of all contracts. */
  finals: readonly FinalCallback[];
  /** A subscription has ended, because its final delivery has expired. */
  onFinal: (subscription: { appNo: number; id: string }) => void;
  onRetained: (retained: RetentionCounts) => void;
  /** A subscription has reached its expiry time. */
  onExpired: (subscription: { appNo: number; id: string }) => void;
  onReplayed: (done: FinishedReplay) => void;
  onError: (error: unknown, what: string) => void;
}

export interface Upkeep extends AsyncDisposable {
  /** A subscription has ended, and its pending deliveries can be cancelled. */
  ended(): void;
  /** A subscription expires at this time. */
  expires(atMs: number): void;
  /** A replay was started. */
  replayWaits(): void;
  /** A notice may have been written, from which a system event is published. */
  noticed(): void;
}

export function startUpkeep(deps: UpkeepDeps): Upkeep {
  const { world, store, newId, changes, finals, onFinal, onError } = deps;
  const systemEvents = new SystemEvents({
    world,
    store,
    newId,
    changes,
    onError: (error) => onError(error, 'own events postponed'),
  });
  const retention = new Retention({
    world,
    store,
    retentionMs: deps.retentionMs,
    auditRetentionMs: deps.auditRetentionMs,
    finals,
    onFinal,
    onRetained: deps.onRetained,
    onEnded: () => {
      changes.missed();
      systemEvents.wake();
    },
    onError: (error) => onError(error, 'retention postponed'),
  });
  const replayer = new Replayer({
    world,
    store,
    changes,
    onDone: deps.onReplayed,
    onError: (error) => onError(error, 'replay postponed'),
  });
  const expirer = new Expirer({
    world,
    store,
    onExpired: deps.onExpired,
    onError: (error) => onError(error, 'expiry postponed'),
  });
  return {
    ended: () => retention.wake(),
    expires: (atMs) => expirer.expires(atMs),
    replayWaits: () => replayer.wake(),
    noticed: () => systemEvents.wake(),
    [Symbol.asyncDispose]: async () => {
      await expirer[Symbol.asyncDispose]();
      await replayer[Symbol.asyncDispose]();
      await retention[Symbol.asyncDispose]();
      await systemEvents[Symbol.asyncDispose]();
    },
  };
}

/** For nodes that only serve requests. */
export const noUpkeep: Upkeep = {
  ended: () => undefined,
  expires: () => undefined,
  replayWaits: () => undefined,
  noticed: () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
};
