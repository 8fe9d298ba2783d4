// Generated from openapi.yaml by `npm run docs`: the types of events.

export interface ListEventsQuery {
  /** Only events with this name, or whose names match this pattern. */
  event?: EventPattern | undefined;
  /** Only events with this subject. */
  subject?: Subject | undefined;
  /** Only events that were published to this customer. */
  customer?: Customer | undefined;
  /** Only events published at this time or later. */
  from?: string | undefined;
  /** Only events published before this time. */
  until?: string | undefined;
  /** Items per page. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  cursor?: string | undefined;
}

/**
 * An event name; a prefix ending in `.*`, which matches all names that continue after it; or
 * `*`, which matches all events. A backslash before the final `*` makes it literal.
 */
export type EventPattern = string;

/**
 * What the event is about, such as the id of a job. It is delivered to subscriptions with
 * this subject, and to those without one. Required if a subscription that matches the event
 * has a subject.
 */
export type Subject = string;

/**
 * A customer of yours, by a name of your choice. An event that names one is delivered only
 * to the subscriptions of this customer; one that names none, to those of all customers.
 */
export type Customer = string;

export interface Event {
  id: EventId;
  event: string;
  /** What it is about. Absent if it has no subject. */
  subject?: string;
  /** Whose subscriptions it was published to. Absent if to all. */
  customer?: string;
  deliveries: DeliveryCount;
  createdAt: string;
  /**
   * Why the event is not delivered. Only events published by SQL can be rejected; through the
   * API, an event that violates the contract is refused at once.
   */
  rejected?: string;
  skippedCallbacks?: SkippedCallbacks;
}

export type EventId = string;

/** Number of deliveries. Null above 256, until all subscribers are known. */
export type DeliveryCount = number | null;

/**
 * Callbacks of the contract that match the event but do not receive it, because their
 * schemas do not accept its payload, with or without subscriptions. Absent if there are
 * none. A payload that none of the callbacks accepts is refused.
 */
export interface SkippedCallbacks {
  /** Number of skipped callbacks. */
  count: number;
  /** The first ones, at most 5. */
  first: readonly {
    operationId: string;
    /** The label, the key and the method of the callback in the contract. */
    callback: string;
    /** The first violation of its schema. */
    reason: string;
  }[];
}

export interface PublishEventBody {
  event: EventName;
  payload: Payload;
  subject?: Subject | undefined;
  customer?: Customer | undefined;
  audience?: Audience | undefined;
  subscriberId?: Addressee | undefined;
  contract?: ContractTitle | undefined;
}

/** Name of the event. Any characters except U+0000. */
export type EventName = string;

/** The message to send. Its bytes are passed on unchanged. */
export type Payload = unknown;

/**
 * `all` delivers to every subscription that matches the event, whatever its subject. Not
 * together with `subject` or `subscriberId`.
 */
export type Audience = 'all';

/**
 * Deliver only to this subscription, if it matches the event. Without a `subject` or a
 * `customer`, the event gets that of the subscription.
 */
export type Addressee = string;

/**
 * Title of the contract that the event belongs to. Required only if callbacks of several
 * contracts match it.
 */
export type ContractTitle = string;

export interface Accepted {
  eventId: EventId;
  deliveries: DeliveryCount;
  warnings?: PayloadWarnings;
  skippedCallbacks?: SkippedCallbacks;
}

/** Violations of the contract, if the service is configured to accept them. */
export type PayloadWarnings = readonly {
  field: string;
  message: string;
}[];

export interface PublishEventsBody {
  events: readonly NewEvent[];
  audience?: Audience | undefined;
  subscriberId?: Addressee | undefined;
  contract?: ContractTitle | undefined;
}

export interface NewEvent {
  event: EventName;
  payload: Payload;
  subject?: Subject | undefined;
  customer?: Customer | undefined;
}

export interface PublishEventsAnswer {
  items: readonly Accepted[];
  warnings?: PayloadWarnings;
}

export interface GetEventAnswer extends Event {
  payload: unknown;
}

export interface ListEventTypesAnswer {
  /** Ringback's own events, which belong to no contract. */
  own: readonly {
    event: string;
    description: string;
    schema: Readonly<Record<string, unknown>>;
    example: Readonly<Record<string, unknown>>;
  }[];
  items: readonly {
    event: string;
    callback: string;
    contract: string;
    /** `callback` or `webhook` of the contract; `declared`: an event type of the app. */
    source: 'callback' | 'webhook' | 'declared';
    description?: string;
    state: EventTypeState;
    version?: EventTypeVersion;
    mediaType?: string;
    schema?: Readonly<Record<string, unknown>>;
    example?: unknown;
    /** Why there is no example. */
    note?: string;
  }[];
}

/** Events of a deprecated type can still be published. */
export type EventTypeState = 'active' | 'deprecated';

/** Rises each time the schema of a declared type changes. */
export type EventTypeVersion = number;

export interface EventType {
  event: EventName;
  schema: EventTypeSchema;
  description?: EventTypeDescription;
  /** A payload that matches the schema, at most 65,536 characters. */
  example?: unknown;
  state: EventTypeState;
  version: EventTypeVersion;
  createdAt: string;
  updatedAt: string;
}

/**
 * JSON Schema 2020-12 of the payload, at most 65,536 characters. References stay within it,
 * such as `#/$defs/Address`. Keywords that Ringback does not check are refused.
 */
export type EventTypeSchema = Readonly<Record<string, unknown>>;

export type EventTypeDescription = string;

export interface PutEventTypeBody {
  schema: EventTypeSchema;
  description?: EventTypeDescription | undefined;
  /** A payload that matches the schema, at most 65,536 characters. */
  example?: unknown;
  state?: EventTypeState | undefined;
}
