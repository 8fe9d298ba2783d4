// The audit trail: who changed what, when and from where. An entry names what changed; it never holds a secret, a URL or
// the value of a header.

/** What happened, as `<kind of object>.<what happened to it>`. */
export const auditActions = [
  'app.created',
  'app.edited',
  'key.created',
  'key.rotated',
  'key.revoked',
  'session.started',
  'session.ended',
  'portal_link.created',
  'subscription.created',
  'subscription.confirmed',
  'subscription.edited',
  'subscription.paused',
  'subscription.resumed',
  'subscription.disabled',
  'subscription.ended',
  'secret.shown',
  'secret.rotated',
  'delivery.retried',
  'replay.created',
  'replay.cancelled',
  'event_type.created',
  'event_type.replaced',
  'event_type.deleted',
] as const;

export type AuditAction = (typeof auditActions)[number];

/**
 * `session`: a user of the console. `portal`: a user of the portal. `anonymous`: a caller without a key, where a contract allows
 * that. `cli`: a command on the database itself. `service`: Ringback did it by itself.
 */
export const auditActorKinds = ['key', 'session', 'portal', 'anonymous', 'cli', 'service'] as const;

export type AuditActorKind = (typeof auditActorKinds)[number];

/** Who made a change, and from where. */
export interface AuditActor {
  kind: AuditActorKind;
  /** Of the key, or of the one that the session was opened with; without its prefix. */
  keyId?: string | undefined;
  /** The customer that it is bound to. */
  customer?: string | undefined;
  /** Of the client. */
  address?: string | undefined;
  requestId?: string | undefined;
}

export interface AuditDetails {
  /** Names of the fields that changed. */
  fields?: readonly string[] | undefined;
  /** Scopes of a new key. */
  scopes?: readonly string[] | undefined;
  /** Why a subscription ended, unless an unsubscribe ended it. */
  reason?: string | undefined;
  /** Id of the subscription that a new one replaced. */
  replaced?: string | undefined;
  /** Id of the new delivery, if a retry made one. */
  delivery?: string | undefined;
}

/** What is to be recorded about an edit, if it changes anything. */
export interface Audit {
  /** The app whose trail it is: that of the actor. */
  appNo: number;
  by: AuditActor;
  action: AuditAction;
  /** As callers know it: an id with its prefix, or the name of an event type. */
  object: string | undefined;
  /** Of the object, unless the result of the edit has it. */
  customer?: string | undefined;
  details?: AuditDetails | undefined;
}

/** Part of the input of an edit that may be recorded. */
export interface Audited {
  /** Absent: it is not recorded. */
  audit?: Audit | undefined;
}

export interface AuditEntry {
  no: number;
  atMs: number;
  by: AuditActor;
  /** One of `auditActions`, unless a newer node wrote it. */
  action: string;
  /** As callers know it: an id with its prefix, or the name of an event type. */
  object: string | undefined;
  /** Whose the object is, or on whose behalf the actor acted. */
  customer: string | undefined;
  details: AuditDetails;
}

const objectKinds = ['app', 'key', 'subscription', 'delivery', 'replay', 'event_type'] as const;

export type AuditObjectKind = (typeof objectKinds)[number];

/** The kind of object that an action is about. A session has none: its key is the actor's. */
export function auditObjectKind(action: string): AuditObjectKind | undefined {
  const kind = action.slice(0, action.indexOf('.'));
  return kind === 'secret' ? 'subscription' : objectKinds.find((one) => one === kind);
}

/**
 * How an entry shows its actor to a customer: of others only the kind, because their keys and addresses are not the customer's.
 * A session of the portal was opened with a key of the app.
 */
export function actorSeenBy(customer: string | undefined, by: AuditActor): AuditActor {
  if (customer === undefined) return by;
  if (by.customer !== customer) return { kind: by.kind };
  return by.kind === 'portal' ? { ...by, keyId: undefined } : by;
}

/** What Ringback does by itself. */
export const byService: AuditActor = { kind: 'service' };
