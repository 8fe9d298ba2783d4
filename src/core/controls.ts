// What a subscription may choose for itself, beyond who is called and when. Absent means: as the service
// is set. Kept as JSON in `subscription.settings`; what a claim or a search must see has a column.
import type { Filter } from './filter.ts';

export interface Controls {
  /** For people. */
  description: string | undefined;
  /** For programs: kept and shown, never read here. */
  metadata: Readonly<Record<string, string>> | undefined;
  /** Only events whose payload fits are delivered. */
  filter: Filter | undefined;
  /** Waits between the attempts of a delivery. */
  retryMs: readonly number[] | undefined;
  /** Of a whole attempt. */
  timeoutMs: number | undefined;
  /** Attempts under way at a time, per callback and node. */
  concurrency: number | undefined;
  /** Attempts a second over all its callbacks and all nodes. */
  ratePerSecond: number | undefined;
  /** One delivery after the other, in the order of their events. */
  ordered: boolean;
  /** When it ends by itself. */
  expiresMs: number | undefined;
}

export const noControls: Controls = {
  description: undefined,
  metadata: undefined,
  filter: undefined,
  retryMs: undefined,
  timeoutMs: undefined,
  concurrency: undefined,
  ratePerSecond: undefined,
  ordered: false,
  expiresMs: undefined,
};
