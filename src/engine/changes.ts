// What the engine tells of as it happens, for whoever watches: names and counts, never contents. Telling
// must cost next to nothing while nobody watches.
import type { DeliveryName } from '../core/delivery.ts';
import type { Accepted, Settlement } from '../store/delivery-verbs.ts';

export interface Changes {
  published(appNo: number, events: readonly Accepted[]): void;
  /** A delivery changed: it has started, or is due again. */
  moved(appNo: number, name: DeliveryName): void;
  /** What an attempt led to is written down. */
  settled(appNo: number, name: DeliveryName, kind: Settlement['outcome']['kind']): void;
  /** Created, edited or ended; by its bare id. */
  subscription(appNo: number, id: string): void;
  /** A replay has come further; by its bare id. */
  replay(appNo: number, id: string): void;
  /** Something changed that nobody can name, in whatever app. */
  missed(): void;
}

/** For whoever has nobody to tell. */
export const noChanges: Changes = {
  published: () => undefined,
  moved: () => undefined,
  settled: () => undefined,
  subscription: () => undefined,
  replay: () => undefined,
  missed: () => undefined,
};
