// A subscription and its callbacks: what a subscribe request creates, and the states it can be in.
import { withPrefix } from '../base/id.ts';
import type { Controls } from './controls.ts';

export const subscriptionStates = ['unconfirmed', 'active', 'paused', 'disabled', 'ended'] as const;

export type SubscriptionState = (typeof subscriptionStates)[number];

/** `unconfirmed`: it was not confirmed in time. `refused`: the API refused the request that it came from. */
export const endReasons = [
  'unsubscribed',
  'expired',
  'gone',
  'final',
  'replaced',
  'unconfirmed',
  'refused',
] as const;

export type EndReason = (typeof endReasons)[number];

export interface Callback {
  /** Index in the subscription, from 0; names the callback in URLs and edits. */
  position: number;
  label: string;
  /** The event patterns it subscribes to, at least one: a name, `*`, or a prefix ending in `.*`. */
  events: readonly string[];
  /** The callback of the contract that it came from: see CallbackDefinition.id. */
  definition: string;
  method: string;
  /** May contain the placeholder `{eventType}`, filled in per delivery. Empty while inactive. */
  url: string;
  /** Why the callback is inactive: its target could not be computed from the subscribe request. */
  inactive: string | undefined;
}

/** A request that an API answered, and that made a subscription. */
export interface Exchange {
  /** The id of the request, as the API and the log know it. */
  requestId: string;
  /** Undefined until the answer is known. */
  status: number | undefined;
}

/**
 * The subject of a subscription whose own subject only the answer of the API has. No event is meant for it by chance, but
 * an API that got its id with the request can name it.
 */
export function subjectBeforeAnswer(id: string): string {
  return withPrefix('sub', id);
}

/** Whether its subject is still to come. */
export function lacksSubject({ id, subject }: Pick<Subscription, 'id' | 'subject'>): boolean {
  return subject === undefined || subject === subjectBeforeAnswer(id);
}

export interface Subscription {
  id: string;
  appNo: number;
  contract: string;
  operation: string;
  state: SubscriptionState;
  /** What it is about: it receives only events with this subject. Undefined: events of any subject. */
  subject: string | undefined;
  /** Whose it is: it receives events of this customer, and events of none. */
  customer: string | undefined;
  callbacks: readonly Callback[];
  /** Signing secrets, sealed (seal.ts). */
  secrets: Uint8Array;
  controls: Controls;
  /** Extra headers of its callbacks, sealed. */
  headers: Uint8Array | undefined;
  /** Incremented by every change; an edit names the version it was made for. */
  version: number;
  createdMs: number;
  endedMs: number | undefined;
  /** Undefined unless it has ended, and for those that ended before reasons were kept. */
  endReason: EndReason | undefined;
  /** When it ends if it is still unconfirmed. */
  confirmByMs: number | undefined;
  /** Undefined if Ringback itself answered the request that made it. */
  exchange: Exchange | undefined;
}
