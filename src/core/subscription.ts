// A subscription and its callbacks: what a subscribe call created, and the states it can be in.

export type SubscriptionState = 'active' | 'paused' | 'disabled' | 'ended';

export interface Callback {
  /** Place in the subscription, from 0; the callback's name in URLs and edits. */
  position: number;
  label: string;
  /** The event pattern it hears: a name, `*`, or a prefix ending in `.*`. */
  event: string;
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
  /** Rises with every change; an edit names the version it was made for. */
  version: number;
  createdMs: number;
  endedMs: number | undefined;
}
