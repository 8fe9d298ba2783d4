// Publishing, reading and listing events.
import type { Caller, PublishOptions } from './caller.ts';
import type { CallOptions } from './connection.ts';
import type {
  Accepted,
  Event,
  EventType as DeclaredEventType,
  GetEventAnswer,
  ListEventsQuery,
  ListEventTypesAnswer,
  NewEvent,
  PublishEventsAnswer,
  PublishEventsBody,
  PutEventTypeBody,
} from './contract/event.ts';
import { createListing, type Listing, type Page } from './listing.ts';

/** Options of one event, or of a whole batch. */
export type Addressing = Pick<PublishEventsBody, 'audience' | 'subscriberId' | 'contract'>;

export type EventType = ListEventTypesAnswer['items'][number];
export type { DeclaredEventType };

/** The payload in two forms: parsed, and as its original text, in which no number is rounded. */
export interface ShownEvent extends GetEventAnswer {
  payloadText: string;
}

/** Names of events and their payloads, as `ringback types` prints them. */
export type AnyEvents = Readonly<Record<string, unknown>>;

export interface Publishing<Events extends object = AnyEvents> {
  /**
   * When it resolves, the event and its deliveries are on stable storage. The event is published once, however
   * often the request had to be sent.
   */
  publish(event: EventInput<Events> & Addressing, options?: PublishOptions): Promise<Accepted>;
  /** Up to 1,000 events, all or nothing; `items` of the response are in the same order. */
  publishBatch(
    events: readonly EventInput<Events>[],
    options?: PublishOptions & Addressing,
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
  /** One that the app declares. */
  get(name: string, options?: CallOptions): Promise<DeclaredEventType>;
  /** Declares one, or replaces it. */
  put(name: string, type: PutEventTypeBody, options?: CallOptions): Promise<DeclaredEventType>;
  delete(name: string, options?: CallOptions): Promise<void>;
}

export function publishing({ send }: Caller): Publishing {
  return {
    publish: async ({ audience, subscriberId, contract, ...event }, options) => {
      const text = eventText(event, { audience, subscriberId, contract });
      const { value } = await send('publishEvent', { text }, options);
      return value;
    },
    publishBatch: async (events, { audience, subscriberId, contract, ...options } = {}) => {
      const list = events.map((event) => eventText(event, {})).join(',');
      const rest = JSON.stringify({ audience, subscriberId, contract }).slice(1);
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
    get: async (name, options) => call('getEventType', { path: { name } }, options),
    put: async (name, body, options) => call('putEventType', { path: { name }, body }, options),
    delete: async (name, options) => call('deleteEventType', { path: { name } }, options),
  };
}

// The text of one member of a JSON object, as it was sent. `JSON.parse` rounds integers beyond 2^53 and loses how
// numbers and strings were written; this does not. Pure.

/** `json` is the text of a valid object. Undefined if it has no such member. */

export function memberText(json: string, name: string): string | undefined {
  let at = json.indexOf('{') + 1;
  let found: string | undefined;
  while (at < json.length) {
    const key = token(json, at);
    if (json[key.begin] !== '"') return found; // The end of the object.
    const colon = token(json, key.end);
    const value = valueAt(json, colon.end);
    // If the name is repeated, the last one counts, as in JSON.parse.
    if (JSON.parse(json.slice(key.begin, key.end)) === name) {
      found = json.slice(value.begin, value.end);
    }
    at = token(json, value.end).end; // After the comma.
  }
  return found;
}

interface Span {
  begin: number;
  end: number;
}

function valueAt(json: string, from: number): Span {
  const first = token(json, from);
  if (!'{['.includes(json.charAt(first.begin))) return first;
  let depth = 1;
  let end = first.end;
  while (depth > 0 && end < json.length) {
    const next = token(json, end);
    const sign = json.charAt(next.begin);
    if (sign === '{' || sign === '[') depth += 1;
    if (sign === '}' || sign === ']') depth -= 1;
    end = next.end;
  }
  return { begin: first.begin, end };
}

/** A punctuation character, or a whole string, number or keyword. */
function token(json: string, from: number): Span {
  const pattern = /[ \t\r\n]*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+)/y;
  pattern.lastIndex = from;
  const text = pattern.exec(json)?.[1] ?? '';
  const end = text === '' ? json.length : pattern.lastIndex;
  return { begin: end - text.length, end };
}

// Serializes an event to publish. A payload given as text keeps its bytes: big integers, the order of keys,
// escapes. It must be one JSON value, so that it cannot inject other members. Pure.

/** An event of the map: its payload must have the type that its name has there. */
export type EventInput<Events extends object = AnyEvents> = {
  [Name in keyof Events & string]: Omit<NewEvent, 'event' | 'payload'> & { event: Name } & (
      | {
          /** Serialized with `JSON.stringify`. */
          payload: Events[Name];
          payloadText?: undefined;
        }
      | {
          /** JSON text, sent and delivered unchanged. */
          payloadText: string;
          payload?: undefined;
        }
    );
}[keyof Events & string];

export function eventText(
  { event, subject, customer, payload, payloadText }: EventInput,
  address: Addressing,
): string {
  // Otherwise the text below would be invalid JSON, or name another event.
  if (typeof event !== 'string') {
    throw new TypeError(
      `Cannot publish an event whose name is of type ${typeof event}: expected a string`,
    );
  }
  const refuse = (why: string, cause?: unknown): never => {
    throw new TypeError(`Cannot publish "${event}": ${why}`, { cause });
  };
  if (payloadText !== undefined && payload !== undefined) {
    refuse('it has both payload and payloadText, expected one of them');
  }
  const text = payloadText === undefined ? written(payload, refuse) : checked(payloadText, refuse);
  const head = JSON.stringify({ event, subject, customer, ...address }).slice(0, -1);
  return `${head},"payload":${text}}`;
}

type Refuse = (why: string, cause?: unknown) => never;

function written(payload: unknown, refuse: Refuse): string {
  try {
    const text: string | undefined = JSON.stringify(payload);
    return text ?? refuse('its payload cannot be represented in JSON, expected a JSON value');
  } catch (error) {
    if (error instanceof TypeError && error.message.startsWith('Cannot publish')) throw error;
    return refuse(
      'its payload cannot be serialized as JSON, expected a JSON value (for big integers, ' +
        'use payloadText)',
      error,
    );
  }
}

function checked(text: string, refuse: Refuse): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return refuse('its payloadText is not valid JSON, expected the text of one JSON value', error);
  }
  // A lone surrogate would be sent as a different character.
  return text.isWellFormed() ? text : refuse('its payloadText contains an unpaired surrogate');
}
