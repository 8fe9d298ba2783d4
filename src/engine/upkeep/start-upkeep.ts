// Starts the background work of a worker besides delivering: retention, expiry, replays and own
// events. Each part runs by itself and can be woken.
import type { World } from '../../core/base/world.ts';
import type { Store } from '../../store/port/store.ts';
import type { Changes } from '../live/changes.ts';
import { Expirer } from './expirer.ts';
import { SystemEvents } from './system-events.ts';
import { Retention, type Retained } from './retention.ts';
import { Replayer, type Done } from './replayer.ts';

export interface TendingDeps {
  world: World;
  store: Store;
  newId: () => string;
  changes: Changes;
  retentionMs: number;
  onRetained: (retained: Retained) => void;
  /** A subscription has reached its expiry time. */
  onExpired: (subscription: { appNo: number; id: string }) => void;
  onReplayed: (done: Done) => void;
  onError: (error: unknown, what: string) => void;
}

export interface Tending extends AsyncDisposable {
  /** A subscription has ended, and its pending deliveries can be cancelled. */
  ended(): void;
  /** A subscription expires at this time. */
  expires(atMs: number): void;
  /** A replay was started. */
  replayWaits(): void;
  /** A notice may have been written, from which a system event is published. */
  noticed(): void;
}

export function startTending(deps: TendingDeps): Tending {
  const { world, store, newId, changes, retentionMs, onError } = deps;
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
    retentionMs,
    onRetained: deps.onRetained,
    onEnded: () => {
      changes.missed();
      systemEvents.wake();
    },
    onError: (error) => onError(error, 'keeper'),
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
export const noTending: Tending = {
  ended: () => undefined,
  expires: () => undefined,
  replayWaits: () => undefined,
  noticed: () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
};
