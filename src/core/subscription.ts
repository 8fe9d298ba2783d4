// A subscription and its callbacks: what a subscribe call created, and the states it can be in.
import type { Controls } from './controls.ts';

export type SubscriptionState = 'active' | 'paused' | 'disabled' | 'ended';

export interface Callback {
  /** Place in the subscription, from 0; the callback's name in URLs and edits. */
  position: number;
  label: string;
  /** The event patterns it hears, at least one: a name, `*`, or a prefix ending in `.*`. */
  events: readonly string[];
  /** Which callback of the contract it came from: see CallbackDefinition.id. */
  definition: string;
  method: string;
  /** May hold the placeholder `{eventType}`, filled per delivery. Empty while inactive. */
  url: string;
  /** Why nothing is sent there: its target could not be made from the subscribe request. */
  inactive: string | undefined;
}

export interface Subscription {
  id: string;
  appNo: number;
  contract: string;
  operation: string;
  state: SubscriptionState;
  callbacks: readonly Callback[];
  /** Signing secrets, sealed (seal.ts). */
  secrets: Uint8Array;
  controls: Controls;
  /** What its callbacks carry besides ours, sealed. */
  headers: Uint8Array | undefined;
  /** Rises with every change; an edit names the version it was made for. */
  version: number;
  createdMs: number;
  endedMs: number | undefined;
}
