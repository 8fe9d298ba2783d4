// The dependencies of every engine verb. Made once, by service/open-context.ts.
import type { App } from '../core/domain/app.ts';
import type { KeyRing } from '../core/secrets/seal.ts';
import type { SubscriptionState } from '../core/domain/subscription.ts';
import type { Tracer } from '../core/telemetry/trace.ts';
import type { World } from '../core/base/world.ts';
import type { Guard } from '../egress/guard/guard.ts';
import type { Store } from '../store/port/store.ts';
import type { Changes } from './live/changes.ts';
import type { AppQuotas } from './admission/quotas.ts';

export interface Context {
  world: World;
  store: Store;
  guard: Guard;
  newId: () => string;
  /** The quotas of apps. */
  quotas: AppQuotas;
  /** Seals signing secrets at rest. */
  ring: KeyRing;
  /** Called when a subscription has changed, before the change is answered. */
  changed: (subscription: string, state: SubscriptionState) => void;
  /** Called when a subscription gets an expiry time. */
  expires: (atMs: number) => void;
  /** Called when a replay was started. */
  replayWaits: () => void;
  /** Change notifications for the live view. */
  changes: Changes;
  /** Collects spans; undefined if tracing is off. */
  tracer?: Tracer | undefined;
  /** The app that anonymous calls belong to, where a contract allows them. */
  defaultApp: App;
}
