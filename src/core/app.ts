// An app is a tenant: it owns keys, subscriptions and events, and nothing crosses apps.

export interface App {
  /** The store's own number; never leaves the process. */
  no: number;
  id: string;
  name: string;
  createdMs: number;
}

/** The app that the first start makes. Only its keys may hold the scope `operator`. */
export const defaultAppName = 'default';
