// An app is a tenant: it owns keys, subscriptions and events. Nothing is shared between apps.
import type { Quotas } from '../load/quotas.ts';

export interface App {
  /** The store's own number; it never leaves the process. */
  no: number;
  id: string;
  name: string;
  createdMs: number;
  /** Quotas set for this app; the service-wide ones apply where one is undefined. */
  quotas: Quotas;
  /** Subscriptions that have not ended. */
  subscriptions: number;
}

/** The app that the first start creates. Only its keys may hold the scope `operator`. */
export const defaultAppName = 'default';
