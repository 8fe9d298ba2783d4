// Made from openapi.yaml by `npm run docs`: what the contract says of events.

export interface ListEventsQuery {
  /** Only events of this name, or whose names fit this pattern. */
  event?: EventPattern | undefined;
  /** Only what was published at this time or later. */
  from?: string | undefined;
  /** Only what was published before this time. */
  until?: string | undefined;
  /** Items per page. */
  limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  cursor?: string | undefined;
}

/**
 * The name of an event; a prefix ending in `.*`, for all names that go on behind it; or `*`,
 * for all.
 */
export type EventPattern = string;

export interface Event {
  id: EventId;
  event: string;
  deliveries: DeliveryCount;
  createdAt: string;
  /**
   * Why it goes to nobody. Only events that were published by SQL can be rejected; any other
   * one that breaks the contract is refused at once.
   */
  rejected?: string;
}

export type EventId = string;

/** How many receivers it goes to. Null above 256, until all are known. */
export type DeliveryCount = number | null;

export interface PublishEventBody {
  event: EventName;
  payload: Payload;
  subscriberId?: Addressee | undefined;
  contract?: ContractTitle | undefined;
}

/** The name of what happened. */
export type EventName = string;

/** The message to send. Its bytes are passed on as they are. */
export type Payload = unknown;

/** Only this subscription, if it hears the event. */
export type Addressee = string;

/**
 * The contract that the event belongs to, by its title. Needed only where callbacks of
 * several contracts could hear it.
 */
export type ContractTitle = string;

export interface Accepted {
  eventId: EventId;
  deliveries: DeliveryCount;
  warnings?: PayloadWarnings;
}

/** What breaks the contract, where the service was told to be lenient. */
export type PayloadWarnings = readonly {
  field: string;
  message: string;
}[];

export interface PublishEventsBody {
  events: readonly NewEvent[];
  subscriberId?: Addressee | undefined;
  contract?: ContractTitle | undefined;
}

export interface NewEvent {
  event: EventName;
  payload: Payload;
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
    mediaType?: string;
    schema?: Readonly<Record<string, unknown>>;
    example?: unknown;
    /** Why there is no example. */
    note?: string;
  }[];
}
