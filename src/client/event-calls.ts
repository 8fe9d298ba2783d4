// Publishing and listing events.
import type { Caller, PublishOptions } from './caller.ts';
import type { CallOptions } from './connection.ts';
import type {
  Accepted,
  Event,
  GetEventAnswer,
  ListEventsQuery,
  ListEventTypesAnswer,
  PublishEventBody,
  PublishEventsAnswer,
  PublishEventsBody,
} from './contract/event.ts';
import { memberText } from './json-member.ts';
import { createListing, type Listing } from './listing.ts';
import type { Page } from './page.ts';
import { eventText, type EventWish } from './event-text.ts';

/** Options of one event, or of a whole batch. */
export type Addressing = Pick<PublishEventBody, 'subscriberId' | 'contract'>;

export type EventType = ListEventTypesAnswer['items'][number];

/** The payload in two forms: parsed, and as its original text, in which no number is rounded. */
export interface ShownEvent extends GetEventAnswer {
  payloadText: string;
}

export interface Publishing {
  /**
   * When it resolves, the event and its deliveries are on stable storage. The event is published once, however
   * often the request had to be sent.
   */
  publish(event: EventWish & Addressing, options?: PublishOptions): Promise<Accepted>;
  /** Up to 1,000 events, all or nothing; `items` of the response are in the same order. */
  publishBatch(
    events: readonly EventWish[],
    options?: PublishOptions & Pick<PublishEventsBody, 'subscriberId' | 'contract'>,
  ): Promise<PublishEventsAnswer>;
}

export interface EventCalls {
  /** Newest first. */
  list(filters?: ListEventsQuery, options?: CallOptions): Listing<Event>;
  get(id: string, options?: CallOptions): Promise<ShownEvent>;
}

export interface EventTypeCalls {
  /** Event types that can be published; Ringback's own events are in `own` of the single page. */
  list(options?: CallOptions): Listing<EventType, Page<EventType> & ListEventTypesAnswer>;
}

export function publishing({ send }: Caller): Publishing {
  return {
    publish: async ({ subscriberId, contract, ...event }, options) => {
      const text = eventText(event, { subscriberId, contract });
      const { value } = await send('publishEvent', { text }, options);
      return value;
    },
    publishBatch: async (events, { subscriberId, contract, ...options } = {}) => {
      const list = events.map((event) => eventText(event, {})).join(',');
      const rest = JSON.stringify({ subscriberId, contract }).slice(1);
      const text = `{"events":[${list}]${rest === '}' ? rest : `,${rest}`}`;
      const { value } = await send('publishEvents', { text }, options);
      return value;
    },
  };
}

export function eventCalls({ call, send }: Caller): EventCalls {
  return {
    list: (filters = {}, options = {}) =>
      createListing(async (cursor = filters.cursor) =>
        call('listEvents', { query: { ...filters, cursor } }, options),
      ),
    get: async (id, options) => {
      const { text, value } = await send('getEvent', { path: { id } }, options);
      const event: GetEventAnswer = value;
      return { ...event, payloadText: memberText(text, 'payload') ?? 'null' };
    },
  };
}

export function eventTypeCalls({ call }: Caller): EventTypeCalls {
  return {
    list: (options) =>
      createListing(async () => ({
        ...(await call('listEventTypes', {}, options)),
        nextCursor: null,
      })),
  };
}
