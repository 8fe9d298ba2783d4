// An app is a tenant: it owns keys, subscriptions and events, and nothing crosses apps.
import type { Quotas } from './quotas.ts';

export interface App {
  /** The store's own number; never leaves the process. */
  no: number;
  id: string;
  name: string;
  createdMs: number;
  /** Its own; what it has none of is as for all apps. */
  quotas: Quotas;
  /** How many have not ended. */
  subscriptions: number;
}

/** The app that the first start makes. Only its keys may hold the scope `operator`. */
export const defaultAppName = 'default';
