// Generated from openapi.yaml by `npm run docs`: the types of apps, keys, portals and the audit trail.
import type { Customer } from './event.ts';

export interface ListKeysQuery {
  /** Items per page. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  cursor?: string | undefined;
}

export interface Key {
  id: string;
  name: Name;
  scopes: Scopes;
  /** The customer that it is bound to. */
  customer?: string;
  state: 'active' | 'expired' | 'revoked';
  createdAt: string;
  expiresAt?: string;
  revokedAt?: string;
  lastUsedAt?: string;
  /** During the overlap of a rotation - when the old key stops working. */
  oldValidUntil?: string;
}

export type Name = string;

/**
 * `subscribe`: subscribe, change and end subscriptions. `publish`: publish events. `read`:
 * list and show. `retry`: send deliveries again. `admin`: also keys, event types and portal
 * links; includes `retry`. `operator`: apps, nodes and metrics.
 */
export type Scopes = readonly ('subscribe' | 'publish' | 'read' | 'retry' | 'admin' | 'operator')[];

export interface CreateKeyBody {
  name: Name;
  scopes: Scopes;
  /**
   * Binds the key to this customer: it sees and changes only what belongs to it, and what it
   * creates belongs to it. Such a key can hold the scopes `subscribe`, `publish`, `read` and
   * `retry`.
   */
  customer?: Customer | undefined;
  expiresAt?: string | undefined;
}

export interface KeyOnce extends Key {
  key: KeySecret;
}

export type KeySecret = string;

export interface ListAuditEntriesQuery {
  /** Only this action. */
  action?: AuditAction | undefined;
  /** Only entries about the object with this id, or about the event type with this name. */
  object?: string | undefined;
  /** Only what was done with this key, or by a session that was opened with it. */
  key?: string | undefined;
  /** Only entries about this customer. */
  customer?: Customer | undefined;
  /** Only entries of this time or later. */
  from?: string | undefined;
  /** Only entries before this time. */
  until?: string | undefined;
  /** Items per page. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  cursor?: string | undefined;
}

/** What happened. */
export type AuditAction =
  | 'app.created'
  | 'app.edited'
  | 'key.created'
  | 'key.rotated'
  | 'key.revoked'
  | 'session.started'
  | 'session.ended'
  | 'portal_link.created'
  | 'subscription.created'
  | 'subscription.confirmed'
  | 'subscription.edited'
  | 'subscription.paused'
  | 'subscription.resumed'
  | 'subscription.disabled'
  | 'subscription.ended'
  | 'secret.shown'
  | 'secret.rotated'
  | 'delivery.retried'
  | 'replay.created'
  | 'replay.cancelled'
  | 'event_type.created'
  | 'event_type.replaced'
  | 'event_type.deleted';

/** A change, and who made it. It never contains a secret, a URL or the value of a header. */
export interface AuditEntry {
  id: string;
  at: string;
  actor: {
    /**
     * `session`: a user of the console. `portal`: a user of the customer portal. `anonymous`: a
     * caller without a key, where a contract allows that. `cli`: a command on the database
     * itself. `service`: Ringback did it by itself.
     */
    kind: 'key' | 'session' | 'portal' | 'anonymous' | 'cli' | 'service';
    /** The key, or the one that the session was opened with. */
    key?: string;
    /** IP address of the client. Behind a proxy it is known only if the service trusts the proxy. */
    address?: string;
    /** As in the log and in the header `X-Request-Id`. */
    requestId?: string;
  };
  action: AuditAction;
  /** What it was about. Absent for sessions and portal links. */
  object?: {
    kind: 'app' | 'key' | 'subscription' | 'delivery' | 'replay' | 'event_type';
    /** Its id; the name of an event type. */
    id: string;
  };
  /** The customer that it is about. */
  customer?: string;
  details: {
    /** Names of the fields that were changed. */
    fields?: readonly string[];
    /** Scopes of the new key. */
    scopes?: readonly string[];
    /**
     * Why the subscription ended. `gone`: its receiver answered 410. `replaced`: by a PUT for
     * the same resource.
     */
    reason?: string;
    /** Id of the subscription that the new one replaced. */
    replaced?: string;
    /** Id of the new delivery, if the retry made one. */
    delivery?: string;
  };
}

export interface ListAppsQuery {
  /** Items per page. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  cursor?: string | undefined;
}

export interface App {
  id: string;
  name: Name;
  createdAt: string;
  /** Number of subscriptions that have not ended. */
  subscriptions: number;
  quotas: Quotas;
}

/** Limits of the app. Null means the default of the service's settings. */
export interface Quotas {
  /** Subscriptions that have not ended. Above it, subscribing returns 429. */
  subscriptions?: number | null | undefined;
  /** Events published per second, over all nodes together. Above it, publishing returns 429. */
  eventsPerSecond?: number | null | undefined;
  /** Size of the payload of one event. Above it, publishing returns 413. */
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

export interface CreatePortalLinkBody {
  customer: Customer;
  can?: Abilities | undefined;
  /** How long the portal stays open, from `1m` to `7d`. */
  expiresIn?: string | undefined;
  theme?: PortalTheme | undefined;
  language?: PortalLanguage | undefined;
}

/**
 * `view`: see endpoints and deliveries; always included. `retry`: send deliveries again.
 * `manage`: add, change and end endpoints, see their secrets, send test events.
 */
export type Abilities = readonly ('view' | 'retry' | 'manage')[];

/** `system`: as the browser prefers. */
export type PortalTheme = 'light' | 'dark' | 'system';

/** Without it, the language of the browser. */
export type PortalLanguage = 'en' | 'de';

export interface CreatePortalLinkAnswer {
  /** A secret - the first person who opens it acts as the customer. */
  url: string;
  customer: Customer;
  can: Abilities;
  /** When the portal closes. */
  expiresAt: string;
}
