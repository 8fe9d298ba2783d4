// What every verb of the engine works with. Made once, by app.ts.
import type { App } from '../core/app.ts';
import type { KeyRing } from '../core/seal.ts';
import type { SubscriptionState } from '../core/subscription.ts';
import type { Tracer } from '../core/trace.ts';
import type { World } from '../core/world.ts';
import type { Guard } from '../egress/guard.ts';
import type { Store } from '../store/store.ts';
import type { Changes } from './changes.ts';
import type { AppQuotas } from './quotas.ts';

export interface Context {
  world: World;
  store: Store;
  guard: Guard;
  newId: () => string;
  /** What apps may use. */
  quotas: AppQuotas;
  /** Seals signing secrets at rest. */
  ring: KeyRing;
  /** Told when a subscription changed, before the change is answered. */
  changed: (subscription: string, state: SubscriptionState) => void;
  /** Told when a subscription will end by itself. */
  expires: (atMs: number) => void;
  /** Told when a replay was started. */
  replayWaits: () => void;
  /** Told of whatever happens, for those who watch. */
  changes: Changes;
  /** Collects spans; undefined: nobody asked for them. */
  tracer?: Tracer | undefined;
  /** The app that anonymous calls belong to, where a contract allows them. */
  defaultApp: App;
}
