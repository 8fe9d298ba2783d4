// Made from openapi.yaml by `npm run docs`: what the contract says of apps.
import type { Name, KeySecret } from './key.ts';

export interface ListAppsQuery {
  /** Items per page. */
  limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  cursor?: string | undefined;
}

export interface App {
  id: string;
  name: Name;
  createdAt: string;
  /** How many it has that have not ended. */
  subscriptions: number;
  quotas: Quotas;
}

/** What the app may use at most. Null means as for all apps, which settings say. */
export interface Quotas {
  /** Subscriptions that have not ended. Over it, subscribing answers 429. */
  subscriptions?: number | null | undefined;
  /** Events published a second, over all nodes together. Over it, publishing answers 429. */
  eventsPerSecond?: number | null | undefined;
  /** The payload of one event. Over it, publishing answers 413. */
  payloadBytes?: number | null | undefined;
}

export interface CreateAppBody {
  name: Name;
}

export interface CreateAppAnswer extends App {
  key: KeySecret;
}

export interface EditAppBody {
  name?: Name | undefined;
  quotas?: Quotas | undefined;
}
