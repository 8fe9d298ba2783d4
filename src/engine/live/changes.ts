// Change notifications of the engine for the live view: names and counts, never contents. They must
// cost next to nothing while no client watches.
import type { DeliveryName } from '../../core/domain/delivery.ts';
import type { Accepted, Settlement } from '../../store/port/delivery-verbs.ts';

export interface Changes {
  published(appNo: number, events: readonly Accepted[]): void;
  /** A delivery has started an attempt, or is due again. */
  moved(appNo: number, name: DeliveryName): void;
  /** The outcome of an attempt was committed. */
  settled(appNo: number, name: DeliveryName, kind: Settlement['outcome']['kind']): void;
  /** A subscription was created, edited or ended; its bare id. */
  subscription(appNo: number, id: string): void;
  /** A replay has advanced; its bare id. */
  replay(appNo: number, id: string): void;
  /** Deliveries have changed whose names are unknown, in any app. */
  missed(): void;
}

/** For callers without a live view. */
export const noChanges: Changes = {
  published: () => undefined,
  moved: () => undefined,
  settled: () => undefined,
  subscription: () => undefined,
  replay: () => undefined,
  missed: () => undefined,
};
